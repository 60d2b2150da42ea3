#pragma once

#include <optional>
#include <vector>

#include "core/samples.h"
#include "core/statistics.h"
#include "report/copy_classes.h"
#include "report/copy_edges.h"
#include "report/copy_switches.h"

namespace sonde {

/// A stretch of sizes whose time is one straight line.
struct CopyPiece {
  double from = 0, to = 0;  ///< tested sizes, both on it
  double fixed_s =
      0;  ///< the line at 0 bytes; may be negative behind an edge and means nothing there
  double per_byte_s = 0;
  double at(double bytes) const { return fixed_s + per_byte_s * bytes; }
};

struct CopyShape {
  std::vector<CopySwitch> switches;      ///< largest jump first; empty: none found
  std::vector<CopyEdge> edges;           ///< by size
  std::vector<CopyClass> classes;        ///< most sizes first
  std::vector<CopyUndecided> undecided;  ///< by size: a jump or a steep edge
  std::vector<CopyPiece> pieces;         ///< by size, without the sizes of a class
  std::optional<CurvePoint> peak;        ///< x bytes, y the time, at the best bytes a second
  Estimate peak_rate;                    ///< bytes a second there
  bool cannot_tell = false;              ///< too few sizes to fit a line on both sides of any gap
};

/// `time`: seconds against bytes. `real`: the device is not modelled, so a jump has to be clearer
/// and neighbouring sizes separate in their own samples (buffer placement moves a whole size).
/// `capacities`: bytes of the declared memory levels that a copy between the same two buffers can
/// leave. A cyclic walk beyond a cache's size misses everything at once, so the edge of a small
/// cache can be as steep as a switch; a rise at half of a declared capacity is called an edge.
CopyShape analyse_copy(const Curve& time, bool real, const std::vector<double>& capacities = {});

}  // namespace sonde
