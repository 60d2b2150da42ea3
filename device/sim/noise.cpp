#include "device/sim/noise.h"

#include <algorithm>

namespace sonde::sim {

namespace {

constexpr std::int64_t kMillion = 1'000'000;

// Drift and episodes have no published figures: they are there to be found, and to be left out of
// the statistics. All guesses.
/// Most that one part of the drift moves a result, either way.
constexpr std::int64_t kDriftPpm = 10'000;
/// Periods of its parts: as long as a few launches, as a step of a probe, and in between.
constexpr Ticks kDriftPeriods[] = {1000 * kTicksPerUs, 30'000 * kTicksPerUs,
                                   1'000'000 * kTicksPerUs};
constexpr std::int64_t kWindowNs = 5'000'000;
constexpr std::uint64_t kWindowsAnEpisode = 16;
/// What an episode takes longer: a clock a fifth lower.
constexpr std::int64_t kHeldBackPpm = 250'000;

/// The clock keeps a level for so long; every other one is the full clock, on average.
constexpr std::int64_t kStepNs = 8'000'000;
constexpr std::int64_t kDeepestStepPpm = 120'000;

/// Keys of the draws that are functions of modelled time.
enum class Draw : std::uint64_t { drift = 1, episodes, chip_drift, steps };
std::uint64_t key_for(Draw draw, std::uint64_t seed) {
  return key_of({static_cast<std::uint64_t>(draw), seed});
}

Ticks share_of(Ticks elapsed, std::int64_t ppm) {
  return static_cast<Ticks>(static_cast<Int128>(elapsed) * ppm / kMillion);
}

}  // namespace

Ticks scattered(Ticks elapsed, std::int64_t spread_ppm, Rng& rng) {
  const Int128 deviation = static_cast<Int128>(elapsed) * spread_ppm * rng.gaussian_q16();
  return std::max<Ticks>(elapsed + static_cast<Ticks>(deviation / (Int128{kMillion} * 65536)), 1);
}

Rng noise_source(const Trial& trial, std::int64_t start_ns) {
  return Rng(
      key_of({trial.seed, static_cast<std::uint64_t>(trial.point),
              static_cast<std::uint64_t>(trial.repetition), static_cast<std::uint64_t>(start_ns)}));
}

std::int64_t wander_ppm(std::uint64_t key, Ticks time, Ticks period, std::int64_t most) {
  if (most == 0) return 0;
  const auto knot = [&](std::int64_t index) {
    Rng rng(key_of({key, static_cast<std::uint64_t>(index)}));
    return static_cast<std::int64_t>(rng.below(static_cast<std::uint64_t>(2 * most + 1))) - most;
  };
  const std::int64_t index = time / period;
  const std::int64_t from = knot(index);
  const Int128 way = static_cast<Int128>(knot(index + 1) - from) * (time % period);
  return from + static_cast<std::int64_t>(way / period);
}

std::int64_t clock_ppm(const Chip& chip, const Selector& selector, std::int64_t at_ns) {
  if (!selector.steps) return kMillion;
  Rng rng(key_of(
      {key_for(Draw::steps, chip.scatter.key), static_cast<std::uint64_t>(at_ns / kStepNs)}));
  if (rng.below(2) == 0) return kMillion;
  return kMillion - static_cast<std::int64_t>(rng.below(kDeepestStepPpm + 1));
}

std::int64_t drift_ppm(const Chip& chip, const Selector& selector, const Trial& trial,
                       std::int64_t start_ns) {
  const Ticks now = start_ns * kTicksPerNs;
  std::int64_t sum = 0;
  if (selector.noise && chip.scatter.drift_ppm > 0) {
    sum += wander_ppm(key_for(Draw::chip_drift, chip.scatter.key), now, chip.scatter.drift_period,
                      chip.scatter.drift_ppm);
  }
  sum += kMillion * kMillion / clock_ppm(chip, selector, start_ns) - kMillion;
  if (!selector.drift) return sum;
  for (Ticks period : kDriftPeriods) {
    sum +=
        wander_ppm(key_of({key_for(Draw::drift, trial.seed), static_cast<std::uint64_t>(period)}),
                   now, period, kDriftPpm);
  }
  return sum;
}

HeldBack held_back(std::uint64_t seed, std::int64_t start_ns, Ticks elapsed) {
  const std::int64_t end_ns = start_ns + divide_up(elapsed, kTicksPerNs);
  HeldBack sum;
  for (std::int64_t window = start_ns / kWindowNs; window * kWindowNs < end_ns; ++window) {
    Rng rng(key_of({key_for(Draw::episodes, seed), static_cast<std::uint64_t>(window)}));
    if (rng.below(kWindowsAnEpisode) != 0) continue;
    // Between an eighth and a half of the window, and inside it.
    const auto some = [&](std::int64_t most) {
      return static_cast<std::int64_t>(rng.below(static_cast<std::uint64_t>(most)));
    };
    const std::int64_t length = kWindowNs / 8 + some(kWindowNs * 3 / 8);
    const std::int64_t begin = window * kWindowNs + some(kWindowNs - length);
    const std::int64_t common = std::min(begin + length, end_ns) - std::max(begin, start_ns);
    if (common <= 0) continue;
    sum.during += common * kTicksPerNs;
    ++sum.events;
  }
  return sum;
}

std::int64_t load_spread_ppm(const Chip& chip, const Selector& selector) {
  if (!selector.noise) return 0;
  return selector.noise_spread_ppm.value_or(chip.noise.load_ppm);
}

Noisy with_weather(const Chip& chip, const Selector& selector, const Trial& trial,
                   std::int64_t start_ns, Ticks elapsed) {
  Noisy noisy{elapsed, 0};
  noisy.elapsed += share_of(elapsed, drift_ppm(chip, selector, trial, start_ns));
  if (selector.episodes) {
    const HeldBack held = held_back(trial.seed, start_ns, noisy.elapsed);
    noisy.elapsed += share_of(held.during, kHeldBackPpm);
    noisy.throttled = held.events;
  }
  noisy.elapsed = std::max<Ticks>(noisy.elapsed, 1);
  return noisy;
}

Noisy with_noise(const Chip& chip, const Selector& selector, const Trial& trial,
                 std::int64_t start_ns, Ticks elapsed) {
  Ticks noisy = elapsed;
  if (selector.noise) {
    const Chip::Noise& noise = chip.noise;
    Rng rng = noise_source(trial, start_ns);
    const std::int64_t own = elapsed < noise.long_from ? noise.launch_ppm : noise.long_ppm;
    noisy = scattered(elapsed, selector.noise_spread_ppm.value_or(own), rng);
    if (rng.below(static_cast<std::uint64_t>(noise.tail_one_in)) == 0) {
      noisy += share_of(elapsed, noise.tail_ppm);
    }
  }
  return with_weather(chip, selector, trial, start_ns, noisy);
}

}  // namespace sonde::sim
