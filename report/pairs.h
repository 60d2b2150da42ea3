#pragma once

#include <vector>

#include "report/analysis.h"

namespace sonde {

/// Values of all pairs of two different cores, row by row.
std::vector<double> pair_values(const CoreMatrix& matrix);

/// Fills `slow_downs` from `interfere`.
void judge_slow_downs(RunAnalysis& analysis);

}  // namespace sonde
