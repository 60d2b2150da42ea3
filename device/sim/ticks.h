#pragma once

#include <cstdint>

#include "core/units.h"

namespace sonde::sim {

/// Modelled time: whole picoseconds. Sums are exact and the same in every order and on every
/// machine; 2^63 ticks are 106 days.
using Ticks = std::int64_t;

inline constexpr Ticks kTicksPerNs = 1000;
inline constexpr Ticks kTicksPerUs = 1000 * kTicksPerNs;
inline constexpr Ticks kTicksPerSecond = 1'000'000 * kTicksPerUs;

__extension__ using Int128 = __int128;

/// a * b / c rounded up; a, b >= 0, c > 0. The product is formed in 128 bits.
constexpr std::int64_t multiply_divide_up(std::int64_t a, std::int64_t b, std::int64_t c) {
  return static_cast<std::int64_t>((static_cast<Int128>(a) * b + c - 1) / c);
}

/// a / b rounded up; a >= 0, b > 0.
constexpr std::int64_t divide_up(std::int64_t a, std::int64_t b) { return (a + b - 1) / b; }

/// One correctly rounded division: the same double everywhere.
constexpr Seconds to_seconds(Ticks ticks) { return Seconds(static_cast<double>(ticks) / 1e12); }

}  // namespace sonde::sim
