#include <algorithm>
#include <cmath>

#include "core/statistics.h"
#include "topology/evidence.h"
#include "topology/gram.h"
#include "topology/profile_fit.h"

namespace sonde {
namespace {

/// Blocks of neighbouring addresses that a profile is cut into: enough for a bootstrap, and few
/// enough to keep the products of each for a thousand cores.
constexpr std::size_t kBlocks = 64, kFewestBlocks = 16;
constexpr std::size_t kShortestBlock = 8;
constexpr std::size_t kMostProducts = 16 << 20;
constexpr double kMissing = std::numeric_limits<double>::quiet_NaN();
/// Cores of about the usual noise weigh the same, because an estimate that scatters would make some
/// cores' own noise the common part.
constexpr double kSameNoise = 1.5;

std::size_t blocks_for(std::size_t addresses, std::size_t cores) {
  const std::size_t most = std::clamp(kMostProducts / (cores * cores), kFewestBlocks, kBlocks);
  return std::min(most, addresses / kShortestBlock);
}

class ProfileEvidence : public Evidence {
 public:
  explicit ProfileEvidence(const ProfileTable& table) : cores_(table.cores) {
    ProfileFit fit = fit_profiles(table.latency_ns);
    rounding_ = fit.rounding;
    fill_missing(fit.rest);
    const std::size_t lines = fit.rest.rows();
    const std::size_t blocks = blocks_for(lines, cores_.size());
    // A block is a stretch of the visiting order: what drift is left stays inside it.
    for (std::size_t b = 0; b < blocks; ++b) {
      products_.push_back(mean_products(fit.rest, b * lines / blocks, (b + 1) * lines / blocks));
    }
    noise_square_ = noise_squares();
    weight_ = weights();
  }

  const std::vector<CoreName>& cores() const override { return cores_; }

  bool one_start() const override { return true; }

  Look look(const Partition& parent, const Partition& groups, const Partition& units,
            const std::vector<Partition>&, Own) const override {
    const Partition unit_parent = of_units(parent, units);
    const std::vector<double> share = shares(parent, groups, units);
    auto parts = std::make_shared<std::vector<Matrix>>();
    for (const Matrix& product : products_) {
      parts->push_back(centred(of_unit_means(product, units), unit_parent, share));
    }
    const std::size_t n = unit_parent.size();
    std::vector<double> size(n, 0);
    for (std::size_t k = 0; k < n; ++k) {
      for (const Matrix& part : *parts) size[k] += part(k, k) / static_cast<double>(parts->size());
      size[k] = std::sqrt(std::max(size[k], 0.0));
    }
    const std::vector<double> own = own_part(unit_parent, share, units);
    for (Matrix& part : *parts) {
      for (std::size_t l = 0; l < n; ++l) {
        for (std::size_t k = 0; k < n; ++k) {
          if (unit_parent[k] != unit_parent[l]) {
            part(k, l) = kMissing;
            continue;
          }
          const bool differ = size[k] > rounding_ && size[l] > rounding_;
          part(k, l) = differ ? (part(k, l) + own[k] + own[l]) / (size[k] * size[l]) : 0;
        }
      }
    }
    const auto mean_of = [parts](const std::vector<double>& times) {
      double total = 0;
      Similarity sum(parts->front().rows(), parts->front().cols());
      for (std::size_t b = 0; b < parts->size(); ++b) {
        if (times[b] == 0) continue;
        total += times[b];
        for (std::size_t c = 0; c < sum.cells().size(); ++c) {
          sum.cells()[c] += times[b] * (*parts)[b].cells()[c];
        }
      }
      for (double& value : sum.cells()) value /= total;
      return sum;
    };
    const std::size_t blocks = parts->size();
    std::vector<double> every(blocks, 1), even(blocks, 0), odd(blocks, 0);
    for (std::size_t b = 0; b < blocks; ++b) (b % 2 == 0 ? even : odd)[b] = 1;
    Look result{.all = mean_of(every),
                .half_a = mean_of(even),
                .half_b = mean_of(odd),
                .weight = pairs_of(units),
                .places = true};
    result.least_noise = noise_between(*parts, result.all);
    result.resample = [mean_of, blocks](Rng& rng) {
      std::vector<double> times(blocks, 0);
      for (std::size_t b = 0; b < blocks; ++b) ++times[static_cast<std::size_t>(rng.below(blocks))];
      return mean_of(times);
    };
    return result;
  }

  /// Standard deviation of one core's profile about what all have in common, the median.
  double spread() const {
    const Partition all = one_group(cores_.size()), single = single_groups(cores_.size());
    const std::vector<double> share = shares(all, single, single);
    std::vector<double> sizes(cores_.size(), 0);
    for (const Matrix& product : products_) {
      const Matrix left = centred(product, all, share);
      for (std::size_t i = 0; i < sizes.size(); ++i) {
        sizes[i] += left(i, i) / static_cast<double>(products_.size());
      }
    }
    for (double& size : sizes) size = std::sqrt(std::max(size, 0.0));
    return median(sizes).value_or(0);
  }

