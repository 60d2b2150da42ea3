#include "topology/profile_fit.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "core/statistics.h"

namespace sonde {
namespace {

/// Addresses on either side over which drift is followed.
constexpr Eigen::Index kDriftReach = 15;
/// A sample beyond so many spreads counts as this many: one late load is not a structure.
constexpr double kClip = 4;
/// A core's factor on the common profile (another clock) is believed within these, and its change
/// along the visiting order within kMostGainDrift: beyond it is structure.
constexpr double kLeastGain = 0.5, kMostGain = 2, kMostGainDrift = 0.2;
/// Differences below this fraction of the latency are rounding.
constexpr double kRounding = 1e-9;
/// Addresses from which the noise of a core is estimated: its error is then 6 %.
constexpr Eigen::Index kNoiseAddresses = 256;
constexpr double kSameNoise = 1.5;

double middle_of(std::vector<double>& values) {
  if (values.empty()) return 0;
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

std::vector<double> present(const Eigen::ArrayXd& values) {
  std::vector<double> kept;
  kept.reserve(static_cast<std::size_t>(values.size()));
  for (double value : values) {
    if (!std::isnan(value)) kept.push_back(value);
  }
  return kept;
}

/// Noise of each core: how far it is from the core most like it. Structure does not count as long
/// as a core has one like it.
Eigen::ArrayXd noise_of(const Profiles& profiles) {
  const Eigen::Index n = profiles.cols();
  const Eigen::Index step = std::max<Eigen::Index>(1, profiles.rows() / kNoiseAddresses);
  const Profiles some = profiles(Eigen::seq(0, Eigen::last, step), Eigen::all);
  Eigen::ArrayXd nearest = Eigen::ArrayXd::Constant(n, std::nan(""));
  for (Eigen::Index i = 0; i < n; ++i) {
    for (Eigen::Index j = 0; j < i; ++j) {
      std::vector<double> apart = present(some.col(i) - some.col(j));
      const double middle = middle_of(apart);
      for (double& value : apart) value = std::abs(value - middle);
      const double spread = 1.4826 * middle_of(apart) / std::sqrt(2.0);
      for (Eigen::Index c : {i, j}) {
        if (std::isnan(nearest(c)) || spread < nearest(c)) nearest(c) = spread;
      }
    }
  }
  return nearest;
}

/// One over the noise squared; cores of about the usual noise weigh the same, because an estimate
/// that scatters would make some cores' own noise the common part.
Eigen::ArrayXd weights_from(const Profiles& profiles, double rounding) {
  Eigen::ArrayXd noise = noise_of(profiles);
  std::vector<double> noises = present(noise);
  const double usual = middle_of(noises);
  if (usual <= rounding) return Eigen::ArrayXd::Ones(noise.size());
  for (double& value : noise) {
    if (std::isnan(value) || (value < kSameNoise * usual && value > usual / kSameNoise))
      value = usual;
    // Two cores that are alike to the last digit are not infinitely good witnesses.
    value = std::max(value / usual, 0.25);
  }
  return noise.square().inverse();
}

/// Straight line of `y` on `x` (or only its mean, without `slope`), from running sums.
struct Line {
  double n = 0, x = 0, y = 0, xx = 0, xy = 0;
  void add(double px, double py, double sign) {
    if (std::isnan(px) || std::isnan(py)) return;
    n += sign;
    x += sign * px;
    y += sign * py;
    xx += sign * px * px;
    xy += sign * px * py;
  }
  double slope() const {
    const double var = xx - x * x / n;
    return n > 2 && var > 0 ? (xy - x * y / n) / var : 0;
  }
};

Eigen::ArrayXd cut(const Eigen::ArrayXd& values) {
  const double limit = kClip * spread_of(values);
  return values.isNaN().select(values, values.max(-limit).min(limit));
}

/// Less a line on `x` fitted to the neighbours of each value, its slope within `most_slope`; with 0
/// less their mean. The window reaches equally far to both sides, so that a steady drift leaves
/// nothing even at the ends.
Eigen::ArrayXd without_drift(const Eigen::ArrayXd& values, const Eigen::ArrayXd& x,
                             double most_slope) {
  const Eigen::Index n = values.size();
  Eigen::ArrayXd result = values;
  Line line;
  Eigen::Index first = 0, last = 0;  // [first, last) is in the sums
  for (Eigen::Index i = 0; i < n; ++i) {
    const Eigen::Index reach = std::min({kDriftReach, i, n - 1 - i});
    for (; last < i + reach + 1; ++last) line.add(x(last), values(last), 1);
    for (; first < i - reach; ++first) line.add(x(first), values(first), -1);
    for (; last > i + reach + 1; --last) line.add(x(last - 1), values(last - 1), -1);
    if (std::isnan(values(i)) || std::isnan(x(i)) || line.n < 1) continue;
    const double slope = std::clamp(line.slope(), -most_slope, most_slope);
    result(i) -= line.y / line.n + slope * (x(i) - line.x / line.n);
  }
  return result;
}

/// A core's profile less its factor on the common one and less what drifts, in the common one's
/// units. `left` is what is left at a factor of 1.
Eigen::ArrayXd without_gain(Eigen::ArrayXd left, const Eigen::ArrayXd& common) {
  double gain = 1;
  const Eigen::ArrayXd whole = left;
  // The first fit is bent by wild samples; the second has them cut.
  for (int pass = 0; pass < 2; ++pass) {
    const Eigen::ArrayXd tame = cut(left) + (gain - 1) * common;
    Line line;
    for (Eigen::Index a = 0; a < tame.size(); ++a) line.add(common(a), tame(a), 1);
    gain = std::clamp(1 + line.slope(), kLeastGain, kMostGain);
    left = whole - (gain - 1) * common;
  }
  return without_drift(cut(left), common, kMostGainDrift) / gain;
}

/// Root mean square.
double size_of(const Eigen::ArrayXd& values) {
  const std::vector<double> there = present(values);
  double squares = 0;
  for (double value : there) squares += value * value;
  return there.empty() ? 0 : std::sqrt(squares / static_cast<double>(there.size()));
}

}  // namespace

double spread_of(const Eigen::ArrayXd& values) {
  std::vector<double> sizes = present(values.abs());
  const double middle = middle_of(sizes);
  if (middle > 0 || sizes.empty()) return 1.4826 * middle;
  return size_of(values);
}

Eigen::VectorXd at_unit_size(const Eigen::ArrayXd& values, double rounding) {
  const double spread = spread_of(values);
  if (spread <= rounding) return Eigen::VectorXd::Zero(values.size());
  const Eigen::ArrayXd scaled =
      values.isNaN().select(0.0, (values / spread).max(-kClip).min(kClip));
  const double size = std::sqrt(scaled.square().mean());
  return scaled.matrix() / (size > 0 ? size : 1);
}

Eigen::ArrayXd common_part(const Profiles& profiles, const Eigen::ArrayXd& weight,
                           const std::vector<Eigen::Index>& cores) {
  Eigen::ArrayXd common(profiles.rows());
  std::vector<std::pair<double, double>> values;  // value, weight
  for (Eigen::Index a = 0; a < profiles.rows(); ++a) {
    values.clear();
    double total = 0;
    for (Eigen::Index c : cores) {
      if (std::isnan(profiles(a, c))) continue;
      values.emplace_back(profiles(a, c), weight(c));
      total += weight(c);
    }
    std::sort(values.begin(), values.end());
    double passed = 0, sum = 0, counted = 0;
    for (const auto& [value, w] : values) {
      // The part of this value's weight that lies in the middle half.
      const double inside = std::min(passed + w, 0.75 * total) - std::max(passed, 0.25 * total);
      passed += w;
      if (inside <= 0) continue;
      sum += inside * value;
      counted += inside;
    }
    common(a) = counted > 0 ? sum / counted : std::nan("");
  }
  return common;
}

ProfileFit fit_profiles(const Profiles& latency_ns) {
  Profiles profiles = latency_ns;
  std::vector<double> levels;
  for (auto core : profiles.colwise()) {
    std::vector<double> values = present(core);
    levels.push_back(middle_of(values));
    core -= levels.back();
  }
  ProfileFit fit;
  fit.rounding = kRounding * median(levels).value_or(0);
  std::vector<Eigen::Index> every(static_cast<std::size_t>(profiles.cols()));
  std::iota(every.begin(), every.end(), 0);
  const Eigen::ArrayXd common = common_part(profiles, Eigen::ArrayXd::Ones(profiles.cols()), every);
  fit.rest.resize(profiles.rows(), profiles.cols());
  std::vector<double> spreads;
  for (Eigen::Index c = 0; c < profiles.cols(); ++c) {
    const Eigen::ArrayXd apart = profiles.col(c) - common;
    std::vector<double> values = present(apart);
    fit.rest.col(c) = without_drift(cut(apart - middle_of(values)), common, 0);
    spreads.push_back(spread_of(fit.rest.col(c)));
  }
  // A factor can be told only where the common profile stands out of what is left.
  const Eigen::ArrayXd pattern = without_drift(common, common, 0);
  const double usual = median(spreads).value_or(0);
  if (size_of(pattern) > std::max(usual / 2, fit.rounding)) {
    for (auto core : fit.rest.colwise()) core = without_gain(core, pattern);
  }
  fit.weight = weights_from(fit.rest, fit.rounding);
  return fit;
}

}  // namespace sonde
