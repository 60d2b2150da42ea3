#include "report/levels.h"

#include <algorithm>
#include <cmath>

namespace sonde {
namespace {

/// Latencies on one plateau spread by no more than this, noise aside.
constexpr double kSameLevel = 0.15;
/// Plateaus that differ by less than this are one level: pages and sets bend a real plateau, and no
/// two levels of a chip lie so near.
constexpr double kMerge = 0.25;
/// A stretch shorter than this (in octaves of footprint) is a point on the way, not a level.
constexpr double kShortest = 0.9;
/// Part of the inner points of a stretch that a disturbance may throw off it.
constexpr double kMostOff = 0.25;
/// More footprints than this say nothing more about levels and cost the cube of their number.
constexpr std::size_t kMostFootprints = 400;
/// What a further level must gain over calling its points transitions.
constexpr double kPenalty = 0.6;

struct Stretch {
  std::size_t begin = 0, end = 0;  ///< half open
};

double middle(const Curve& points, const Stretch& stretch) {
  std::vector<double> values;
  for (std::size_t i = stretch.begin; i < stretch.end; ++i) values.push_back(*points[i].y.value);
  return *median(values);
}

/// One level if both ends and the bulk of what lies between them are within kSameLevel.
bool level(const Curve& points, const Stretch& stretch, double noise) {
  const std::size_t n = stretch.end - stretch.begin;
  if (n < 2 || std::log2(points[stretch.end - 1].x / points[stretch.begin].x) < kShortest)
    return false;
  const double centre = middle(points, stretch);
  const double reach = std::log1p(kSameLevel) / 2 + noise;
  const auto off = [&](std::size_t i) {
    return std::abs(std::log(*points[i].y.value / centre)) > reach;
  };
  if (off(stretch.begin) || off(stretch.end - 1)) return false;
  std::size_t count = 0;
  for (std::size_t i = stretch.begin; i < stretch.end; ++i) {
    if (off(i)) ++count;
  }
  return static_cast<double>(count) <= kMostOff * static_cast<double>(n - 2);
}

}  // namespace

MemoryLevels find_levels(const Curve& latency) {
  Curve points;
  std::vector<double> errors;
  for (const CurvePoint& point : latency) {
    if (!point.y.value || *point.y.value <= 0 || point.x <= 0) continue;
    points.push_back(point);
    errors.push_back(point.spread().value_or(0.0) * 1.2533 /
                     std::sqrt(static_cast<double>(point.samples.size())));
  }
  if (points.size() > kMostFootprints) {
    const std::size_t every = points.size() / kMostFootprints + 1;
    Curve fewer;
    for (std::size_t i = 0; i < points.size(); i += every) fewer.push_back(points[i]);
    points = std::move(fewer);
  }
  MemoryLevels result;
  if (points.size() < 3) {
    result.cannot_tell = true;
    return result;
  }
  // Noise widens what one level may span, but never so far that two levels of a real chip merge.
  // Few samples hide it: how far points lie off the middle of their neighbours shows it as well.
  std::vector<double> scatter;
  for (std::size_t i = 1; i + 1 < points.size(); ++i) {
    const double between = std::sqrt(*points[i - 1].y.value * *points[i + 1].y.value);
    scatter.push_back(1.4826 * std::abs(std::log(*points[i].y.value / between)) / std::sqrt(1.5));
  }
  const double noise = std::min(0.05, std::max(*median(errors), *median(scatter)));

  // The set of disjoint stretches that covers most points at kPenalty each.
  const std::size_t n = points.size();
  std::vector<double> best(n + 1, 0.0);
  std::vector<std::size_t> from(n + 1, 0);
  for (std::size_t end = 1; end <= n; ++end) {
    best[end] = best[end - 1];
    from[end] = end;  // end itself: the point is on the way
    for (std::size_t begin = 0; begin + 1 < end; ++begin) {
      if (!level(points, {begin, end}, noise)) continue;
      const double score = best[begin] + static_cast<double>(end - begin) - kPenalty;
      if (score > best[end]) {
        best[end] = score;
        from[end] = begin;
      }
    }
  }
  std::vector<Stretch> stretches;
  for (std::size_t end = n; end > 0;) {
    if (from[end] == end) {
      --end;
    } else {
      stretches.push_back({from[end], end});
      end = from[end];
    }
  }
  std::reverse(stretches.begin(), stretches.end());

  // A level is slower than the one before by more than kMerge, and most of its samples are slower
  // than most of the other's, or the two are the same level.
  const auto quarter = [&](const Stretch& stretch, double p) {
    std::vector<double> samples;
    for (std::size_t i = stretch.begin; i < stretch.end; ++i) {
      samples.insert(samples.end(), points[i].samples.begin(), points[i].samples.end());
    }
    return quantile(samples, p).value_or(0);
  };
  std::vector<Stretch> merged;
  for (const Stretch& stretch : stretches) {
    if (!merged.empty() &&
        (middle(points, stretch) < (1 + kMerge) * middle(points, merged.back()) ||
         quarter(stretch, 0.25) <= quarter(merged.back(), 0.75))) {
      merged.back().end = stretch.end;
    } else {
      merged.push_back(stretch);
    }
  }
  for (std::size_t k = 0; k < merged.size(); ++k) {
    const Stretch& stretch = merged[k];
    MemoryPlateau plateau;
    plateau.first = points[stretch.begin].x;
    plateau.last = points[stretch.end - 1].x;
    // Caches overflow set by set: up to the next plateau the capacity may lie anywhere.
    if (k + 1 < merged.size()) {
      plateau.next = points[merged[k + 1].begin].x;
    } else if (stretch.end < n) {
      plateau.next = points[stretch.end].x;
    }
    plateau.points = static_cast<int>(stretch.end - stretch.begin);
    // Footprints on one plateau differ by more than their samples do, so pooling the samples would
    // make the interval far too narrow: it is what holds every footprint's own interval.
    std::vector<double> middles;
    std::optional<Interval> whole;
    bool every = true;
    for (std::size_t i = stretch.begin; i < stretch.end; ++i) {
      middles.push_back(*points[i].y.value);
      plateau.latency.n += points[i].y.n;
      const std::optional<Interval>& one = points[i].y.interval;
      every = every && one.has_value();
      if (!one) continue;
      whole =
          whole ? Interval{std::min(whole->low, one->low), std::max(whole->high, one->high)} : *one;
    }
    plateau.latency.value = median(middles);
    if (every) plateau.latency.interval = whole;
    result.plateaus.push_back(plateau);
  }
  return result;
}

}  // namespace sonde
