#pragma once

#include <cstdint>
#include <vector>

namespace sonde {

/// Offsets of `count` distinct random lines of a buffer of `bytes`, in random order: a pure
/// function of its arguments, so that every core of a device is asked for the same addresses.
/// Throws Skip when there are fewer whole lines than `count`, or none is asked for.
std::vector<std::int64_t> sampled_offsets(std::int64_t bytes, std::int64_t line_bytes,
                                          std::int64_t count, std::uint64_t seed);

}  // namespace sonde
