#pragma once

#include <cstdint>
#include <vector>

namespace sonde {

/// Order in which a chain visits its lines: ring[i] is the line after line i.
using ChaseRing = std::vector<std::uint32_t>;

/// One random cycle over `lines` lines, in two levels: pages of `lines_per_page`
/// lines are visited in random order, `pages_per_group` pages at a time and all lines of a group
/// in random order before the next group, so that address-translation reach is a chosen parameter.
/// pages_per_group = 0 means one group: fully random. lines >= 1, at most 2^32 - 1 (throws Skip
/// naming the limit). The same seed gives the same ring everywhere.
ChaseRing make_chase_ring(std::int64_t lines, std::int64_t lines_per_page,
                          std::int64_t pages_per_group, std::uint64_t seed);

/// True when the ring is one cycle through every line.
bool is_single_cycle(const ChaseRing& ring);

/// Line reached from `start` after `loads` steps.
std::uint32_t walk(const ChaseRing& ring, std::uint32_t start, std::int64_t loads);

}  // namespace sonde
