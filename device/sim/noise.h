#pragma once

#include <cstdint>

#include "core/rng.h"
#include "device/device.h"
#include "device/sim/chip.h"
#include "device/sim/selector.h"

namespace sonde::sim {

/// `elapsed` times a normal factor of mean 1, at least a tick; integers only.
Ticks scattered(Ticks elapsed, std::int64_t spread_ppm, Rng& rng);

/// Draws of one run: a pure function of the trial and of the modelled start.
Rng noise_source(const Trial& trial, std::int64_t start_ns);

/// Slow change of a latency or rate at a modelled time: between knots a period apart, which the key
/// draws between -most and most, in a straight line. A pure function, in parts per million.
std::int64_t wander_ppm(std::uint64_t key, Ticks time, Ticks period, std::int64_t most);

/// The clock at a modelled time in parts per million of what it would be: below a million where the
/// selector asks for steps and one holds it down. A function of the chip and of modelled time, so
/// that the sensor knows it too.
std::int64_t clock_ppm(const Chip& chip, const Selector& selector, std::int64_t at_ns);

/// All that modelled time alone does to a run that starts at `start_ns`: the drift of the chip and,
/// where the selector asks for them, that of the weather and steps of the clock. In parts per
/// million.
std::int64_t drift_ppm(const Chip& chip, const Selector& selector, const Trial& trial,
                       std::int64_t start_ns);

/// Episodes in which the chip is held back: each window of modelled time has one or none.
struct HeldBack {
  Ticks during = 0;         ///< part of the run that lies in episodes
  std::int64_t events = 0;  ///< episodes it meets
};
HeldBack held_back(std::uint64_t seed, std::int64_t start_ns, Ticks elapsed);

/// What becomes of a run that takes `elapsed` without noise.
struct Noisy {
  Ticks elapsed = 0;
  std::int64_t throttled = 0;  ///< episodes it met
};

/// Spread of a load of a profile under this selector, in parts per million; 0 without noise.
std::int64_t load_spread_ppm(const Chip& chip, const Selector& selector);

/// A launch with noise: a normal factor, now and then a late launch, drift and episodes. A resumed
/// run draws the same.
Noisy with_noise(const Chip& chip, const Selector& selector, const Trial& trial,
                 std::int64_t start_ns, Ticks elapsed);

/// Drift and episodes only, for a run whose parts have had their own noise already.
Noisy with_weather(const Chip& chip, const Selector& selector, const Trial& trial,
                   std::int64_t start_ns, Ticks elapsed);

}  // namespace sonde::sim
