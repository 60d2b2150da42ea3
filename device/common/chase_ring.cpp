#include "device/common/chase_ring.h"

#include <algorithm>
#include <limits>
#include <numeric>

#include "core/error.h"
#include "core/parse.h"
#include "core/rng.h"

namespace sonde {

ChaseRing make_chase_ring(std::int64_t lines, std::int64_t lines_per_page,
                          std::int64_t pages_per_group, std::uint64_t seed) {
  constexpr std::int64_t kMost = std::numeric_limits<std::uint32_t>::max();
  if (lines < 1 || lines > kMost) {
    throw Skip("a chain of " + format_count(lines) + " lines: between 1 and " +
               format_count(kMost) + " are possible");
  }
  // Visiting order first, then linked into a ring: any order of all lines is one cycle.
  std::vector<std::uint32_t> order(static_cast<std::size_t>(lines));
  std::iota(order.begin(), order.end(), std::uint32_t{0});
  Rng rng(key_of({seed, static_cast<std::uint64_t>(lines)}));
  if (pages_per_group <= 0 || lines_per_page * pages_per_group >= lines) {
    shuffle(order, rng);
  } else {
    const std::int64_t pages = (lines + lines_per_page - 1) / lines_per_page;
    std::vector<std::int64_t> page_order(static_cast<std::size_t>(pages));
    std::iota(page_order.begin(), page_order.end(), std::int64_t{0});
    shuffle(page_order, rng);
    std::size_t filled = 0;
    for (std::int64_t first = 0; first < pages; first += pages_per_group) {
      std::vector<std::uint32_t> group;
      for (std::int64_t p = first; p < std::min(pages, first + pages_per_group); ++p) {
        const std::int64_t begin = page_order[static_cast<std::size_t>(p)] * lines_per_page;
        const std::int64_t end = std::min(lines, begin + lines_per_page);
        for (std::int64_t line = begin; line < end; ++line) {
          group.push_back(static_cast<std::uint32_t>(line));
        }
      }
      shuffle(group, rng);
      for (std::uint32_t line : group) order[filled++] = line;
    }
  }
  ChaseRing ring(order.size());
  for (std::size_t i = 0; i + 1 < order.size(); ++i) ring[order[i]] = order[i + 1];
  ring[order.back()] = order.front();
  return ring;
}

bool is_single_cycle(const ChaseRing& ring) {
  if (ring.empty()) return false;
  std::uint32_t at = 0;
  for (std::size_t steps = 1; steps <= ring.size(); ++steps) {
    if (ring[at] >= ring.size()) return false;
    at = ring[at];
    if (at == 0) return steps == ring.size();
  }
  return false;
}

std::uint32_t walk(const ChaseRing& ring, std::uint32_t start, std::int64_t loads) {
  std::int64_t left = loads % static_cast<std::int64_t>(ring.size());
  std::uint32_t at = start;
  while (left-- > 0) at = ring[at];
  return at;
}

}  // namespace sonde
