#pragma once

#include <string>
#include <vector>

#include "core/samples.h"
#include "report/copy.h"
#include "report/copy_thresholds.h"

namespace sonde {

/// Copies that differ in nothing but their size.
struct CopySeries {
  std::string direction, method, alignment, state;
  std::string cores;     ///< that share the copy; empty: the device's own way
  std::string tunables;  ///< what the C library was told; empty: nothing
  Curve time = {};       ///< x bytes, y seconds
  CopyShape shape = {};
  /// What the curves with moved thresholds say of this one; empty where there is none.
  ThresholdJudgement thresholds = {};
  bool same_but_tunables(const CopySeries& other) const;
};

struct CopyAnalysis {
  std::vector<CopySeries> series;  ///< method auto first in each direction
  /// The series that findings speak of: method auto, one a direction, device order.
  std::vector<const CopySeries*> main_series() const;
};

CopyAnalysis analyse_copies(const GroupedRows& rows, const Manifest& manifest);

}  // namespace sonde
