#include "core/decide.h"

#include <algorithm>
#include <cmath>

namespace sonde {

double normal_above(double p) {
  double low = 0, high = 40;
  for (int step = 0; step < 60; ++step) {
    const double middle = (low + high) / 2;
    (std::erfc(middle / std::sqrt(2.0)) / 2 > p ? low : high) = middle;
  }
  return high;
}

double student_above(double p, double freedom) {
  const double z = normal_above(p);
  const double z3 = z * z * z, z5 = z3 * z * z, z7 = z5 * z * z;
  return z + (z3 + z) / (4 * freedom) + (5 * z5 + 16 * z3 + 3 * z) / (96 * freedom * freedom) +
         (3 * z7 + 19 * z5 + 17 * z3 - 15 * z) / (384 * freedom * freedom * freedom);
}

Decision decide(double excess, double error, std::size_t tests) {
  constexpr double kFamily = 0.05, kOne = 0.01;
  static const double one = normal_above(kOne);
  if (excess <= one * error) return Decision::unaffected;
  const auto count = static_cast<double>(std::max<std::size_t>(tests, 1));
  const double all = std::max(one, normal_above(kFamily / count));
  return excess > all * error ? Decision::affected : Decision::undecided;
}

}  // namespace sonde
