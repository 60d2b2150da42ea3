#include "device/sim/noise.h"

#include <algorithm>

namespace sonde::sim {

namespace {

constexpr std::int64_t kMillion = 1'000'000;

}  // namespace

Ticks scattered(Ticks elapsed, std::int64_t spread_ppm, Rng& rng) {
  const Int128 deviation = static_cast<Int128>(elapsed) * spread_ppm * rng.gaussian_q16();
  return std::max<Ticks>(elapsed + static_cast<Ticks>(deviation / (kMillion * 65536)), 1);
}

Rng noise_source(const Trial& trial, std::int64_t start_ns) {
  return Rng(
      key_of({trial.seed, static_cast<std::uint64_t>(trial.point),
              static_cast<std::uint64_t>(trial.repetition), static_cast<std::uint64_t>(start_ns)}));
}

Ticks with_noise(const Chip::Noise& noise, const Trial& trial, std::int64_t start_ns,
                 Ticks elapsed) {
  Rng rng = noise_source(trial, start_ns);
  const std::int64_t spread_ppm = elapsed < noise.long_from ? noise.launch_ppm : noise.long_ppm;
  Ticks noisy = scattered(elapsed, spread_ppm, rng);
  if (rng.below(static_cast<std::uint64_t>(noise.tail_one_in)) == 0) {
    noisy += static_cast<Ticks>(static_cast<Int128>(elapsed) * noise.tail_ppm / kMillion);
  }
  return noisy;
}

}  // namespace sonde::sim
