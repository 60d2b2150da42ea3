#include "core/statistics.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <numbers>

#include "core/rng.h"

namespace sonde {
namespace {

double quantile_of_sorted(const std::vector<double>& sorted, double p) {
  const double position = p * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<std::size_t>(position);
  if (below + 1 >= sorted.size()) return sorted.back();
  const double part = position - static_cast<double>(below);
  return sorted[below] + part * (sorted[below + 1] - sorted[below]);
}

std::vector<double> sorted_copy(std::span<const double> samples) {
  std::vector<double> sorted(samples.begin(), samples.end());
  std::sort(sorted.begin(), sorted.end());
  return sorted;
}

/// Confidence that the median lies between the d-th smallest and the d-th largest of n samples,
/// 1 - 2 P(Binomial(n, 1/2) < d), for the largest d that reaches `confidence` and for d + 1.
struct Ranks {
  std::int64_t d = 0;  ///< 0: not even the extremes reach it
  double outer = 0;    ///< confidence of d
  double inner = 0;    ///< confidence of d + 1
};

Ranks find_ranks(std::int64_t n, double confidence) {
  // Term k is C(n, k) / 2^n, kept as a logarithm because 2^-n underflows beyond n = 1074.
  double log_term = -static_cast<double>(n) * std::log(2.0);
  Ranks ranks;
  double below = 0;  // P(Binomial < d)
  for (std::int64_t d = 1; 2 * d <= n + 1; ++d) {
    below += std::exp(log_term);
    log_term += std::log(static_cast<double>(n - d + 1) / static_cast<double>(d));
    const double reached = 1 - 2 * below;
    if (reached < confidence) {
      ranks.inner = reached;
      break;
    }
    ranks.d = d;
    ranks.outer = reached;
  }
  return ranks;
}

}  // namespace

std::optional<double> quantile(std::span<const double> samples, double p) {
  if (samples.empty()) return std::nullopt;
  return quantile_of_sorted(sorted_copy(samples), p);
}

std::optional<double> median(std::span<const double> samples) { return quantile(samples, 0.5); }

std::optional<double> mad(std::span<const double> samples) {
  if (samples.size() < 2) return std::nullopt;
  const double center = *median(samples);
  std::vector<double> deviations;
  deviations.reserve(samples.size());
  for (double x : samples) deviations.push_back(std::abs(x - center));
  return median(deviations);
}

std::optional<double> robust_deviation(std::span<const double> samples) {
  if (samples.size() < 4) return std::nullopt;  // their MAD says next to nothing
  const std::optional<double> deviation = mad(samples);
  if (!deviation) return std::nullopt;
  const auto n = static_cast<double>(samples.size());
  return 1.4826 * *deviation * n / (n - 0.8);
}

double median_deviation(std::int64_t n) {
  const auto count = static_cast<double>(n);
  const double efficiency =
      std::min(1.0, 2 / std::numbers::pi + (n % 2 == 0 ? 0.85 : 0.28) / count);
  return 1 / std::sqrt(count * efficiency);
}

std::optional<Interval> median_interval(std::span<const double> samples, double confidence) {
  const auto n = static_cast<std::int64_t>(samples.size());
  if (n < kFewestSamples) return std::nullopt;
  const Ranks ranks = find_ranks(n, confidence);
  const std::int64_t d = ranks.d;
  if (d == 0) return std::nullopt;
  const std::vector<double> x = sorted_copy(samples);
  const auto at = [&](std::int64_t rank) { return x[static_cast<std::size_t>(rank - 1)]; };
  if (2 * (d + 1) > n + 1) return Interval{at(d), at(n - d + 1)};
  const double share = (ranks.outer - confidence) / (ranks.outer - ranks.inner);
  const auto nd = static_cast<double>(n);
  const auto dd = static_cast<double>(d);
  const double lambda = (nd - dd) * share / (dd + (nd - 2 * dd) * share);
  // Written so that equal samples give exactly that value.
  return Interval{at(d) + lambda * (at(d + 1) - at(d)),
                  at(n - d + 1) - lambda * (at(n - d + 1) - at(n - d))};
}

namespace {

/// Medians of resamples made of blocks of neighbours. Nearly all of them lie among the middle
/// values, so of a block only those are gathered; how many lie below is known from sums over
/// positions. A resample whose median lies outside is drawn whole: the result is the same to the
/// bit.
class BlockMedians {
 public:
  explicit BlockMedians(std::span<const double> samples)
      : samples_(samples), n_(samples.size()), drawn_(n_) {
    constexpr std::size_t kFewest = 256;  // below, drawing whole is as fast
    if (n_ < kFewest) return;
    std::vector<double> sorted(samples.begin(), samples.end());
    // A block's samples may all be alike: then a median moves by up to n^(3/4) / 2 ranks (one
    // sigma).
    const auto reach = static_cast<std::size_t>(std::pow(static_cast<double>(n_), 0.75));
    const std::size_t half = n_ / 2;
    const auto value_at = [&](std::size_t rank) {
      const auto at = sorted.begin() + static_cast<std::ptrdiff_t>(rank);
      std::nth_element(sorted.begin(), at, sorted.end());
      return *at;
    };
    const double low = value_at(half - std::min(half, reach));
    const double high = value_at(std::min(n_ - 1, half + reach));
    below_.reserve(n_ + 1);
    inside_.reserve(n_ + 1);
    for (const double value : samples) {
      below_.push_back(smaller_);
      inside_.push_back(middle_.size());
      if (value < low) {
        ++smaller_;
      } else if (value <= high) {
        middle_.push_back(value);
      }
    }
    below_.push_back(smaller_);
    inside_.push_back(middle_.size());
  }

