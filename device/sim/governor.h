#pragma once

#include <cstdint>

#include "device/sim/chip.h"
#include "device/sim/gemm_model.h"
#include "device/sim/ticks.h"

namespace sonde::sim {

/// How far the power that the governor watches has followed a load after `elapsed` of it, in parts
/// per million: 1 - exp(-elapsed / window), in whole numbers.
std::int64_t settled_ppm(Ticks elapsed, Ticks window);

/// Power while the plan runs again and again at a clock: idle, plus the Cubes' by the share of time
/// they multiply and the cube of the clock (voltage follows it).
std::int64_t gemm_power_mw(const Chip& chip, const GemmPlan& plan, std::int64_t clock_khz);

/// What the governor and the sensor see of a power: its mean over the window.
std::int64_t seen_power_mw(const Chip& chip, std::int64_t power_mw, std::int64_t settled);

/// Highest clock, up to the reference, at which the power that the governor sees is under the cap.
std::int64_t governed_clock_khz(const Chip& chip, const GemmPlan& plan, std::int64_t settled);

}  // namespace sonde::sim
