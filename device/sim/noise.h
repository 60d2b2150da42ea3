#pragma once

#include <cstdint>

#include "core/rng.h"
#include "device/device.h"
#include "device/sim/chip.h"

namespace sonde::sim {

/// `elapsed` times a normal factor of mean 1, at least a tick; integers only.
Ticks scattered(Ticks elapsed, std::int64_t spread_ppm, Rng& rng);

/// Draws of one run: a pure function of the trial and of the modelled start.
Rng noise_source(const Trial& trial, std::int64_t start_ns);

/// Time of a launch with noise: a normal factor, and now and then a late launch. A resumed run
/// draws the same.
Ticks with_noise(const Chip::Noise& noise, const Trial& trial, std::int64_t start_ns,
                 Ticks elapsed);

}  // namespace sonde::sim
