#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/core_name.h"

namespace sonde {

/// The groups of one level of a tree of cores.
using CoreGroups = std::vector<std::vector<CoreName>>;

/// What topology.json holds: its levels, coarsest first, or why there is none.
struct StoredTree {
  std::vector<CoreGroups> levels;
  std::string reason;
};

/// Throws UsageError, one line naming `file` and the field.
StoredTree parse_tree(std::string_view text, const std::string& file);

}  // namespace sonde
