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

/// What was measured of every two cores, sample by sample.
struct PairSamples {
  std::vector<CoreName> cores;
  std::vector<std::vector<double>> cells;  ///< as in a CoreMatrix; empty: not measured
  std::vector<double>& at(std::size_t i, std::size_t j) { return cells[i * cores.size() + j]; }
  const std::vector<double>& at(std::size_t i, std::size_t j) const {
    return cells[i * cores.size() + j];
  }
};
/// The median of each cell.
CoreMatrix medians(const PairSamples& samples);

/// Samples of slow_down() and of handoff_latency(). A coefficient of a regression is one sample.
std::optional<PairSamples> slow_down_samples(const ProbeRows& interfere, TimeSource source,
                                             const Contention& kind);
std::optional<PairSamples> handoff_samples(const ProbeRows& handoff, TimeSource source,
                                           const std::string& kind);

/// Values of one text column over the usable rows (status ok, the manifest's clock), sorted.
std::vector<std::string> values_of(const ProbeRows& rows, TimeSource source,
                                   const std::string& column);

}  // namespace sonde
