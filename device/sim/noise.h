#pragma once

#include <cstdint>

#include "device/device.h"
#include "device/sim/chip.h"

namespace sonde::sim {

/// Time of a launch with noise: a normal factor, and now and then a late launch. A pure function of
/// the trial and of the modelled start, in integers, so that a resumed run draws the same.
Ticks with_noise(const Chip::Noise& noise, const Trial& trial, std::int64_t start_ns,
                 Ticks elapsed);

}  // namespace sonde::sim
