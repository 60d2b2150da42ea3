#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "core/drift.h"

namespace sonde {

/// Closed interval at a stated confidence.
struct Interval {
  double low = 0;
  double high = 0;
  double width() const { return high - low; }
  bool contains(double x) const { return low <= x && x <= high; }
};

/// A value with its 95 % interval. Either may be unknown: "not enough samples" is a value here
/// (value without interval), never a spread of zero.
struct Estimate {
  std::optional<double> value;
  std::optional<Interval> interval;
  std::int64_t n = 0;
};

inline constexpr double kConfidence = 0.95;
/// Fewest samples that give an interval (measured: a bootstrap of three covers 76 %, see
/// docs/statistics.md).
inline constexpr std::int64_t kFewestSamples = 8;

/// Quantile p in [0,1] with linear interpolation between order statistics (type 7 of Hyndman and
/// Fan 1996). nullopt for no samples.
std::optional<double> quantile(std::span<const double> samples, double p);
std::optional<double> median(std::span<const double> samples);

/// Median absolute deviation from the median, unscaled. nullopt below two samples.
std::optional<double> mad(std::span<const double> samples);

/// Robust standard deviation of one sample: 1.4826 MAD, raised for few samples by n/(n - 0.8),
/// since their MAD is low on average (Croux and Rousseeuw 1992). nullopt below four samples.
std::optional<double> robust_deviation(std::span<const double> samples);

/// Standard deviation of the median of n normal samples of standard deviation one: the square root
/// of 1/(n e), where the efficiency e = 2/pi + 0.85/n (n even) or 2/pi + 0.28/n (n odd) fits the
/// exact values of Hojo (1931) within 1 % from n = 4 on. n of at least 1.
double median_deviation(std::int64_t n);

/// Distribution-free interval of the median from order statistics, interpolated between the two
/// neighbouring ranks to come near the asked confidence (Hettmansperger and Sheather 1986).
/// nullopt below kFewestSamples, or when n samples cannot reach the confidence.
std::optional<Interval> median_interval(std::span<const double> samples,
                                        double confidence = kConfidence);

/// Stopping at fixed looks. Peeking after every sample and stopping at the first narrow interval is
/// biased (measured coverage 80 to 89 % at nominal 95 %), and a few looks still are: of several
/// intervals the one that happens to be narrow is kept. Intervals that leave out 0.037 cover
/// 93 to 97 % whatever the scatter (`make score`, data/score/coverage.csv).
inline constexpr std::int64_t kLooks[] = {8, 12, 18, 27, 40, 60};
inline constexpr std::int64_t kMostSamples = 60;
inline constexpr double kLookConfidence = 0.963;

/// How repeated samples of one point were collected: decides the interval that is honest.
struct Sampling {
  bool adaptive = false;  ///< stopped at a look: intervals widen to kLookConfidence
  Drift drift;            ///< of the points of its probe: intervals widen by it
};

/// True for a count at which a point is looked at.
bool is_look(std::int64_t samples);

/// What a point does after `samples`: more, or stop and why.
enum class Stop { more, converged, cap };
/// `relative_width`: stop when the interval at kLookConfidence, drift left out (it is known when
/// all points are done), is within this fraction of the median (0.02 = 2 %). Below the first look
/// the answer is always `more`.
Stop decide_stop(std::span<const double> samples_in_order, double relative_width);

/// Median with its 95 % interval: that of order statistics, widened by the drift.
Estimate estimate_median(std::span<const double> samples_in_order, const Sampling& sampling);

/// Work over time: the interval turned round.
Estimate rate_of(double work, const Estimate& time);

/// The largest of several estimates; those without a value take no part. It was chosen because
/// chance favoured it too, so low ends reach further down, by how many reach into its interval
/// (Bonferroni), and the highest of them is its own: of equal ones it still holds the value in 95
/// %.
Estimate largest_of(std::span<const Estimate> all);

}  // namespace sonde