 private:
  /// A value that was not measured becomes the mean of the cores most like it: cores must not look
  /// alike because they lack the same addresses. A quarter of all, so that the noise of none of
  /// them is taken over.
  static void fill_missing(Profiles& rest) {
    const auto missing = [](double value) { return std::isnan(value); };
    const auto& cells = rest.cells();
    if (std::none_of(cells.begin(), cells.end(), missing)) return;
    const std::size_t n = rest.cols(), most = std::max<std::size_t>(3, n / 4);
    const Profiles measured = rest;
    for (std::size_t c = 0; c < n; ++c) {
      const auto own = measured.column(c);
      if (std::none_of(own.begin(), own.end(), missing)) continue;
      std::vector<std::pair<double, std::size_t>> others;
      for (std::size_t o = 0; o < n; ++o) {
        double squares = 0, both = 0;
        for (std::size_t a = 0; a < own.size(); ++a) {
          const double apart = own[a] - measured(a, o);
          if (std::isnan(apart)) continue;
          squares += apart * apart;
          ++both;
        }
        if (o != c && both > 0) others.emplace_back(squares / both, o);
      }
      std::sort(others.begin(), others.end());
      for (std::size_t a = 0; a < own.size(); ++a) {
        if (!missing(own[a])) continue;
        double sum = 0, count = 0;
        for (const auto& [apart, o] : others) {
          if (missing(measured(a, o))) continue;
          sum += measured(a, o);
          if (static_cast<std::size_t>(++count) == most) break;
        }
        rest(a, c) = count > 0 ? sum / count : 0;
      }
    }
  }

  /// Noise squared of each core. Structure does not count as long as a core has one like it.
  std::vector<double> noise_squares() const {
    const std::size_t n = cores_.size();
    Matrix sum(n, n);
    for (const Matrix& product : products_) {
      for (std::size_t c = 0; c < sum.cells().size(); ++c) {
        sum.cells()[c] += product.cells()[c] / static_cast<double>(products_.size());
      }
    }
    return own_squares(sum, one_group(n));
  }

  /// What each unit has for itself, squared: half of how far it is from the unit most like it.
  static std::vector<double> own_squares(const Matrix& products, const Partition& parent) {
    const std::size_t n = parent.size();
    std::vector<double> own(n, 0);
    for (std::size_t k = 0; k < n; ++k) {
      double nearest = std::numeric_limits<double>::infinity();
      for (std::size_t l = 0; l < n; ++l) {
        if (l == k || parent[l] != parent[k]) continue;
        nearest = std::min(nearest, products(k, k) + products(l, l) - 2 * products(k, l));
      }
      if (std::isfinite(nearest)) own[k] = std::max(nearest, 0.0) / 2;
    }
    return own;
  }

  /// One over the noise squared, in units of the usual one.
  std::vector<double> weights() const {
    const double usual = std::sqrt(median(noise_square_).value_or(0));
    if (!(usual > rounding_)) return std::vector<double>(noise_square_.size(), 1);
    std::vector<double> weights;
    for (double square : noise_square_) {
      double noise = std::sqrt(square);
      if (noise < kSameNoise * usual && noise > usual / kSameNoise) noise = usual;
      // Quiet ones weigh no more: two that are alike to the last digit are not all there is.
      noise = std::max(noise / usual, 1.0);
      weights.push_back(1 / (noise * noise));
    }
    return weights;
  }

  /// Part of each unit in what its parent has in common: of a parent each group has the same, of a
  /// group each unit by its cores' weights.
  std::vector<double> shares(const Partition& parent, const Partition& groups,
                             const Partition& units) const {
    std::vector<double> own(static_cast<std::size_t>(group_count(units)), 0), cores(own.size(), 0);
    for (std::size_t i = 0; i < units.size(); ++i) {
      own[static_cast<std::size_t>(units[i])] += weight_[i];
      ++cores[static_cast<std::size_t>(units[i])];
    }
    const Partition unit_group = of_units(groups, units), unit_parent = of_units(parent, units);
    std::vector<double> group_sum(own.size(), 0), parent_sum(own.size(), 0), best(own.size(), 0);
    for (std::size_t k = 0; k < own.size(); ++k) {
      own[k] /= cores[k];
      const auto group = static_cast<std::size_t>(unit_group[k]);
      group_sum[group] += own[k];
      best[group] = std::max(best[group], own[k]);
    }
    for (std::size_t k = 0; k < own.size(); ++k) {
      const auto group = static_cast<std::size_t>(unit_group[k]);
      // A group of noisy cores alone must not bring its noise into the common part.
      own[k] *= best[group] / group_sum[group];
      parent_sum[static_cast<std::size_t>(unit_parent[k])] += own[k];
    }
    for (std::size_t k = 0; k < own.size(); ++k) {
      own[k] /= parent_sum[static_cast<std::size_t>(unit_parent[k])];
    }
    return own;
  }

