#pragma once

#include <cstdint>
#include <vector>

namespace sonde {

/// Sizes from `low` to `high` (both kept), `per_octave` (1, 2, 4 or 8) to a doubling, powers of two
/// among them, the others rounded to multiples of 64 bytes that are no whole pages. Integers only:
/// the same on every machine. Throws std::invalid_argument for other `per_octave` or low < 64 or
/// high < low.
std::vector<std::int64_t> size_ladder(std::int64_t low, std::int64_t high, int per_octave);

/// Sizes from `low` to `high` that tell alignment classes apart: beside each power of two from 4
/// KiB on those 64 bytes, 4 KiB and 64 KiB above it (as far as that is less than a step of a
/// ladder), and one and a half times it. A size that is slow or fast because it is a power of two
/// stands alone among them; one that is because it is a whole number of pages does not.
std::vector<std::int64_t> class_sizes(std::int64_t low, std::int64_t high);

}  // namespace sonde
