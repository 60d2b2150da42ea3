#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace sonde {

/// How alike samples of one point are that were taken one after the other: the correlation of two
/// that are k apart is neighbour * decay^(k - 1). Without drift: 0.
struct Drift {
  double neighbour = 0;  ///< in [0, 0.9]
  double decay = 0;      ///< in [0, 0.95]
};

/// Drift that the points of one probe share. `points` holds each point's samples in the order
/// taken; points of fewer than eight samples or of equal ones say nothing. From the correlation of
/// ranks, so that late samples do not decide, corrected for few samples (Marriott and Pope 1954)
/// and raised by kDriftAllowance of its own standard error; points that wander together count as
/// one.
Drift measure_drift(std::span<const std::vector<double>> points);

/// Measured: lower lets a lone series of 27 whose neighbours correlate by 0.5 cover less than 91 %,
/// higher widens the interval of one that does not drift beyond 97 %.
inline constexpr double kDriftAllowance = 0.4;

/// By how much the interval of a median of n samples is wider under drift than without: the samples
/// are worth fewer, they scatter less than they would far apart, and how far they scatter is known
/// less well. At least 1.
double widening(const Drift& drift, std::int64_t n);

}  // namespace sonde
