#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "topology/core_tree.h"
#include "topology/evidence.h"

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
  std::shared_ptr<const Evidence> evidence;  ///< what was judged; null where it did not suffice
  std::string basis;                         ///< "profile.csv", "interfere.csv load"
};

/// Levels that the source shows inside the groups of one that others found: what a source says of
/// cores far apart can hide what it says of near ones.
std::vector<NamedLevel> levels_inside(const SourceResult& source,
                                      const std::vector<std::vector<CoreName>>& groups,
                                      std::uint64_t seed);

SourceResult judge_profile(const ProbeRows& profile, TimeSource source, std::uint64_t seed);
/// One result for each work that is not the register control.
std::vector<SourceResult> judge_interference(const ContentionSamples& slow_downs,
                                             const std::string& file, std::uint64_t seed);
/// One result for each kind of hand-off.
std::vector<SourceResult> judge_handoff(const ProbeRows& handoff, TimeSource source,
                                        std::uint64_t seed);

}  // namespace sonde
