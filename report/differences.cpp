#include "report/differences.h"

#include <algorithm>
#include <boost/math/distributions/chi_squared.hpp>
#include <boost/math/distributions/fisher_f.hpp>
#include <boost/math/distributions/students_t.hpp>
#include <boost/math/special_functions/trigamma.hpp>
#include <cmath>
#include <limits>
#include <numeric>

namespace sonde {
namespace {

constexpr double kInfinite = std::numeric_limits<double>::infinity();
/// Beyond this a t is a normal distribution to every digit that matters here.
constexpr double kMostFreedom = 1e6;
/// A point whose scatter would be seen in one of a hundred points of its probe has its own.
constexpr double kWild = 0.99;
/// More correlation than this between neighbours leaves too few samples to tell.
constexpr double kMostCorrelation = 0.8;
constexpr std::size_t kFewestShared = 8;
constexpr std::size_t kFewestTrimmed = 8;
/// A winsorised variance scatters like one of so many fewer degrees of freedom (simulated: normal
/// samples, 8 to 60 of them; the shared freedom then comes out infinite, as it should).
constexpr double kWinsorised = 0.9;
/// Quartiles of a normal distribution are so many standard deviations apart.
constexpr double kQuartiles = 1.349;

boost::math::students_t student(double freedom) {
  return boost::math::students_t(std::min(freedom, kMostFreedom));
}

/// x with trigamma(x) = y, by bisection on the logarithm: trigamma falls without end.
double inverse_trigamma(double y) {
  double low = 1e-8, high = 1e8;
  for (int i = 0; i < 200; ++i) {
    const double middle = std::sqrt(low * high);
    (boost::math::trigamma(middle) > y ? low : high) = middle;
  }
  return low;
}

struct OneVariance {
  double variance = 0;
  double freedom = 0;
};

OneVariance join(const LogCentre& own, const SharedNoise& shared) {
  if (shared.freedom <= 0) return {own.variance, own.freedom};
  const double ratio = own.variance / shared.variance;
  const auto wild = [&] {
    return shared.freedom > kMostFreedom
               ? quantile(boost::math::chi_squared(own.freedom), kWild) / own.freedom
               : quantile(boost::math::fisher_f(own.freedom, shared.freedom), kWild);
  };
  if (ratio > 1 && ratio > wild()) return {own.variance, own.freedom};
  if (shared.freedom > kMostFreedom) return {shared.variance, kInfinite};
  const double all = own.freedom + shared.freedom;
  return {(own.freedom * own.variance + shared.freedom * shared.variance) / all, all};
}

}  // namespace

LogCentre log_centre(std::span<const double> samples) {
  std::vector<double> logs;
  for (double sample : samples) logs.push_back(std::log(sample));
  std::vector<double> sorted = logs;
  std::sort(sorted.begin(), sorted.end());
  const std::size_t n = logs.size();
  const std::size_t cut = n < kFewestTrimmed ? 0 : n / 5;
  const auto kept = static_cast<double>(n - 2 * cut);
  LogCentre centre;
  centre.n = static_cast<std::int64_t>(n);
  centre.freedom = cut > 0 ? kWinsorised * (kept - 1) : kept - 1;
  // About the lowest: equal samples give exactly that value and no spread.
  const double base = sorted.front(), low = sorted[cut], high = sorted[n - 1 - cut];
  double sum = 0;
  for (std::size_t i = cut; i < n - cut; ++i) sum += sorted[i] - base;
  centre.middle = base + sum / kept;
  double mean = 0;
  for (double& x : logs) {
    x = std::clamp(x, low, high) - base;
    mean += x / static_cast<double>(n);
  }
  double squares = 0, products = 0, step = 0;
  for (std::size_t i = 0; i < n; ++i) {
    squares += (logs[i] - mean) * (logs[i] - mean);
    if (2 * i + 1 != n) step += 2 * i < n ? logs[i] : -logs[i];
    if (i > 0) products += (logs[i] - mean) * (logs[i - 1] - mean);
  }
  if (low == high) return centre;
  const auto count = static_cast<double>(n);
  centre.variance = count * squares / (kept * (kept - 1));
  centre.neighbour = products / squares + 1 / count;
  // Each half sums n/2 samples, so that the step has the variance of n of them.
  const auto in_step = static_cast<double>(n - n % 2);
  centre.trend = step * step / in_step / (squares / (count - 1));
  return centre;
}

SharedNoise shared_noise(std::span<const LogCentre> points) {
  std::vector<double> scatter;
  double expected = 0, correlation = 0, trend = 0;
  for (const LogCentre& point : points) {
    if (point.variance <= 0) continue;
    const boost::math::chi_squared chance(point.freedom);
    scatter.push_back(std::log(point.variance * point.freedom / quantile(chance, 0.5)));
    const double width = std::log(quantile(chance, 0.75) / quantile(chance, 0.25)) / kQuartiles;
    expected += width * width;
    correlation += point.neighbour;
    trend += point.trend;
  }
  SharedNoise noise;
  if (scatter.size() < kFewestShared) return noise;
  const auto count = static_cast<double>(scatter.size());
  noise.variance = std::exp(*median(scatter));
  const double width = (*quantile(scatter, 0.75) - *quantile(scatter, 0.25)) / kQuartiles;
  const double beyond = width * width - expected / count;
  noise.freedom = beyond > 1e-6 ? 2 * inverse_trigamma(beyond) : kInfinite;
  const double r = std::clamp(correlation / count, 0.0, kMostCorrelation);
  noise.stretch = std::max((1 + r) / (1 - r), trend / count);
  return noise;
}

Interval LogDifference::interval() const {
  const double reach = quantile(student(freedom), (1 + kConfidence) / 2) * error;
  return {log_ratio - reach, log_ratio + reach};
}

double LogDifference::p_beyond(double bound) const {
  const double t = (bound >= 0 ? log_ratio - bound : bound - log_ratio) / error;
  return cdf(complement(student(freedom), t));
}

std::optional<LogDifference> log_difference(const LogCentre& a, const SharedNoise& noise_a,
                                            const LogCentre& b, const SharedNoise& noise_b) {
  const OneVariance of_a = join(a, noise_a), of_b = join(b, noise_b);
  const double part_a = of_a.variance * noise_a.stretch / static_cast<double>(a.n);
  const double part_b = of_b.variance * noise_b.stretch / static_cast<double>(b.n);
  const double total = part_a + part_b;
  if (!(total > 0)) return std::nullopt;
  LogDifference difference;
  difference.log_ratio = b.middle - a.middle;
  difference.error = std::sqrt(total);
  // Welch and Satterthwaite.
  difference.freedom = std::min(
      kMostFreedom,
      total * total / (part_a * part_a / of_a.freedom + part_b * part_b / of_b.freedom + 1e-300));
  difference.p = 2 * cdf(complement(student(difference.freedom),
                                    std::abs(difference.log_ratio) / difference.error));
  return difference;
}

std::vector<bool> discoveries(std::span<const double> p, double rate) {
  std::vector<std::size_t> order(p.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(), [&](std::size_t i, std::size_t j) { return p[i] < p[j]; });
  std::size_t stand = 0;
  for (std::size_t k = 0; k < order.size(); ++k) {
    const double bound = rate * static_cast<double>(k + 1) / static_cast<double>(order.size());
    if (p[order[k]] <= bound) stand = k + 1;
  }
  std::vector<bool> found(p.size(), false);
  for (std::size_t k = 0; k < stand; ++k) found[order[k]] = true;
  return found;
}

}  // namespace sonde
