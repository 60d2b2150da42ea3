#pragma once

#include <array>
#include <cstdint>
#include <initializer_list>
#include <utility>
#include <vector>

namespace sonde {

/// Bijective 64-bit finaliser of SplitMix64 (Steele, Lea, Flood 2014, "Fast splittable
/// pseudorandom number generators", constants of variant 13 by Stafford).
constexpr std::uint64_t mix64(std::uint64_t x) {
  x ^= x >> 30;
  x *= 0xbf58476d1ce4e5b9ULL;
  x ^= x >> 27;
  x *= 0x94d049bb133111ebULL;
  x ^= x >> 31;
  return x;
}

/// A key that depends on every part and on their order: the noise of a modelled device, the order
/// of a round and the fill of a buffer each take their own key from the campaign seed.
constexpr std::uint64_t key_of(std::initializer_list<std::uint64_t> parts) {
  std::uint64_t key = 0x9e3779b97f4a7c15ULL;
  for (std::uint64_t part : parts) {
    key = mix64(key + 0x9e3779b97f4a7c15ULL + mix64(part + 0x632be59bd9b4e019ULL));
  }
  return key;
}

/// xoshiro256** (Blackman and Vigna 2018), seeded through SplitMix64. Integer arithmetic only, so
/// the stream is the same on every machine; the standard library's distributions are not used
/// because their streams differ between implementations.
class Rng {
 public:
  using result_type = std::uint64_t;

  explicit constexpr Rng(std::uint64_t seed) : state_{} {
    for (std::uint64_t& word : state_) {
      seed += 0x9e3779b97f4a7c15ULL;
      word = mix64(seed);
    }
  }

  static constexpr std::uint64_t min() { return 0; }
  static constexpr std::uint64_t max() { return ~std::uint64_t{0}; }

  constexpr std::uint64_t operator()() {
    const std::uint64_t result = rotl(state_[1] * 5, 7) * 9;
    const std::uint64_t t = state_[1] << 17;
    state_[2] ^= state_[0];
    state_[3] ^= state_[1];
    state_[1] ^= state_[2];
    state_[0] ^= state_[3];
    state_[2] ^= t;
    state_[3] = rotl(state_[3], 45);
    return result;
  }

  /// Uniform in [0, n), n > 0, without bias (Lemire 2019, multiply and reject).
  constexpr std::uint64_t below(std::uint64_t n) {
    __extension__ using U128 = unsigned __int128;
    U128 product = static_cast<U128>((*this)()) * n;
    auto low = static_cast<std::uint64_t>(product);
    if (low < n) {
      const std::uint64_t threshold = (0 - n) % n;
      while (low < threshold) {
        product = static_cast<U128>((*this)()) * n;
        low = static_cast<std::uint64_t>(product);
      }
    }
    return static_cast<std::uint64_t>(product >> 64);
  }

  /// Uniform in [0, 1) with 53 bits.
  constexpr double uniform() { return static_cast<double>((*this)() >> 11) * 0x1.0p-53; }

  /// Normal deviate in units of 2^-16 standard deviations: the sum of 12 uniforms less 6
  /// (Irwin-Hall), integers only. Exact mean 0 and variance 1, support within 6 deviations; the
  /// tails beyond 3 are lighter than normal by design, outliers are drawn apart.
  constexpr std::int64_t gaussian_q16() {
    std::int64_t sum = 0;
    for (int i = 0; i < 6; ++i) {
      const std::uint64_t bits = (*this)();
      sum +=
          static_cast<std::int64_t>(bits >> 48) + static_cast<std::int64_t>((bits >> 16) & 0xffff);
    }
    // Each 16-bit uniform has mean (2^16 - 1)/2: 12 of them lack 6.
    return sum - std::int64_t{6} * 65536 + 6;
  }

 private:
  static constexpr std::uint64_t rotl(std::uint64_t x, int k) { return (x << k) | (x >> (64 - k)); }
  std::array<std::uint64_t, 4> state_;
};

/// Fisher-Yates with our own draws, so that a seed gives one order everywhere.
template <class T>
void shuffle(std::vector<T>& items, Rng& rng) {
  for (std::size_t i = items.size(); i > 1; --i) {
    const auto j = static_cast<std::size_t>(rng.below(i));
    if (j != i - 1) std::swap(items[i - 1], items[j]);
  }
}

}  // namespace sonde
