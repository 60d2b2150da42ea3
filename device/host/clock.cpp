#include "device/host/clock.h"

#include <algorithm>
#include <chrono>
#include <limits>

namespace sonde::host {

std::int64_t monotonic_ns() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

#if defined(__x86_64__)

std::optional<Hertz> measure_core_clock() {
  // 64-bit imul takes 3 cycles on every Intel core since Nehalem and every AMD Zen (Agner Fog's
  // instruction tables). A chain of add-immediates must not be used: cores since Golden Cove fold
  // them at rename and would read as 14 GHz (facts: 14.5 against 2.90).
  constexpr std::int64_t kCyclesEach = 3;
  constexpr std::int64_t kMultiplies = 48'000;  // 48 us at 3 GHz, 2,000 times the clock's reading
  // The shortest of four: a lost time slice lengthens one window, nothing shortens one.
  constexpr int kWindows = 4;
  std::int64_t shortest = std::numeric_limits<std::int64_t>::max();
  for (int window = 0; window < kWindows; ++window) {
    std::uint64_t value = 3;
    const std::int64_t begin = monotonic_ns();
    for (std::int64_t left = kMultiplies; left > 0; left -= 16) {
      asm volatile(
          "imul %0, %0\n\timul %0, %0\n\timul %0, %0\n\timul %0, %0\n\t"
          "imul %0, %0\n\timul %0, %0\n\timul %0, %0\n\timul %0, %0\n\t"
          "imul %0, %0\n\timul %0, %0\n\timul %0, %0\n\timul %0, %0\n\t"
          "imul %0, %0\n\timul %0, %0\n\timul %0, %0\n\timul %0, %0"
          : "+r"(value)
          :
          : "cc");
    }
    shortest = std::min(shortest, monotonic_ns() - begin);
  }
  if (shortest <= 0) return std::nullopt;
  return Hertz(static_cast<double>(kMultiplies * kCyclesEach) * 1e9 /
               static_cast<double>(shortest));
}

#else

// Multiply takes 2 to 5 cycles among today's Arm and RISC-V cores: a guess would be a wrong clock.
std::optional<Hertz> measure_core_clock() { return std::nullopt; }

#endif

}  // namespace sonde::host
