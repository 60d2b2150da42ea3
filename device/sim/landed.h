#pragma once

#include <cstdint>
#include <optional>

#include "device/device.h"

namespace sonde::sim {

/// What modelled traffic leaves to verify. No data is moved: a count of the bytes that landed, and
/// at most one byte of the fill pattern that is wrong.
struct Landed {
  std::int64_t bytes = 0;
  std::optional<std::int64_t> wrong_byte;
};

/// `bytes` that landed; with `corrupt` one byte of the first `pattern_bytes` is wrong.
Landed land(std::int64_t bytes, std::int64_t pattern_bytes, bool corrupt, std::uint64_t seed,
            const Trial& trial);

Check check_landed(const std::optional<Landed>& landed, std::int64_t expected, std::uint64_t seed);

}  // namespace sonde::sim
