#pragma once

#include <optional>
#include <vector>

#include "core/samples.h"
#include "core/statistics.h"

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

/// Time per byte starts to rise: the data left a cache. Without a jump, or with one that lies
/// where source and destination together fill a declared memory level.
struct CopyEdge {
  double last_before = 0;          ///< largest size before the rise
  double first_in = 0;             ///< next tested size
  double rise = 0;                 ///< time per byte after the rise over before
  std::optional<double> capacity;  ///< bytes of the declared level that explains a jump
};

struct CopyShape {
  std::vector<CopySwitch> switches;  ///< largest jump first; empty: none found
  std::vector<CopyEdge> edges;       ///< by size
  std::optional<CurvePoint> peak;    ///< x bytes, y the time, at the best bytes a second
  bool cannot_tell = false;          ///< too few sizes to fit a line on both sides of any gap
};

/// `time`: seconds against bytes. `real`: the device is not modelled, so a jump has to be clearer
/// and neighbouring sizes separate in their own samples (buffer placement moves a whole size).
/// `capacities`: bytes of the declared memory levels that a copy between the same two buffers can
/// leave. A cyclic walk beyond a cache's size misses everything at once, so the edge of a small
/// cache can be as steep as a switch; a rise at half of a declared capacity is called an edge.
CopyShape analyse_copy(const Curve& time, bool real, const std::vector<double>& capacities = {});

}  // namespace sonde
