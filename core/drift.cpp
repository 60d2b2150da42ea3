#include "core/drift.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <optional>

#include "core/decide.h"
#include "core/statistics.h"

namespace sonde {
namespace {

constexpr double kMostNeighbour = 0.9;
constexpr double kMostDecay = 0.95;
/// Standard errors by which the second neighbour must exceed what the first explains.
constexpr double kSlowerThanFirst = 2;
/// Part of the scatter that may be in the mean; above it too little is left to tell.
constexpr double kMostMoved = 0.5;
constexpr int kPasses = 12;
constexpr double kTail = (1 - kConfidence) / 2;

/// Ranks about their mean, equal samples sharing one.
std::vector<double> centred_ranks(const std::vector<double>& samples) {
  const std::size_t n = samples.size();
  std::vector<std::size_t> order(n);
  for (std::size_t i = 0; i < n; ++i) order[i] = i;
  std::sort(order.begin(), order.end(),
            [&](std::size_t a, std::size_t b) { return samples[a] < samples[b]; });
  std::vector<double> ranks(n);
  for (std::size_t from = 0; from < n;) {
    std::size_t to = from + 1;
    while (to < n && samples[order[to]] == samples[order[from]]) ++to;
    const double shared = (static_cast<double>(from + to) - static_cast<double>(n)) / 2;
    for (std::size_t i = from; i < to; ++i) ranks[order[i]] = shared;
    from = to;
  }
  return ranks;
}

/// Correlation of one point's samples one and two apart.
struct Series {
  double n = 0, first = 0, second = 0;
};

std::optional<Series> correlate(const std::vector<double>& samples) {
  if (static_cast<std::int64_t>(samples.size()) < kFewestSamples) return std::nullopt;
  const std::vector<double> ranks = centred_ranks(samples);
  double squares = 0, first = 0, second = 0;
  for (std::size_t i = 0; i < ranks.size(); ++i) {
    squares += ranks[i] * ranks[i];
    if (i >= 1) first += ranks[i] * ranks[i - 1];
    if (i >= 2) second += ranks[i] * ranks[i - 2];
  }
  if (squares == 0) return std::nullopt;
  return Series{static_cast<double>(samples.size()), first / squares, second / squares};
}

/// Variance of the mean of n samples, in units of that of independent ones.
double mean_variance(const Drift& drift, double n) {
  double variance = 1, correlation = drift.neighbour;
  for (double k = 1; k < n && correlation > 1e-4; ++k, correlation *= drift.decay) {
    variance += 2 * (1 - k / n) * correlation;
  }
  return variance;
}

}  // namespace

Drift measure_drift(std::span<const std::vector<double>> points) {
  std::vector<Series> all;
  double samples = 0, first = 0, second = 0;
  for (const std::vector<double>& point : points) {
    const auto series = correlate(point);
    if (!series) continue;
    all.push_back(*series);
    samples += series->n;
    first += series->n * series->first;
    second += series->n * series->second;
  }
  if (all.empty()) return {};
  first /= samples;
  second /= samples;
  const auto count = static_cast<double>(all.size());
  const double mean_n = samples / count;
  // Points that wander together agree more than chance lets them: their mean is known less well.
  const double own = 1 - first * first;
  double shared = 1;
  if (all.size() > 1) {
    double between = 0;
    for (const Series& s : all) between += s.n * (s.first - first) * (s.first - first);
    shared = std::clamp(1 - between / (count - 1) / own, 0.0, 1.0);
  }
  const double error = std::sqrt(own / mean_n * (shared + (1 - shared) / count));
  // A series that wanders takes its mean along: its own correlation reads low by what the mean
  // moves, which follows from the correlation.
  const double allowance = kDriftAllowance * error;
  Drift drift;
  for (int pass = 0; pass < kPasses; ++pass) {
    const double moved = std::min(kMostMoved, mean_variance(drift, mean_n) / mean_n);
    const auto corrected = [&](double seen, double apart) {
      const double ranks = seen / (1 - apart / mean_n) * (1 - moved) + moved;
      return 2 * std::sin(std::numbers::pi / 6 * ranks);  // of the values, where they are normal
    };
    drift.neighbour = std::clamp(corrected(first, 1) + allowance, 0.0, kMostNeighbour);
    drift.decay = drift.neighbour;
    const double next = corrected(second, 2);
    if (next - drift.neighbour * drift.neighbour > kSlowerThanFirst * error) {
      drift.decay = std::clamp(next / drift.neighbour, drift.decay, kMostDecay);
    }
  }
  return drift;
}

double widening(const Drift& drift, std::int64_t n) {
  if (drift.neighbour <= 0 || n < kFewestSamples) return 1;
  const auto count = static_cast<double>(n);
  // Variance of a median and of a mean in units of that of independent normal samples: the first by
  // the correlation of signs.
  double of_median = 1, of_mean = 1, correlation = drift.neighbour;
  for (std::int64_t k = 1; k < n && correlation > 1e-4; ++k, correlation *= drift.decay) {
    const double pairs = 2 * (1 - static_cast<double>(k) / count);
    of_median += pairs * 2 / std::numbers::pi * std::asin(correlation);
    of_mean += pairs * correlation;
  }
  const double seen = std::max(0.3, 1 - (of_mean - 1) / (count - 1));  // part of the scatter
  const double freedom = std::max(2.0, count / of_median - 1);
  return std::sqrt(of_median / seen) * student_above(kTail, freedom) /
         student_above(kTail, count - 1);
}

}  // namespace sonde
