#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/core_name.h"
#include "core/stored_run.h"
#include "topology/core_tree.h"
#include "topology/matrix.h"

namespace sonde {

/// Address profiles: the median over the repetitions of each core and address.
struct ProfileTable {
  std::vector<CoreName> cores;           ///< with at least one sample, by name
  std::vector<std::int64_t> addresses;   ///< bytes, in the order in which they were visited
  Matrix latency_ns;                     ///< addresses x cores; NaN: not measured
  std::vector<std::string> without_row;  ///< cores named in the file that have no usable sample
};
ProfileTable read_profile(const ProbeRows& profile, TimeSource source);

/// Leaves out cores that have less than half of the addresses or one value at all of them, then
/// addresses that less than half of the remaining cores have. Names of the cores go to
/// `without_row`.
void keep_covered(ProfileTable& table);

/// Samples of handoff_latency().
std::optional<PairSamples> handoff_samples(const ProbeRows& handoff, TimeSource source,
                                           const std::string& kind);

/// Values of one text column over the usable rows (status ok, the manifest's clock), sorted.
std::vector<std::string> values_of(const ProbeRows& rows, TimeSource source,
                                   const std::string& column);

}  // namespace sonde
