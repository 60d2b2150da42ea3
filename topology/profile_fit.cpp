#include "topology/profile_fit.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "core/statistics.h"

namespace sonde {
namespace {

using Series = std::vector<double>;

/// Addresses on either side over which drift is followed.
constexpr std::size_t kDriftReach = 15;
/// A sample beyond so many spreads counts as this many: one late load is not a structure.
constexpr double kClip = 4;
/// A core's factor on the common profile (another clock) lies between these; a fit beyond them is
/// structure (two dies that see near and far the other way round) and no factor is believed. Its
/// change along the visiting order is believed within kMostGainDrift.
constexpr double kLeastGain = 0.5, kMostGain = 2, kMostGainDrift = 0.2;
/// Differences below this fraction of the latency are rounding.
constexpr double kRounding = 1e-9;

double middle_of(Series& values) {
  if (values.empty()) return 0;
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

Series present(std::span<const double> values) {
  Series kept;
  kept.reserve(values.size());
  for (double value : values) {
    if (!std::isnan(value)) kept.push_back(value);
  }
  return kept;
}

/// Root mean square.
double size_of(std::span<const double> values) {
  double squares = 0, count = 0;
  for (double value : values) {
    if (std::isnan(value)) continue;
    squares += value * value;
    ++count;
  }
  return count > 0 ? std::sqrt(squares / count) : 0;
}

/// Robust standard deviation about zero; the plain one where more than half of the values are 0.
double spread_of(std::span<const double> values) {
  Series sizes = present(values);
  for (double& value : sizes) value = std::abs(value);
  const double middle = middle_of(sizes);
  return middle > 0 ? 1.4826 * middle : size_of(values);
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

Series cut(Series values) {
  const double limit = kClip * spread_of(values);
  for (double& value : values) {
    if (!std::isnan(value)) value = std::clamp(value, -limit, limit);
  }
  return values;
}

/// Less a line on `x` fitted to the neighbours of each value, its slope within `most_slope`; with 0
/// less their mean. The window reaches equally far to both sides, so that a steady drift leaves
/// nothing even at the ends.
Series without_drift(const Series& values, const Series& x, double most_slope) {
  const std::size_t n = values.size();
  Series result = values;
  Line line;
  std::size_t first = 0, last = 0;  // [first, last) is in the sums
  for (std::size_t i = 0; i < n; ++i) {
    const std::size_t reach = std::min({kDriftReach, i, n - 1 - i});
    for (; last < i + reach + 1; ++last) line.add(x[last], values[last], 1);
    for (; first < i - reach; ++first) line.add(x[first], values[first], -1);
    if (std::isnan(values[i]) || std::isnan(x[i]) || line.n < 1) continue;
    const double slope = std::clamp(line.slope(), -most_slope, most_slope);
    result[i] -= line.y / line.n + slope * (x[i] - line.x / line.n);
  }
  return result;
}

/// A core's profile less its factor on the common one and less what drifts, in the common one's
/// units. `left` is what is left at a factor of 1.
Series without_gain(Series left, const Series& common) {
  double gain = 1;
  const Series whole = left;
  // The first fit is bent by wild samples; the second has them cut.
  for (int pass = 0; pass < 2; ++pass) {
    const Series tame = cut(left);
    Line line;
    for (std::size_t a = 0; a < tame.size(); ++a) {
      line.add(common[a], tame[a] + (gain - 1) * common[a], 1);
    }
    gain = 1 + line.slope();
    if (gain < kLeastGain || gain > kMostGain) gain = 1;
    for (std::size_t a = 0; a < left.size(); ++a) left[a] = whole[a] - (gain - 1) * common[a];
  }
  left = without_drift(cut(std::move(left)), common, kMostGainDrift);
  for (double& value : left) value /= gain;
  return left;
}

/// What all cores have in common at each address: the mean of the middle half, equal to the mean
/// for two equal groups and deaf to a few wild cores.
Series common_part(const Profiles& profiles) {
  Series common(profiles.rows()), values;
  for (std::size_t a = 0; a < profiles.rows(); ++a) {
    values.clear();
    for (std::size_t c = 0; c < profiles.cols(); ++c) {
      if (!std::isnan(profiles(a, c))) values.push_back(profiles(a, c));
    }
    std::sort(values.begin(), values.end());
    const auto total = static_cast<double>(values.size());
    double passed = 0, sum = 0, counted = 0;
    for (double value : values) {
      // The part of this value that lies in the middle half.
      const double inside = std::min(passed + 1, 0.75 * total) - std::max(passed, 0.25 * total);
      passed += 1;
      if (inside <= 0) continue;
      sum += inside * value;
      counted += inside;
    }
    common[a] = counted > 0 ? sum / counted : std::nan("");
  }
  return common;
}

void store(const Series& values, std::span<double> column) {
  std::copy(values.begin(), values.end(), column.begin());
}

}  // namespace

ProfileFit fit_profiles(const Profiles& latency_ns) {
  Profiles profiles = latency_ns;
  Series levels;
  for (std::size_t c = 0; c < profiles.cols(); ++c) {
    Series values = present(profiles.column(c));
    levels.push_back(middle_of(values));
    for (double& value : profiles.column(c)) value -= levels.back();
  }
  ProfileFit fit;
  fit.rounding = kRounding * median(levels).value_or(0);
  const Series common = common_part(profiles);
  Series spreads;
  for (std::size_t c = 0; c < profiles.cols(); ++c) {
    Series apart(profiles.rows());
    for (std::size_t a = 0; a < apart.size(); ++a) apart[a] = profiles(a, c) - common[a];
    Series values = present(apart);
    const double middle = middle_of(values);
    for (double& value : apart) value -= middle;
    store(without_drift(cut(std::move(apart)), common, 0), profiles.column(c));
    spreads.push_back(spread_of(profiles.column(c)));
  }
  // A factor can be told only where the common profile stands out of what is left.
  const Series pattern = without_drift(common, common, 0);
  if (size_of(pattern) > std::max(median(spreads).value_or(0) / 2, fit.rounding)) {
    for (std::size_t c = 0; c < profiles.cols(); ++c) {
      const auto column = profiles.column(c);
      store(without_gain({column.begin(), column.end()}, pattern), column);
    }
  }
  // Wild samples of what is left are cut once more: later sums of squares are not robust.
  for (std::size_t c = 0; c < profiles.cols(); ++c) {
    const auto column = profiles.column(c);
    store(cut({column.begin(), column.end()}), column);
  }
  fit.rest = std::move(profiles);
  return fit;
}

}  // namespace sonde
