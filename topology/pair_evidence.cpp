#include <algorithm>
#include <cmath>

#include "core/statistics.h"
#include "topology/evidence.h"

namespace sonde {
namespace {

/// Passes of the two-way fit; with a full matrix the second already changes nothing.
constexpr int kPasses = 20;
constexpr double kWild = 2;
/// A level of which rows, columns and finer levels explain all but this share shows nothing.
constexpr double kUnexplained = 1e-6;
constexpr double kMissing = std::numeric_limits<double>::quiet_NaN();

/// Least squares of row and column means over the cells that are there; `cells` becomes what is
/// left.
void take_out_means(Matrix& cells) {
  const std::size_t n = cells.rows();
  std::vector<double> sum(n), count(n);
  for (int pass = 0; pass < kPasses; ++pass) {
    double most = 0;
    std::fill(sum.begin(), sum.end(), 0);
    std::fill(count.begin(), count.end(), 0);
    for (std::size_t j = 0; j < n; ++j) {
      const auto column = cells.column(j);
      double own = 0, own_count = 0;
      for (double value : column) {
        if (std::isnan(value)) continue;
        own += value;
        ++own_count;
      }
      const double mean = own_count > 0 ? own / own_count : 0;
      most = std::max(most, std::abs(mean));
      for (std::size_t i = 0; i < n; ++i) {
        if (std::isnan(column[i])) continue;
        column[i] -= mean;
        sum[i] += column[i];
        ++count[i];
      }
    }
    for (std::size_t i = 0; i < n; ++i) {
      sum[i] = count[i] > 0 ? sum[i] / count[i] : 0;
      most = std::max(most, std::abs(sum[i]));
    }
    for (std::size_t j = 0; j < n; ++j) {
      for (std::size_t i = 0; i < n; ++i) cells(i, j) -= sum[i];
    }
    if (most < 1e-9) return;
  }
}

/// Measured samples of two cores: `there` of one direction, `back` of the other.
struct Pair {
  std::size_t a = 0, b = 0;  // cores
  std::size_t k = 0, l = 0;  // their units, k < l
  std::vector<double> there, back;
};

double middle(std::vector<double>& values) {
  std::sort(values.begin(), values.end());
  return (values[(values.size() - 1) / 2] + values[values.size() / 2]) / 2;
}

/// Means over the pairs of cores of each two units.
class UnitMeans {
 public:
  explicit UnitMeans(std::size_t units) : sum_(units, units), count_(units, units) {}
  void add(const Pair& pair, double value) {
    sum_(pair.k, pair.l) += value;
    ++count_(pair.k, pair.l);
  }
  Similarity means() const {
    const std::size_t n = sum_.rows();
    Similarity result(n, n, kMissing);
    for (std::size_t l = 0; l < n; ++l) {
      for (std::size_t k = 0; k < l; ++k) {
        if (count_(k, l) > 0) result(k, l) = result(l, k) = sum_(k, l) / count_(k, l);
      }
    }
    return result;
  }
  Matrix weights() const {
    const std::size_t n = sum_.rows();
    Matrix result(n, n);
    for (std::size_t l = 0; l < n; ++l) {
      for (std::size_t k = 0; k < l; ++k) result(k, l) = result(l, k) = count_(k, l);
    }
    return result;
  }

 private:
  Matrix sum_, count_;
};

class PairEvidence : public Evidence {
 public:
  PairEvidence(PairSamples samples, double least_noise)
      : samples_(std::move(samples)),
        least_noise_(least_noise),
        cells_(samples_.cores.size(), samples_.cores.size(), kMissing) {
    const std::size_t n = samples_.cores.size();
    for (std::size_t i = 0; i < n; ++i) {
      for (std::size_t j = 0; j < n; ++j) {
        std::vector<double> values = samples_.at(i, j);
        if (i != j && !values.empty()) cells_(i, j) = middle(values);
      }
    }
    tame();
  }

  const std::vector<CoreName>& cores() const override { return samples_.cores; }

  bool one_start() const override { return false; }

