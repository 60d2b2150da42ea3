#include "device/sim/governor.h"

namespace sonde::sim {

namespace {

constexpr std::int64_t kMillion = 1'000'000;

}  // namespace

std::int64_t settled_ppm(Ticks elapsed, Ticks window) {
  // (1 - 2^-10) a thousandth of the window long, to the power of how many of them have passed; by
  // squaring, in 32 bits of fraction.
  constexpr int kBits = 10;
  constexpr std::int64_t kOne = std::int64_t{1} << 32;
  std::int64_t steps = static_cast<std::int64_t>((static_cast<Int128>(elapsed) << kBits) / window);
  if (steps > 32 << kBits) return kMillion;
  std::int64_t left = kOne;
  for (std::int64_t factor = kOne - (kOne >> kBits); steps > 0; steps /= 2) {
    if (steps % 2 == 1) left = static_cast<std::int64_t>(static_cast<Int128>(left) * factor >> 32);
    factor = static_cast<std::int64_t>(static_cast<Int128>(factor) * factor >> 32);
  }
  return kMillion - static_cast<std::int64_t>(static_cast<Int128>(left) * kMillion >> 32);
}

std::int64_t gemm_power_mw(const Chip& chip, const GemmPlan& plan, std::int64_t clock_khz) {
  const std::int64_t reference = chip.clock_hz / 1000;
  Int128 dynamic = chip.power.cube_mw;
  for (int factor = 0; factor < 3; ++factor) dynamic = dynamic * clock_khz / reference;
  const Ticks busy = multiply_divide_up(divide_up(plan.pipes.cube, chip.cubes()),
                                        kTicksPerSecond / 1000, clock_khz);
  dynamic = dynamic * busy / gemm_time(chip, plan, clock_khz);
  return chip.power.idle_mw + static_cast<std::int64_t>(dynamic);
}

std::int64_t seen_power_mw(const Chip& chip, std::int64_t power_mw, std::int64_t settled) {
  const Int128 over_idle = power_mw - chip.power.idle_mw;
  return chip.power.idle_mw + static_cast<std::int64_t>(over_idle * settled / kMillion);
}

std::int64_t governed_clock_khz(const Chip& chip, const GemmPlan& plan, std::int64_t settled) {
  const auto fits = [&](std::int64_t khz) {
    return seen_power_mw(chip, gemm_power_mw(chip, plan, khz), settled) <= chip.power.cap_mw;
  };
  std::int64_t high = chip.clock_hz / 1000;
  if (fits(high)) return high;
  std::int64_t low = 1;  // fits: nothing of the dynamic power is left
  while (high - low > 1) {
    const std::int64_t middle = low + (high - low) / 2;
    (fits(middle) ? low : high) = middle;
  }
  return low;
}

}  // namespace sonde::sim
