#pragma once

#include <optional>
#include <vector>

#include "core/statistics.h"
#include "report/samples.h"

namespace sonde {

/// Copy time is discontinuous between two neighbouring sizes: the copy changed its method.
struct CopySwitch {
  double last_old = 0;   ///< largest size still on the old method
  double first_new = 0;  ///< smallest size on the new one
  double jump_s = 0;     ///< signed, at the geometric middle of the two sizes
  std::optional<Interval> jump_interval;
  double strength = 0;  ///< jump over its standard error
  std::int64_t n = 0;   ///< samples that the two local models stand on
};

/// Time per byte starts to rise without a jump: the data left a cache.
struct CopyEdge {
  double last_before = 0;  ///< largest size before the rise
  double first_in = 0;     ///< next tested size
  double rise = 0;         ///< time per byte after the rise over before
};

struct CopyShape {
  std::vector<CopySwitch> switches;  ///< strongest first; empty: none found
  std::vector<CopyEdge> edges;       ///< by size
  std::optional<CurvePoint> peak;    ///< x bytes, y the time, at the best bytes a second
  bool cannot_tell = false;          ///< too few sizes to fit a line on both sides of any gap
};

/// `time`: seconds against bytes. `real`: the device is not modelled, so a jump has to be clearer
/// and neighbouring sizes separate in their own samples (buffer placement moves a whole size).
CopyShape analyse_copy(const Curve& time, bool real);

}  // namespace sonde