  Look look(const Partition& parent, const Partition& groups, const Partition& units,
            const std::vector<Partition>& finer, Own own) const override {
    const Matrix strength = own == Own::none && groups == units
                                ? Matrix(cells_.rows(), cells_.rows())
                                : own_strength(parent, groups, units, finer);
    auto pairs = std::make_shared<std::vector<Pair>>(pairs_less(strength, parent, units));
    const auto count = static_cast<std::size_t>(group_count(units));
    UnitMeans all(count), half_a(count), half_b(count);
    // Which direction goes into which half: by a coin of its own, so that no half prefers victims.
    Rng coin(key_of({pairs->size(), 0x68616c66}));
    for (const Pair& pair : *pairs) {
      const bool swap = coin.below(2) == 1;
      std::vector<double> first = pair.there, second = pair.back;
      std::vector<double> pool = pair.there;
      pool.insert(pool.end(), pair.back.begin(), pair.back.end());
      // All samples together: of two directions of three, two late launches are outvoted.
      const double value = middle(pool);
      if (first.empty() || second.empty()) {
        const std::vector<double> one = first.empty() ? second : first;
        first.clear();
        second.clear();
        for (std::size_t s = 0; s < one.size(); ++s)
          (s % 2 == 0 ? first : second).push_back(one[s]);
      }
      all.add(pair, value);
      if (swap) first.swap(second);
      if (!first.empty()) half_a.add(pair, middle(first));
      if (!second.empty()) half_b.add(pair, middle(second));
    }
    Look result{.all = all.means(),
                .half_a = half_a.means(),
                .half_b = half_b.means(),
                .weight = all.weights(),
                .least_noise = least_noise_};
    result.resample = [pairs, count, noise = least_noise_](Rng& rng) {
      UnitMeans drawn(count);
      for (const Pair& pair : *pairs) drawn.add(pair, draw(pair, noise, rng));
      return drawn.means();
    };
    return result;
  }

 private:
  /// Cuts samples at kWild spreads about the median of their cell: a late launch must not decide a
  /// half that holds one of three.
  void tame() {
    const std::size_t n = samples_.cores.size();
    std::vector<double> off;
    const auto for_repeated = [&](auto use) {
      for (std::size_t i = 0; i < n; ++i) {
        for (std::size_t j = 0; j < n; ++j) {
          if (samples_.at(i, j).size() < 3) continue;
          for (double& value : samples_.at(i, j)) use(value, cells_(i, j));
        }
      }
    };
    for_repeated([&](double value, double centre) {
      if (value != centre) off.push_back(std::abs(value - centre));
    });
    if (off.empty()) return;
    const double most = kWild * 1.4826 * median(off).value_or(0);
    for_repeated([&](double& value, double centre) {
      value = std::clamp(value, centre - most, centre + most);
    });
  }

  /// One value of a pair from a draw of its directions and of the repetitions of each.
  static double draw(const Pair& pair, double noise, Rng& rng) {
    const bool both = !pair.there.empty() && !pair.back.empty();
    std::vector<double> drawn;
    const auto from = [&](const std::vector<double>& samples) {
      for (std::size_t s = 0; s < samples.size(); ++s) {
        drawn.push_back(samples[static_cast<std::size_t>(rng.below(samples.size()))]);
      }
    };
    if (both) {
      for (int direction = 0; direction < 2; ++direction) {
        from(rng.below(2) == 0 ? pair.there : pair.back);
      }
      return middle(drawn);
    }
    const std::vector<double>& one = pair.there.empty() ? pair.back : pair.there;
    // A single sample has no spread of its own to draw from.
    const double unseen =
        one.size() == 1 ? noise * static_cast<double>(rng.gaussian_q16()) / 65536 : 0;
    from(one);
    return middle(drawn) + unseen;
  }