  double next(Rng& rng, std::size_t block) {
    starts_.clear();
    for (std::size_t filled = 0; filled < n_; filled += std::min(block, n_ - filled)) {
      starts_.push_back(static_cast<std::size_t>(rng.below(n_)));
    }
    const std::size_t half = n_ / 2;
    if (!below_.empty()) {
      std::size_t smaller = 0, gathered = 0;
      each_piece(block, [&](std::size_t from, std::size_t to) {
        smaller += below_[to] - below_[from];
        const std::size_t first = inside_[from], count = inside_[to] - first;
        std::copy_n(middle_.begin() + static_cast<std::ptrdiff_t>(first), count,
                    drawn_.begin() + static_cast<std::ptrdiff_t>(gathered));
        gathered += count;
      });
      if (smaller < half && half < smaller + gathered) return middle(gathered, half - smaller);
    }
    std::size_t filled = 0;
    each_piece(block, [&](std::size_t from, std::size_t to) {
      std::copy(samples_.begin() + static_cast<std::ptrdiff_t>(from),
                samples_.begin() + static_cast<std::ptrdiff_t>(to),
                drawn_.begin() + static_cast<std::ptrdiff_t>(filled));
      filled += to - from;
    });
    return middle(n_, half);
  }

 private:
  /// The blocks of one resample, those that run over the end in two pieces.
  template <class Take>
  void each_piece(std::size_t block, const Take& take) const {
    std::size_t left = n_;
    for (const std::size_t from : starts_) {
      const std::size_t length = std::min(block, left);
      take(from, std::min(n_, from + length));
      if (from + length > n_) take(0, from + length - n_);
      left -= length;
    }
  }
  /// The median of the resample, the value of rank `half` among the first `count` drawn.
  double middle(std::size_t count, std::size_t half) {
    const auto at = drawn_.begin() + static_cast<std::ptrdiff_t>(half);
    std::nth_element(drawn_.begin(), at, drawn_.begin() + static_cast<std::ptrdiff_t>(count));
    if (n_ % 2 != 0) return *at;
    return (*at + *std::max_element(drawn_.begin(), at)) / 2;
  }

  std::span<const double> samples_;
  std::size_t n_;
  std::vector<double> drawn_, middle_;
  std::vector<std::size_t> starts_, below_, inside_;  // below, inside: before each position
  std::size_t smaller_ = 0;
};

}  // namespace

std::optional<Interval> block_bootstrap_interval(std::span<const double> samples,
                                                 std::uint64_t seed, double confidence,
                                                 int resamples) {
  const std::size_t n = samples.size();
  if (static_cast<std::int64_t>(n) < kFewestSamples || resamples < 1) return std::nullopt;
  const auto block = static_cast<std::size_t>(std::ceil(std::sqrt(static_cast<double>(n))));
  Rng rng(key_of({seed, n}));
  BlockMedians draws(samples);
  std::vector<double> medians(static_cast<std::size_t>(resamples));
  for (double& m : medians) m = draws.next(rng, block);
  std::sort(medians.begin(), medians.end());
  const double tail = (1 - confidence) / 2;
  return Interval{quantile_of_sorted(medians, tail), quantile_of_sorted(medians, 1 - tail)};
}

bool is_look(std::int64_t samples) {
  return std::find(std::begin(kLooks), std::end(kLooks), samples) != std::end(kLooks);
}

Stop decide_stop(std::span<const double> samples, double relative_width, const Sampling& sampling) {
  const auto n = static_cast<std::int64_t>(samples.size());
  if (is_look(n)) {
    const Estimate now = estimate_median(samples, sampling);
    if (now.interval && now.interval->width() <= relative_width * std::abs(*now.value)) {
      return Stop::converged;
    }
  }
  return n >= kMostSamples ? Stop::cap : Stop::more;
}

Estimate estimate_median(std::span<const double> samples, const Sampling& sampling) {
  Estimate estimate;
  estimate.n = static_cast<std::int64_t>(samples.size());
  estimate.value = median(samples);
  const double confidence = sampling.adaptive ? kLookConfidence : kConfidence;
  estimate.interval = median_interval(samples, confidence);
  if (sampling.real && estimate.interval) {
    // Many samples need fewer resamples for the same accuracy of the quantiles, and time is finite.
    constexpr std::size_t kMostDraws = 20'000'000;
    const auto resamples =
        static_cast<int>(std::clamp<std::size_t>(kMostDraws / samples.size(), 200, 1000));
    const auto blocks = block_bootstrap_interval(samples, sampling.seed, confidence, resamples);
    estimate.interval->low = std::min(estimate.interval->low, blocks->low);
    estimate.interval->high = std::max(estimate.interval->high, blocks->high);
  }
  return estimate;
}

}  // namespace sonde
