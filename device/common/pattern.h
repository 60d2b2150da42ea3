#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

namespace sonde {

/// Fills a buffer with a seeded pattern that differs at every 8-byte word, so that a shifted,
/// repeated or missing part of a copy is noticed. Never all zero.
void fill_pattern(std::span<std::byte> buffer, std::uint64_t seed);

/// First byte of `buffer` that differs from the pattern of `seed`; nullopt when all fit.
std::optional<std::size_t> first_difference(std::span<const std::byte> buffer, std::uint64_t seed);

/// The pattern's word at 8-byte index `i`.
std::uint64_t pattern_word(std::uint64_t seed, std::uint64_t i);

}  // namespace sonde