  /// What belongs to the victim and to the aggressor, over the pairs of one parent. What pairs of
  /// one group have in common, at each level thought to be there, is fitted beside it and not taken
  /// for theirs: least squares, one level after the other, each without what the ones before and
  /// rows and columns explain.
  Matrix own_strength(const Partition& parent, const Partition& groups, const Partition& units,
                      const std::vector<Partition>& finer) const {
    const std::size_t n = cells_.rows();
    Matrix left(n, n, kMissing);
    for (std::size_t j = 0; j < n; ++j) {
      for (std::size_t i = 0; i < n; ++i) {
        if (parent[i] == parent[j]) left(i, j) = cells_(i, j);
      }
    }
    Matrix rest = left;
    take_out_means(rest);
    const auto dot = [&](const Matrix& a, const Matrix& b) {
      double sum = 0;
      for (std::size_t c = 0; c < a.cells().size(); ++c) {
        if (!std::isnan(a.cells()[c])) sum += a.cells()[c] * b.cells()[c];
      }
      return sum;
    };
    const auto add = [](Matrix& to, double factor, const Matrix& what) {
      for (std::size_t c = 0; c < to.cells().size(); ++c) to.cells()[c] += factor * what.cells()[c];
    };
    struct Effect {
      Matrix whole, own;  // indicator of a level, and its part that nothing before explains
    };
    std::vector<Effect> effects;
    std::vector<const Partition*> levels;
    levels.reserve(finer.size() + 2);
    for (const Partition& level : finer) levels.push_back(&level);
    levels.push_back(&units);
    levels.push_back(&groups);
    for (const Partition* level : levels) {
      Effect effect{left, {}};
      for (std::size_t j = 0; j < n; ++j) {
        for (std::size_t i = 0; i < n; ++i) {
          if (!std::isnan(left(i, j))) effect.whole(i, j) = (*level)[i] == (*level)[j] ? 1 : 0;
        }
      }
      effect.own = effect.whole;
      take_out_means(effect.own);
      const double size = dot(effect.own, effect.own);
      for (const Effect& before : effects) {
        const double square = dot(before.own, before.own);
        const double share = dot(effect.own, before.own) / square;
        add(effect.own, -share, before.own);
        add(effect.whole, -share, before.whole);
      }
      if (dot(effect.own, effect.own) > kUnexplained * std::max(size, 1.0)) {
        effects.push_back(std::move(effect));
      }
    }
    for (const Effect& effect : effects) {
      const double factor = dot(rest, effect.own) / dot(effect.own, effect.own);
      add(rest, -factor, effect.own);
      add(left, -factor, effect.whole);
    }
    add(left, -1, rest);
    return left;
  }

  std::vector<Pair> pairs_less(const Matrix& strength, const Partition& parent,
                               const Partition& units) const {
    const Partition numbered = renumbered(units);
    std::vector<Pair> pairs;
    for (std::size_t i = 0; i < cells_.rows(); ++i) {
      for (std::size_t j = 0; j < i; ++j) {
        if (parent[i] != parent[j] || units[i] == units[j]) continue;
        Pair pair{i,
                  j,
                  static_cast<std::size_t>(std::min(numbered[i], numbered[j])),
                  static_cast<std::size_t>(std::max(numbered[i], numbered[j])),
                  samples_.at(i, j),
                  samples_.at(j, i)};
        if (pair.there.empty() && pair.back.empty()) continue;
        for (double& value : pair.there) value -= strength(i, j);
        for (double& value : pair.back) value -= strength(j, i);
        pairs.push_back(std::move(pair));
      }
    }
    return pairs;
  }

  PairSamples samples_;
  double least_noise_;
  Matrix cells_;  // the median of each
};

}  // namespace

std::unique_ptr<Evidence> pair_evidence(const PairSamples& samples, double least_noise) {
  return std::make_unique<PairEvidence>(samples, least_noise);
}

std::unique_ptr<Evidence> pair_evidence(const CoreMatrix& matrix, double least_noise) {
  PairSamples samples{matrix.cores, {}};
  for (const auto& cell : matrix.cells) {
    samples.cells.push_back(cell ? std::vector<double>{*cell} : std::vector<double>());
  }
  return std::make_unique<PairEvidence>(std::move(samples), least_noise);
}

}  // namespace sonde
