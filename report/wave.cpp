#include "report/wave.h"

#include <algorithm>
#include <cmath>

namespace sonde {
namespace {

/// A second wave costs about one more wave; queueing between two neighbouring counts does not.
constexpr double kLeastStep = 0.30;
/// At the end of the tested counts a steep rise and a step look alike: ask for more.
constexpr double kLeastStepAtEnd = 0.50;
/// And the rise before it may explain at most this part of it.
constexpr double kMostExplainedAtEnd = 0.25;
constexpr double kSigmas = 5;

double standard_error(const CurvePoint& point) {
  const double relative = point.spread().value_or(0.0);
  return 1.2533 * relative * *point.y.value / std::sqrt(static_cast<double>(point.samples.size()));
}

bool separated(const CurvePoint& low, const CurvePoint& high) {
  if (!low.y.interval || !high.y.interval) {
    return *std::max_element(low.samples.begin(), low.samples.end()) <
           *std::min_element(high.samples.begin(), high.samples.end());
  }
  return low.y.interval->high < high.y.interval->low;
}

}  // namespace

Wave find_wave(const Curve& latency) {
  Curve points;
  for (const CurvePoint& point : latency) {
    if (point.y.value && *point.y.value > 0) points.push_back(point);
  }
  Wave wave;
  if (points.size() < 3) {
    wave.cannot_tell = true;
    return wave;
  }
  const auto slope = [&](std::size_t i) {
    return (*points[i + 1].y.value - *points[i].y.value) / (points[i + 1].x - points[i].x);
  };
  std::vector<double> excess(points.size() - 1, 0.0);
  double largest = 0;
  for (std::size_t i = 0; i + 1 < points.size(); ++i) {
    const double before = *points[i].y.value;
    const double rise = *points[i + 1].y.value - before;
    const double width = points[i + 1].x - points[i].x;
    double trend = 0;
    if (i > 0) trend = std::max(trend, slope(i - 1));
    const bool right = i + 2 < points.size();
    if (right) trend = std::max(trend, slope(i + 1));
    const double unexplained = rise - trend * width;
    const double noise = std::hypot(standard_error(points[i]), standard_error(points[i + 1]));
    bool step = unexplained >= (right ? kLeastStep : kLeastStepAtEnd) * before &&
                unexplained > kSigmas * noise && separated(points[i], points[i + 1]);
    if (!right) step = step && trend * width <= kMostExplainedAtEnd * rise;
    if (!step) continue;
    excess[i] = unexplained / before;
    largest = std::max(largest, excess[i]);
  }
  // Later waves step too, each by a smaller part: the first of the large steps ends the first wave.
  for (std::size_t i = 0; i < excess.size() && largest > 0; ++i) {
    if (excess[i] < 0.5 * largest) continue;
    wave.found = true;
    wave.last_in = std::llround(points[i].x);
    wave.first_beyond = std::llround(points[i + 1].x);
    wave.step = *points[i + 1].y.value / *points[i].y.value;
    break;
  }
  return wave;
}

}  // namespace sonde
