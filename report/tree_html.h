#pragma once

#include <string>

#include "report/analysis.h"

namespace sonde {

/// The tree as a table of levels and a nested list of groups, or the reason why there is none.
std::string tree_html(const CoreTree& tree);

/// Whether the blocks that fit one wave are as many as the cores that the rows name, one sentence a
/// kind of core; empty where no wave was found.
std::string wave_html(const RunAnalysis& analysis);

}  // namespace sonde
