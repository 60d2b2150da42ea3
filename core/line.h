#pragma once

#include <span>
#include <vector>

namespace sonde {

struct LinePoint {
  double x = 0;
  double y = 0;
};

/// y = a + b x through points of positive y, residuals relative to y (so each point counts alike
/// where the noise is a part of the value).
struct RelativeLine {
  double a = 0, b = 0;
  double residual = 0;  ///< sum of squared relative residuals
  double at(double x) const { return a + b * x; }
  /// Variance of at(x) when each point has a relative variance of one.
  double variance_at(double x) const {
    return variance_a + 2 * x * covariance + x * x * variance_b;
  }
  double variance_a = 0, covariance = 0, variance_b = 0;
};

/// At least two points of different x.
RelativeLine fit_relative_line(std::span<const LinePoint> points);

}  // namespace sonde
