#include "device/sim/noise.h"

#include <algorithm>

#include "core/rng.h"

namespace sonde::sim {

Ticks with_noise(const Chip::Noise& noise, const Trial& trial, std::int64_t start_ns,
                 Ticks elapsed) {
  constexpr std::int64_t kMillion = 1'000'000;
  Rng rng(
      key_of({trial.seed, static_cast<std::uint64_t>(trial.point),
              static_cast<std::uint64_t>(trial.repetition), static_cast<std::uint64_t>(start_ns)}));
  const std::int64_t spread_ppm = elapsed < noise.long_from ? noise.launch_ppm : noise.long_ppm;
  const Int128 deviation = static_cast<Int128>(elapsed) * spread_ppm * rng.gaussian_q16();
  std::int64_t change = static_cast<std::int64_t>(deviation / (kMillion * 65536));
  if (rng.below(static_cast<std::uint64_t>(noise.tail_one_in)) == 0) {
    change += static_cast<std::int64_t>(static_cast<Int128>(elapsed) * noise.tail_ppm / kMillion);
  }
  return std::max<Ticks>(elapsed + change, 1);
}

}  // namespace sonde::sim
