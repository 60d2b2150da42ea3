#pragma once

#include <string>
#include <vector>

#include "core/samples.h"
#include "core/stored_run.h"

namespace sonde {

/// The good samples of one point, in the order taken.
struct PointTimes {
  std::string key;                ///< the axes: equal for the same point of another run
  std::string label;              ///< the axes for people
  std::vector<double> time;       ///< seconds of one unit of work
  std::vector<double> cycles;     ///< of the same samples; empty unless each has its clock
  std::vector<double> clock_mhz;  ///< of those samples that have one
};

/// Points of one probe in order of first appearance. A point of the address profile is a core, a
/// sample the median over its addresses in one repetition.
std::vector<PointTimes> point_times(const ProbeRows& probe, TimeSource source);
/// The same of rows that are grouped already. Not for address profiles.
std::vector<PointTimes> point_times(const GroupedRows& grouped);

}  // namespace sonde
