#include "device/common/pattern.h"

#include <cstring>

namespace sonde {

std::uint64_t pattern_word(std::uint64_t seed, std::uint64_t i) {
  // Odd multiplier: distinct for every i; one multiply a word keeps filling near memory speed.
  return (seed | 1) + (i + 1) * 0x9e3779b97f4a7c15ULL;
}

void fill_pattern(std::span<std::byte> buffer, std::uint64_t seed) {
  const std::size_t words = buffer.size() / 8;
  for (std::size_t i = 0; i < words; ++i) {
    const std::uint64_t word = pattern_word(seed, i);
    std::memcpy(buffer.data() + 8 * i, &word, 8);
  }
  const std::uint64_t last = pattern_word(seed, words);
  if (buffer.size() % 8 != 0) std::memcpy(buffer.data() + 8 * words, &last, buffer.size() % 8);
}

std::optional<std::size_t> first_difference(std::span<const std::byte> buffer, std::uint64_t seed) {
  const std::size_t words = buffer.size() / 8;
  std::size_t i = 0;
  for (; i < words; ++i) {  // whole words first: checking runs near memory speed
    std::uint64_t word = 0;
    std::memcpy(&word, buffer.data() + 8 * i, 8);
    if (word != pattern_word(seed, i)) break;
  }
  const std::uint64_t expected = pattern_word(seed, i);
  const auto* bytes = reinterpret_cast<const std::byte*>(&expected);
  for (std::size_t b = 0; b < 8 && 8 * i + b < buffer.size(); ++b) {
    if (buffer[8 * i + b] != bytes[b]) return 8 * i + b;
  }
  return std::nullopt;
}

}  // namespace sonde
