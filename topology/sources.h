#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "topology/core_tree.h"

namespace sonde {

/// A level one source supports, as sets of names.
struct NamedLevel {
  std::vector<std::vector<CoreName>> groups;
  double stability = 0;
  double strength = 0;
  std::string basis;
};

/// What one kind of rows came to.
struct SourceResult {
  std::vector<CoreName> seen;      ///< every core named in usable rows
  std::vector<NamedLevel> levels;  ///< coarsest first
  bool judged = false;             ///< the rows sufficed to say something
  std::string verdict;             ///< one sentence: what was found, or why it cannot be told
};

SourceResult judge_profile(const ProbeRows& profile, TimeSource source, std::uint64_t seed);
/// One result for each work that is not the register control.
std::vector<SourceResult> judge_interference(const ProbeRows& interfere, TimeSource source,
                                             std::uint64_t seed);
/// One result for each kind of hand-off.
std::vector<SourceResult> judge_handoff(const ProbeRows& handoff, TimeSource source,
                                        std::uint64_t seed);

}  // namespace sonde
