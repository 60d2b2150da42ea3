#include "device/sim/chain_order.h"

#include <bit>

#include "core/rng.h"

namespace sonde::sim {

ChainOrder::ChainOrder(std::int64_t lines, std::uint64_t key) : lines_(lines) {
  const auto bits = static_cast<int>(std::bit_width(static_cast<std::uint64_t>(lines - 1)));
  mask_ = bits == 0 ? 0 : ~std::uint64_t{0} >> (64 - bits);
  // At least half the width, so that the xor-shift is its own inverse.
  shift_ = bits < 2 ? 1 : (bits + 1) / 2;
  Rng rng(key);
  for (int r = 0; r < kRounds; ++r) {
    odd_[r] = rng() | 1;
    add_[r] = rng();
  }
}

std::int64_t ChainOrder::position_of(std::int64_t line) const {
  std::uint64_t inverse[kRounds];
  for (int r = 0; r < kRounds; ++r) {
    std::uint64_t x = odd_[r];  // right in 3 bits; each Newton step doubles them
    for (int step = 0; step < 5; ++step) x *= 2 - odd_[r] * x;
    inverse[r] = x;
  }
  auto x = static_cast<std::uint64_t>(line);
  do {
    for (int r = kRounds - 1; r >= 0; --r) {
      x ^= x >> shift_;
      x = ((x - add_[r]) * inverse[r]) & mask_;
    }
  } while (x >= static_cast<std::uint64_t>(lines_));
  return static_cast<std::int64_t>(x);
}

}  // namespace sonde::sim
