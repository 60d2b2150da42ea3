#include "device/common/sampled_lines.h"

#include <unordered_map>

#include "core/error.h"
#include "core/parse.h"
#include "core/rng.h"

namespace sonde {

std::vector<std::int64_t> sampled_offsets(std::int64_t bytes, std::int64_t line_bytes,
                                          std::int64_t count, std::uint64_t seed) {
  const std::int64_t lines = line_bytes > 0 ? bytes / line_bytes : 0;
  if (count < 1 || count > lines) {
    throw Skip(format_count(count) + " sampled addresses: 1 to " + format_count(lines) +
               " are possible, one a line of " + format_count(bytes) + " B");
  }
  // Fisher and Yates' shuffle cut off after `count` draws; only lines that were moved are stored.
  std::unordered_map<std::int64_t, std::int64_t> moved;
  auto line_at = [&moved](std::int64_t place) {
    const auto found = moved.find(place);
    return found == moved.end() ? place : found->second;
  };
  Rng rng(key_of({seed, static_cast<std::uint64_t>(bytes), static_cast<std::uint64_t>(count)}));
  std::vector<std::int64_t> offsets;
  offsets.reserve(static_cast<std::size_t>(count));
  for (std::int64_t i = 0; i < count; ++i) {
    const std::int64_t j =
        i + static_cast<std::int64_t>(rng.below(static_cast<std::uint64_t>(lines - i)));
    offsets.push_back(line_at(j) * line_bytes);
    moved[j] = line_at(i);
  }
  return offsets;
}

}  // namespace sonde
