#include "membw/refine.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include "core/line.h"
#include "core/statistics.h"

namespace sonde {
namespace {

constexpr std::int64_t kGrain = 64;
constexpr std::int64_t kPage = 4096;
/// The switch counts as bracketed.
constexpr double kNarrow = 1.005;
/// A line stands on the sizes of so many octaves on its side (of six times the gap where that is
/// less: what bends nearby is left out once the gap is narrow), and on at least so many sizes:
/// these alone, or those of half an octave, which see a smaller jump where nothing bends.
constexpr double kWindows[] = {0, 0.55};
constexpr double kWindowGaps = 6;
constexpr std::size_t kFewest = 3;
/// What seems to jump, in parts of the time and in standard errors: below what the analysis asks
/// for, because a size that was added for nothing costs little and one that lacks costs the switch.
constexpr double kLeastJump = 0.02;
constexpr double kLeastJumpReal = 0.08;
constexpr double kSigmas = 3.5;
constexpr double kSigmasReal = 4;
constexpr double kModelError = 0.003;
/// One jump is looked for within so many octaves.
constexpr double kApart = 0.25;
/// Standard errors between the two sides from which on single steps of 64 bytes are worth it.
constexpr double kFar = 12;
/// Brackets that are halved at once: the strongest ones.
constexpr std::size_t kMostGaps = 6;

struct Gap {
  std::size_t before = 0;  ///< index of the size before it
  double strength = 0;
  double apart = 0;  ///< the jump in standard errors of one size
};

std::optional<Gap> look_at(const std::vector<TimedSize>& sizes, std::size_t before, double octaves,
                           bool real) {
  const auto bytes = [&](std::size_t i) { return static_cast<double>(sizes[i].bytes); };
  const double window =
      std::min(octaves, kWindowGaps * std::log2(bytes(before + 1) / bytes(before)));
  std::size_t first = before, last = before + 1;
  while (first > 0 &&
         (before + 1 - first < kFewest || std::log2(bytes(before) / bytes(first - 1)) <= window)) {
    --first;
  }
  while (last + 1 < sizes.size() &&
         (last - before < kFewest || std::log2(bytes(last + 1) / bytes(before + 1)) <= window)) {
    ++last;
  }
  const std::size_t left_count = before + 1 - first, right_count = last - before;
  if (left_count < kFewest || right_count < kFewest) return std::nullopt;
  std::vector<LinePoint> points;
  std::vector<double> errors;
  for (std::size_t i = first; i <= last; ++i) {
    points.push_back({bytes(i), sizes[i].time});
    errors.push_back(sizes[i].error * sizes[i].error);
  }
  const std::span<const LinePoint> all = points;
  const RelativeLine left = fit_relative_line(all.first(left_count));
  const RelativeLine right = fit_relative_line(all.subspan(left_count));
  const double freedom = std::max(1.0, static_cast<double>(points.size()) - 4);
  const double own = std::max(*median(errors), kModelError * kModelError);
  const double variance = real ? std::max(own, (left.residual + right.residual) / freedom) : own;
  const double middle = std::sqrt(bytes(before) * bytes(before + 1));
  const double jump = std::abs(right.at(middle) - left.at(middle));
  const double level = std::min(std::abs(left.at(middle)), std::abs(right.at(middle)));
  const double deviation =
      std::sqrt(variance * (left.variance_at(middle) + right.variance_at(middle)));
  if (jump < (real ? kLeastJumpReal : kLeastJump) * level) return std::nullopt;
  if (jump < (real ? kSigmasReal : kSigmas) * deviation) return std::nullopt;
  return Gap{before, jump / deviation, jump / (std::sqrt(variance) * level)};
}

/// The size in the middle of a gap; 0: the gap is narrow enough.
std::int64_t middle_of(std::int64_t low, std::int64_t high, bool finely) {
  const bool narrow = static_cast<double>(high) <= kNarrow * static_cast<double>(low);
  if (narrow && !finely) return 0;
  std::int64_t middle = (low + (high - low) / 2) / kGrain * kGrain;
  if (high - low > 16 * kGrain && middle / kGrain % 2 == 0) middle += kGrain;
  if (middle % kPage == 0) middle += middle + kGrain < high ? kGrain : -kGrain;
  return middle > low && middle < high ? middle : 0;
}

}  // namespace

std::vector<std::int64_t> refine_sizes(const std::vector<TimedSize>& tested, bool real) {
  std::vector<TimedSize> sizes;
  std::copy_if(tested.begin(), tested.end(), std::back_inserter(sizes),
               [](const TimedSize& one) { return one.bytes % kPage != 0; });
  if (2 * sizes.size() < tested.size()) sizes = tested;
  std::vector<Gap> gaps;
  for (std::size_t i = 0; i + 1 < sizes.size(); ++i) {
    for (const double octaves : kWindows) {
      if (const auto gap = look_at(sizes, i, octaves, real)) gaps.push_back(*gap);
    }
  }
  std::stable_sort(gaps.begin(), gaps.end(),
                   [](const Gap& a, const Gap& b) { return a.strength > b.strength; });
  std::vector<std::int64_t> next;
  std::vector<double> looked_at;
  for (const Gap& gap : gaps) {
    const std::int64_t low = sizes[gap.before].bytes, high = sizes[gap.before + 1].bytes;
    const auto place = std::log2(static_cast<double>(low));
    const bool taken = std::any_of(looked_at.begin(), looked_at.end(),
                                   [&](double other) { return std::abs(other - place) < kApart; });
    if (taken) continue;
    looked_at.push_back(place);
    if (looked_at.size() > kMostGaps) break;
    if (const std::int64_t middle = middle_of(low, high, !real && gap.apart > kFar)) {
      next.push_back(middle);
    }
  }
  std::sort(next.begin(), next.end());
  return next;
}

}  // namespace sonde
