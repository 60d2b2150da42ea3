#pragma once

#include <optional>
#include <vector>

#include "core/samples.h"

namespace sonde {

/// One memory level: a stretch of footprints over which the latency stays the same.
struct MemoryPlateau {
  Estimate latency;  ///< median of every sample on it
  double first = 0;  ///< smallest footprint on it
  double last = 0;   ///< largest footprint on it, at which the capacity starts to be exceeded
  /// First footprint of the next plateau (without one: the next tested footprint). The capacity
  /// lies between last and next. nullopt at the end of what was tested.
  std::optional<double> next;
  int points = 0;
};

struct MemoryLevels {
  std::vector<MemoryPlateau> plateaus;  ///< nearest first; empty: none found
  bool cannot_tell = false;             ///< fewer than three footprints
};

/// Plateaus of latency over footprint; their number is chosen by the data. Points on the way from
/// one plateau to the next belong to none.
MemoryLevels find_levels(const Curve& latency);

}  // namespace sonde
