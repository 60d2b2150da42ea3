#pragma once

#include <cstdint>
#include <vector>

namespace sonde {

/// Sizes from `low` to `high` (both kept), `per_octave` (1, 2, 4 or 8) to a doubling, powers of two
/// among them, the others rounded to multiples of 64 bytes. Integers only: the same on every
/// machine. Throws std::invalid_argument for other `per_octave` or low < 64 or high < low.
std::vector<std::int64_t> size_ladder(std::int64_t low, std::int64_t high, int per_octave);

}  // namespace sonde
