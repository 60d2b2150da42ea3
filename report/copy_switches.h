#pragma once

#include <optional>
#include <vector>

#include "report/copy_nodes.h"

namespace sonde {

/// Copy time is discontinuous between two neighbouring sizes: the copy changed its method.
struct CopySwitch {
  double last_old = 0;   ///< largest size that is surely still on the old method
  double first_new = 0;  ///< smallest size that is surely on the new one
  double jump_s = 0;     ///< signed, at the geometric middle of the two sizes
  std::optional<Interval> jump_interval;
  /// Time that the two methods take at that middle, by the lines fitted on both sides.
  double before_s = 0, after_s = 0;
  double strength = 0;  ///< jump over its standard error
  std::int64_t n = 0;   ///< samples that the two local models stand on
  /// How far bandwidth falls below that just before, as a part of it; 0 where it does not.
  double dip_depth = 0;
  std::optional<double> dip_bytes;  ///< the size at which it is lowest
  /// First tested size from which on bandwidth is again what it was just before; nullopt: it does
  /// not come back up to the next switch or the largest size tested, or never fell.
  std::optional<double> recovered_bytes;
};

/// A place where a jump and a steep but continuous rise describe the sizes about equally well.
struct CopyUndecided {
  double last_before = 0, first_after = 0;
  double jump_s = 0;
};

struct SwitchSearch {
  std::vector<CopySwitch> switches;      ///< by size
  std::vector<CopyUndecided> undecided;  ///< by size
};

/// Looks for switches; a window of sizes never reaches across a switch that is already known.
/// `real`: the device is not modelled, so a jump has to be clearer and neighbouring sizes separate
/// in their own samples.
SwitchSearch find_switches(CopyNodes nodes, bool real);

}  // namespace sonde
