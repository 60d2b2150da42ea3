#pragma once

#include <cstdint>
#include <vector>

#include "report/gemm.h"

namespace sonde {

/// Which properties of shapes go with lower fractions than M, N, K and the ideal time explain:
/// a width that is no multiple of 128, tiles or waves that are not full, fewer than 33 rows or
/// columns, a fixed cost of each product. Each is tested by permutations within the shapes of one M
/// (fixed cost: over all), and found when its adjusted p (Holm, over all that were tested) is below
/// 0.05 and it costs at least 2 %. The strongest first.
std::vector<GemmPattern> find_gemm_patterns(const std::vector<GemmShape>& shapes,
                                            const GemmRoofline& line, std::uint64_t seed);

}  // namespace sonde
