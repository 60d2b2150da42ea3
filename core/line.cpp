#include "core/line.h"

namespace sonde {

RelativeLine fit_relative_line(std::span<const LinePoint> points) {
  // About the weighted mean: sums of squares of large sizes would cost digits.
  double weights = 0, mean = 0, middle = 0;
  for (const LinePoint& p : points) {
    const double weight = 1 / (p.y * p.y);
    weights += weight;
    mean += weight * p.x;
    middle += weight * p.y;
  }
  mean /= weights;
  middle /= weights;
  double spread = 0, along = 0;
  for (const LinePoint& p : points) {
    const double weight = 1 / (p.y * p.y);
    spread += weight * (p.x - mean) * (p.x - mean);
    along += weight * (p.x - mean) * (p.y - middle);
  }
  RelativeLine line;
  line.b = along / spread;
  line.a = middle - line.b * mean;
  for (const LinePoint& p : points) {
    const double off = (p.y - line.at(p.x)) / p.y;
    line.residual += off * off;
  }
  line.variance_b = 1 / spread;
  line.covariance = -mean / spread;
  line.variance_a = 1 / weights + mean * mean / spread;
  return line;
}

}  // namespace sonde
