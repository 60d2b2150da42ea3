#include "device/sim/landed.h"

#include <string>

#include "core/rng.h"
#include "device/common/pattern.h"

namespace sonde::sim {

namespace {

/// Byte `at` of the fill pattern.
unsigned pattern_byte(std::uint64_t seed, std::int64_t at) {
  const std::uint64_t word = pattern_word(seed, static_cast<std::uint64_t>(at) / 8);
  return static_cast<unsigned>(word >> (8 * (at % 8))) & 0xffU;
}

std::string hex_byte(unsigned value) {
  const char* digits = "0123456789abcdef";
  return std::string("0x") + digits[value >> 4] + digits[value & 15];
}

}  // namespace

Landed land(std::int64_t bytes, std::int64_t pattern_bytes, bool corrupt, std::uint64_t seed,
            const Trial& trial) {
  Landed landed{bytes, std::nullopt};
  if (corrupt) {
    Rng rng(key_of({seed, trial.seed}));
    landed.wrong_byte =
        static_cast<std::int64_t>(rng.below(static_cast<std::uint64_t>(pattern_bytes)));
  }
  return landed;
}

Check check_landed(const std::optional<Landed>& landed, std::int64_t expected, std::uint64_t seed) {
  if (!landed) return {false, "nothing has run"};
  if (landed->bytes != expected) {
    return {false,
            std::to_string(landed->bytes) + " bytes arrived, expected " + std::to_string(expected)};
  }
  if (landed->wrong_byte) {
    const unsigned right = pattern_byte(seed, *landed->wrong_byte);
    return {false, "byte " + std::to_string(*landed->wrong_byte) + " is " + hex_byte(right ^ 1U) +
                       ", expected " + hex_byte(right)};
  }
  return {};
}

}  // namespace sonde::sim
