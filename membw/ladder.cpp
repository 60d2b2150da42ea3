#include "membw/ladder.h"

#include <stdexcept>

namespace sonde {
namespace {

constexpr std::int64_t kGrain = 64;
constexpr std::int64_t kPage = 4096;

}  // namespace

std::vector<std::int64_t> size_ladder(std::int64_t low, std::int64_t high, int per_octave) {
  // 2^(i/8) in units of 2^-16.
  constexpr std::int64_t kSteps[8] = {65536, 71468, 77936, 84990, 92682, 101070, 110218, 120194};
  __extension__ using Wide = __int128;
  if (low < kGrain || high < low) throw std::invalid_argument("size ladder: 64 <= low <= high");
  if (per_octave < 1 || per_octave > 8 || 8 % per_octave != 0) {
    throw std::invalid_argument("size ladder: 1, 2, 4 or 8 sizes an octave");
  }
  std::vector<std::int64_t> sizes = {low};
  const auto stride = static_cast<std::size_t>(8 / per_octave);
  for (std::int64_t octave = kGrain;; octave *= 2) {
    for (std::size_t i = 0; i < 8; i += stride) {
      // 128 bits: the product of a large size and a step passes 2^63.
      const Wide exact = static_cast<Wide>(octave) * kSteps[i];
      auto size = static_cast<std::int64_t>((exact / 65536 + kGrain / 2) / kGrain * kGrain);
      // Large ones come out as whole pages: copies of those may be another case.
      if (i > 0 && size % kPage == 0) size += kGrain;
      if (size > sizes.back() && size < high) sizes.push_back(size);
    }
    if (octave > high / 2) break;  // the next one might pass 2^63
  }
  if (high > sizes.back()) sizes.push_back(high);
  return sizes;
}

std::vector<std::int64_t> class_sizes(std::int64_t low, std::int64_t high) {
  // An offset of more than a sixteenth would be a step of the ladder.
  constexpr std::int64_t kSteps = 16;
  constexpr std::int64_t kOffsets[] = {kGrain, kPage, 16 * kPage};
  std::vector<std::int64_t> sizes;
  for (std::int64_t power = kPage;; power *= 2) {
    for (const std::int64_t offset : kOffsets) {
      if (offset <= power / kSteps) sizes.push_back(power + offset);
    }
    sizes.push_back(power + power / 2);
    if (power > high / 2) break;  // as above
  }
  std::erase_if(sizes, [&](std::int64_t size) { return size < low || size > high; });
  return sizes;
}

}  // namespace sonde
