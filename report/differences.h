#pragma once

#include <span>
#include <vector>

#include "core/statistics.h"

namespace sonde {

/// Where the samples of one point lie on a logarithmic scale and how they scatter: a trimmed mean
/// (a fifth off each end, none below eight samples) and the winsorised variance that goes with
/// it (Yuen 1974), so that a few late samples move neither. docs/compare.md says why.
struct LogCentre {
  double middle = 0;     ///< of the logarithms
  double variance = 0;   ///< of one sample; that of `middle` is variance / n
  double freedom = 0;    ///< degrees of freedom of `variance`
  double neighbour = 0;  ///< correlation of samples taken one after the other, corrected for few
  double trend = 0;      ///< squared step from the first half to the second; 1 where there is none
  std::int64_t n = 0;
};

/// `samples` are above zero, in the order taken, at least two.
LogCentre log_centre(std::span<const double> samples);

/// What all points of one probe in one run say of the scatter of any of them.
struct SharedNoise {
  double variance = 0;  ///< typical
  double freedom = 0;   ///< what it is worth beside a point's own; 0: nothing, infinite: all alike
  double stretch = 1;   ///< at least 1: variance of a middle grows by so much, since samples drift
};

/// Empirical Bayes (Smyth 2004), from quartiles so that a few wild points do not decide. Points
/// without spread are left out; of fewer than eight points nothing is shared.
SharedNoise shared_noise(std::span<const LogCentre> points);

/// How much later one point is in a second run.
struct LogDifference {
  double log_ratio = 0;
  double error = 0;    ///< standard error
  double freedom = 0;  ///< of Student's t
  double p = 1;        ///< two-sided, of no difference

  Interval interval() const;  ///< of the logarithm, at kConfidence
  /// One-sided probability of the data if the true logarithm were only `bound` (of either sign).
  double p_beyond(double bound) const;
};

/// Welch's test on the trimmed means. A variance is the point's own joined to the shared one; a
/// point far noisier than its probe is judged by its own alone. nullopt when no scatter is known.
std::optional<LogDifference> log_difference(const LogCentre& a, const SharedNoise& noise_a,
                                            const LogCentre& b, const SharedNoise& noise_b);

/// Which of a family of tests stand when at most a share `rate` of what is claimed may be false
/// (Benjamini and Hochberg 1995).
std::vector<bool> discoveries(std::span<const double> p, double rate);

}  // namespace sonde
