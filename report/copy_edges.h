#pragma once

#include <optional>
#include <vector>

#include "report/copy_nodes.h"

namespace sonde {

/// Time per byte starts to rise: the data left a cache. Without a jump, or with one that lies
/// where source and destination together fill a declared memory level.
struct CopyEdge {
  double last_before = 0;          ///< largest size before the rise
  double first_in = 0;             ///< next tested size
  double rise = 0;                 ///< time per byte after the rise over before
  std::optional<double> capacity;  ///< bytes of the declared level that explains a jump
  /// Where the rise may start: 95 % interval from a ramp of the time per byte, no narrower than the
  /// two sizes above.
  std::optional<Interval> start;
  double top_bytes = 0;                   ///< size at which the rise has ended
  std::optional<double> recovered_bytes;  ///< as in CopySwitch
};

/// Edges inside one stretch without a switch: time per byte leaves a floor it kept for at least
/// half an octave, and is a quarter higher within two octaves, for good.
std::vector<CopyEdge> find_edges(CopyNodes nodes);

/// What bandwidth does from `from` on, against what it was before.
struct CopyDip {
  double depth = 0;             ///< largest loss, as a part of the bandwidth before
  std::optional<double> bytes;  ///< where it is lowest
  std::optional<double> recovered_bytes;
};
/// `cost_before`: seconds a byte. `nodes`: the sizes behind the switch or edge.
CopyDip measure_dip(CopyNodes nodes, double cost_before);

}  // namespace sonde