  /// Products of the mean profiles of units.
  static Matrix of_unit_means(const Matrix& product, const Partition& units) {
    const auto n = static_cast<std::size_t>(group_count(units));
    if (n == units.size()) return product;
    Matrix sum(n, n);
    std::vector<double> size(n, 0);
    for (std::size_t j = 0; j < units.size(); ++j) {
      const auto l = static_cast<std::size_t>(units[j]);
      ++size[l];
      for (std::size_t i = 0; i < units.size(); ++i) {
        sum(static_cast<std::size_t>(units[i]), l) += product(i, j);
      }
    }
    for (std::size_t l = 0; l < n; ++l) {
      for (std::size_t k = 0; k < n; ++k) sum(k, l) /= size[k] * size[l];
    }
    return sum;
  }

  /// Products of what is left when the common part of each parent is taken away.
  static Matrix centred(Matrix product, const Partition& parent, const std::vector<double>& share) {
    const std::size_t n = parent.size();
    const auto parents = static_cast<std::size_t>(group_count(parent));
    Matrix with_common(n, parents);  // product of each unit with the common part of each parent
    for (std::size_t l = 0; l < n; ++l) {
      const auto p = static_cast<std::size_t>(parent[l]);
      for (std::size_t k = 0; k < n; ++k) with_common(k, p) += product(k, l) * share[l];
    }
    std::vector<double> square(parents, 0);
    for (std::size_t k = 0; k < n; ++k) {
      const auto p = static_cast<std::size_t>(parent[k]);
      square[p] += with_common(k, p) * share[k];
    }
    for (std::size_t l = 0; l < n; ++l) {
      const auto p = static_cast<std::size_t>(parent[l]);
      for (std::size_t k = 0; k < n; ++k) {
        if (parent[k] == parent[l]) {
          product(k, l) += square[p] - with_common(k, p) - with_common(l, p);
        }
      }
    }
    return product;
  }

  /// What the own part of each unit (its noise, and what no other unit has), which is in the common
  /// part too, takes from its product with any other: without it units with a large share would
  /// seem unlike all, and what is thought to be a group would make itself true. It is not taken
  /// for much more than is usual: a unit that is like no other says little of itself.
  std::vector<double> own_part(const Partition& parent, const std::vector<double>& share,
                               const Partition& units) const {
    const std::size_t n = share.size();
    Matrix sum(n, n);
    for (const Matrix& product : products_) {
      const Matrix part = of_unit_means(product, units);
      for (std::size_t c = 0; c < sum.cells().size(); ++c) {
        sum.cells()[c] += part.cells()[c] / static_cast<double>(products_.size());
      }
    }
    const std::vector<double> apart = own_squares(sum, parent);
    std::vector<double> own;
    for (std::size_t k = 0; k < n; ++k) own.push_back(share[k] * apart[k]);
    const double most = 2 * median(own).value_or(0);
    for (double& part : own) part = std::min(part, most);
    return own;
  }

  static Matrix pairs_of(const Partition& units) {
    const auto n = static_cast<std::size_t>(group_count(units));
    std::vector<double> size(n, 0);
    for (int unit : units) ++size[static_cast<std::size_t>(unit)];
    Matrix pairs(n, n);
    for (std::size_t l = 0; l < n; ++l) {
      for (std::size_t k = 0; k < n; ++k) pairs(k, l) = size[k] * size[l];
    }
    return pairs;
  }

  /// Standard deviation of one pair in the mean of half of the blocks, from how the blocks differ.
  static double noise_between(const std::vector<Matrix>& parts, const Matrix& mean) {
    double sum = 0, pairs = 0;
    const std::size_t n = mean.rows();
    for (std::size_t l = 0; l < n; ++l) {
      for (std::size_t k = 0; k < l; ++k) {
        if (std::isnan(mean(k, l))) continue;  // of two parents
        for (const Matrix& part : parts) {
          const double off = part(k, l) - mean(k, l);
          sum += off * off;
        }
        ++pairs;
      }
    }
    const auto count = static_cast<double>(parts.size());
    return pairs > 0 ? std::sqrt(sum / pairs / (count - 1) / (count / 2)) : 0;
  }

  std::vector<CoreName> cores_;
  double rounding_ = 0;
  std::vector<Matrix> products_;               // a block each
  std::vector<double> noise_square_, weight_;  // of each core
};

}  // namespace

std::unique_ptr<Evidence> profile_evidence(const ProfileTable& table) {
  return std::make_unique<ProfileEvidence>(table);
}

double profile_spread(const ProfileTable& table) { return ProfileEvidence(table).spread(); }

}  // namespace sonde
