#pragma once

#include <string>
#include <vector>

#include "core/core_name.h"
#include "core/samples.h"

namespace sonde {

struct CoreLatency {
  CoreName core;
  CurvePoint point;  ///< x is the number of the core
  bool outlier = false;
};

struct CoreLatencies {
  std::vector<CoreLatency> cores;  ///< by kind, then number
  bool cannot_tell = false;        ///< too few cores, or no intervals, to call one an outlier
};

/// Flags a core only when its whole interval lies beyond what the other cores of its kind spread.
CoreLatencies judge_cores(std::vector<CoreLatency> cores);

}  // namespace sonde
