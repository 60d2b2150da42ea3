#pragma once

#include <cstdint>

namespace sonde::sim {

/// Order in which a chase visits its lines, computed instead of stored: a keyed bijection of
/// [0, lines). Line at(i) is followed by line at(i + 1), and the last by the first, so the chain
/// is one cycle through every line, of any length, in no memory.
///
/// Rounds of multiply, add and xor-shift on the next power of two; values beyond `lines` are
/// mapped again until they fall inside (cycle walking, Black and Rogaway 2002).
class ChainOrder {
 public:
  ChainOrder() = default;
  ChainOrder(std::int64_t lines, std::uint64_t key);

  std::int64_t lines() const { return lines_; }

  /// Line visited at `position`, 0 <= position < lines().
  std::int64_t at(std::int64_t position) const {
    auto x = static_cast<std::uint64_t>(position);
    do {
      for (int r = 0; r < kRounds; ++r) {
        x = (x * odd_[r] + add_[r]) & mask_;
        x ^= x >> shift_;
      }
    } while (x >= static_cast<std::uint64_t>(lines_));
    return static_cast<std::int64_t>(x);
  }

  /// Position of `line`: the inverse of at(), computed by undoing its rounds.
  std::int64_t position_of(std::int64_t line) const;

 private:
  static constexpr int kRounds = 3;
  std::int64_t lines_ = 1;
  std::uint64_t mask_ = 0;
  int shift_ = 1;
  std::uint64_t odd_[kRounds] = {1, 1, 1};
  std::uint64_t add_[kRounds] = {};
};

}  // namespace sonde::sim
