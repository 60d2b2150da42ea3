#pragma once

#include <vector>

#include "report/gemm.h"

namespace sonde {

/// Median fraction by M, by layer and by model, each in order of first appearance (M ascending).
/// Groups of fewer than three shapes say nothing and are left out.
std::vector<GemmGroup> group_gemm(const std::vector<GemmShape>& shapes, const GemmRoofline& line);

/// The ten shapes of the lowest fraction with the found patterns that each has.
std::vector<GemmWorst> worst_gemm(const std::vector<GemmShape>& shapes, const GemmRoofline& line,
                                  const std::vector<GemmPattern>& patterns);

}  // namespace sonde
