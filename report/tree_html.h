#pragma once

#include <string>

#include "topology/core_tree.h"

namespace sonde {

/// The tree as a table of levels and a nested list of groups, or the reason why there is none.
std::string tree_html(const CoreTree& tree);

}  // namespace sonde
