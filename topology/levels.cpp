#include "topology/levels.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <utility>

namespace sonde {
namespace {

// Chosen on planted and on structureless data; docs/analysis.md gives the error rates.
constexpr double kLeastGap = 0.2;         // of the range of joins
constexpr std::size_t kMostGaps = 6;      // tried in one place
constexpr double kLeastAgreement = 0.3;   // adjusted Rand index between the halves
constexpr double kLeastStrength = 5;      // standard errors, of many units
constexpr double kLeastSeparation = 0.9;  // share of (same, other) pairs in the right order
constexpr double kMostUnevenness = 0.15;  // of the contrast
constexpr double kLeastStability = 0.6;   // adjusted Rand index of the bootstrap
constexpr int kDraws = 50;
constexpr std::size_t kMostLevels = 8;
constexpr double kRounding = 1e-9;  // a gap below it is none

/// Similarity between units: the mean over the measured pairs of their cores. NaN: none measured,
/// or units of different parents. `pairs` counts the cells.
struct UnitTable {
  Eigen::MatrixXd mean, pairs;
};

UnitTable unit_table(const Similarity& similarity, const Partition& parent,
                     const Partition& units) {
  const auto n = static_cast<Eigen::Index>(group_count(units));
  UnitTable table{Eigen::MatrixXd::Zero(n, n), Eigen::MatrixXd::Zero(n, n)};
  for (std::size_t i = 0; i < parent.size(); ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      const double value = similarity(static_cast<Eigen::Index>(i), static_cast<Eigen::Index>(j));
      if (parent[i] != parent[j] || units[i] == units[j] || std::isnan(value)) continue;
      const auto [a, b] = std::minmax(units[i], units[j]);
      table.mean(a, b) += value;
      ++table.pairs(a, b);
    }
  }
  table.mean = table.mean.cwiseQuotient(table.pairs);  // 0/0 is the NaN wanted
  return table;
}

/// Group of each unit in a partition that the units refine.
std::vector<int> of_units(const Partition& partition, const Partition& units) {
  std::vector<int> groups(static_cast<std::size_t>(group_count(units)));
  for (std::size_t i = 0; i < units.size(); ++i) {
    groups[static_cast<std::size_t>(units[i])] = partition[i];
  }
  return groups;
}

/// Calls `use(a, b, same)` for each pair of units that has a value; `same`: in one group.
template <class Use>
void for_pairs(const UnitTable& table, const std::vector<int>& groups, Use use) {
  for (Eigen::Index a = 0; a < table.mean.rows(); ++a) {
    for (Eigen::Index b = a + 1; b < table.mean.cols(); ++b) {
      if (std::isnan(table.mean(a, b))) continue;
      use(a, b, groups[static_cast<std::size_t>(a)] == groups[static_cast<std::size_t>(b)]);
    }
  }
}

/// A cut between parents and units, with what judges it: units are the samples, because what cores
/// of one unit share is not independent.
class Judge {
 public:
  Judge(const Look& look, const Partition& parent, const Partition& units)
      : parents_(of_units(parent, units)),
        all_(unit_table(look.all, parent, units)),
        a_(unit_table(look.half_a, parent, units)),
        b_(unit_table(look.half_b, parent, units)) {
    // The halves differ by their noise alone, and by chance likeness of what units are made of.
    double squares = 0, cells = 0, count = 0;
    for_pairs(a_, parents_, [&](Eigen::Index a, Eigen::Index b, bool) {
      if (std::isnan(b_.mean(a, b))) return;
      const double difference = a_.mean(a, b) - b_.mean(a, b);
      squares += difference * difference / 2;
      cells += 1 / a_.pairs(a, b);
      ++count;
    });
    if (count == 0) return;
    variance_ = std::max(squares / count, look.least_noise * look.least_noise * cells / count);
  }

  /// Standard deviation of one pair of units in one half.
  double half_noise() const { return std::sqrt(variance_.value_or(0)); }

  /// What strength() must reach: few units leave the noise itself uncertain, as in Student's t.
  double least_strength() const {
    std::map<int, double> units;
    for (int parent : parents_) ++units[parent];
    double freedom = 0;
    for (const auto& [parent, n] : units) {
      // Row and column means are taken out of n (n - 1) / 2 pairs.
      if (n >= 3) freedom += std::max(1.0, n * (n - 3) / 2);
    }
    return kLeastStrength * (1 + 8 / std::pow(std::max(freedom, 1.0), 1.5));
  }

  /// Contrast of each half's grouping in the other half, in standard errors.
  double strength(const std::vector<int>& from_a, const std::vector<int>& from_b) const {
    const Contrast in_b = contrast(b_, from_a), in_a = contrast(a_, from_b);
    const double sum = in_a.sum + in_b.sum;
    if (!variance_ || in_a.weight == 0 || in_b.weight == 0 || sum <= 0) return 0;
    const double error = std::sqrt(*variance_ * (in_a.weight + in_b.weight));
    // Without noise any contrast is certain; a number all the same, for a comparison.
    return std::min(error > 0 ? sum / error : kCertain, kCertain);
  }

  /// How far pairs between the same two groups differ from each other beyond noise, over the
  /// contrast. In a tree all cores of one group are equally far from those of another; cores in a
  /// row or a mesh are not, and any cut through them is arbitrary.
  double unevenness(const std::vector<int>& groups) const {
    struct Block {
      double n = 0, sum = 0, squares = 0;
    };
    std::map<std::pair<int, int>, Block> blocks;
    for_pairs(all_, groups, [&](Eigen::Index a, Eigen::Index b, bool same) {
      if (same) return;
      Block& block = blocks[std::minmax(groups[static_cast<std::size_t>(a)],
                                        groups[static_cast<std::size_t>(b)])];
      ++block.n;
      block.sum += all_.mean(a, b);
      block.squares += all_.mean(a, b) * all_.mean(a, b);
    });
    double squares = 0, freedom = 0;
    for (const auto& [key, block] : blocks) {
      squares += block.squares - block.sum * block.sum / block.n;
      freedom += block.n - 1;
    }
    const Contrast found = contrast(all_, groups);
    if (freedom < 1 || found.sum <= 0) return 0;
    const double noise = variance_.value_or(0) / 2;  // all samples are two halves
    return std::sqrt(std::max(0.0, squares / freedom - noise)) * found.weight / found.sum;
  }

  /// Probability that a pair of one group is more alike than a pair of two groups of one parent.
  double separation(const std::vector<int>& groups) const {
    std::vector<std::pair<double, bool>> values;
    for_pairs(all_, groups, [&](Eigen::Index a, Eigen::Index b, bool same) {
      values.emplace_back(all_.mean(a, b), same);
    });
    std::sort(values.begin(), values.end());
    double below = 0, right = 0, same_count = 0;
    for (const auto& [value, same] : values) {
      if (same) {
        right += below;
        ++same_count;
      } else {
        ++below;
      }
    }
    return same_count > 0 && below > 0 ? right / (same_count * below) : 0;
  }

 private:
  static constexpr double kCertain = 1e6;
  struct Contrast {
    double sum = 0, weight = 0;  // weighted sum of (same - other) over the parents; of the weights
  };

  /// How much more alike units of one group are than units of one parent but two groups.
  Contrast contrast(const UnitTable& table, const std::vector<int>& groups) const {
    struct Sums {
      double same = 0, same_count = 0, other = 0, other_count = 0;
    };
    std::vector<Sums> parents(parents_.size());
    for_pairs(table, groups, [&](Eigen::Index a, Eigen::Index b, bool same) {
      Sums& sums = parents[static_cast<std::size_t>(parents_[static_cast<std::size_t>(a)])];
      (same ? sums.same : sums.other) += table.mean(a, b);
      ++(same ? sums.same_count : sums.other_count);
    });
    Contrast result;
    for (const Sums& sums : parents) {
      if (sums.same_count == 0 || sums.other_count == 0) continue;
      const double weight = 1 / (1 / sums.same_count + 1 / sums.other_count);
      result.sum += weight * (sums.same / sums.same_count - sums.other / sums.other_count);
      result.weight += weight;
    }
    return result;
  }

  std::vector<int> parents_;
  UnitTable all_, a_, b_;
  std::optional<double> variance_;  // of one pair of units in one half
};

/// True when a cut joins most units, into two groups or more: one pair among strangers, or one odd
/// core beside all others, is no level.
bool is_level(const std::vector<int>& groups) {
  std::map<int, std::size_t> size;
  for (int group : groups) ++size[group];
  std::size_t joined = 0, joined_units = 0;
  for (const auto& [group, count] : size) {
    if (count < 2) continue;
    ++joined;
    joined_units += count;
  }
  return joined >= 2 && 2 * joined_units > groups.size();
}

class Search {
 public:
  Search(const Evidence& evidence, std::uint64_t seed) : evidence_(evidence), seed_(seed) {}

  std::vector<FoundLevel> run() {
    between(one_group(evidence_.cores().size()), single_groups(evidence_.cores().size()));
    return std::move(found_);
  }

 private:
  /// Levels strictly between `parent` and `units`, appended coarsest first.
  void between(const Partition& parent, const Partition& units) {
    if (found_count_ >= kMostLevels) return;
    const std::optional<FoundLevel> level = strongest(parent, units);
    if (!level) return;
    ++found_count_;
    between(parent, level->partition);
    found_.push_back(*level);
    between(level->partition, units);
  }

  std::optional<FoundLevel> strongest(const Partition& parent, const Partition& units) const {
    const Look look = evidence_.look(parent);
    const Dendrogram tree(look.all, parent, units);
    const std::vector<double>& joins = tree.joins();
    struct Gap {
      double size, middle;
    };
    std::vector<Gap> gaps;
    for (std::size_t i = 0; i + 1 < joins.size(); ++i) {
      if (std::isfinite(joins[i]) && std::isfinite(joins[i + 1])) {
        gaps.push_back({joins[i] - joins[i + 1], (joins[i] + joins[i + 1]) / 2});
      }
    }
    if (gaps.empty()) return std::nullopt;
    double range = 0;
    for (const Gap& gap : gaps) range += gap.size;
    std::stable_sort(gaps.begin(), gaps.end(),
                     [](const Gap& a, const Gap& b) { return a.size > b.size; });
    if (gaps.size() > kMostGaps) gaps.resize(kMostGaps);
    const Dendrogram tree_a(look.half_a, parent, units), tree_b(look.half_b, parent, units);
    const Judge judge(look, parent, units);
    for (const Gap& gap : gaps) {
      if (gap.size < kRounding || gap.size < kLeastGap * range) break;
      const Partition partition = tree.cut_above(gap.middle);
      const std::vector<int> groups = of_units(partition, units);
      if (!is_level(groups)) continue;
      const Partition a = tree_a.cut_like(partition), b = tree_b.cut_like(partition);
      if (adjusted_rand(a, b, parent, units) < kLeastAgreement) continue;
      FoundLevel level{partition, 0, judge.strength(of_units(a, units), of_units(b, units))};
      if (level.strength < judge.least_strength()) continue;
      if (judge.separation(groups) < kLeastSeparation) continue;
      if (judge.unevenness(groups) > kMostUnevenness) continue;
      level.stability = stability(look, partition, parent, units);
      if (level.stability >= kLeastStability) return level;
    }
    return std::nullopt;
  }

  double stability(const Look& look, const Partition& partition, const Partition& parent,
                   const Partition& units) const {
    double sum = 0;
    for (int draw = 0; draw < kDraws; ++draw) {
      Rng rng(key_of({seed_, 0x73746162, static_cast<std::uint64_t>(draw)}));
      const Dendrogram tree(look.resample(rng), parent, units);
      sum += adjusted_rand(tree.cut_like(partition), partition, parent, units);
    }
    return std::clamp(sum / kDraws, 0.0, 1.0);
  }

  const Evidence& evidence_;
  std::uint64_t seed_;
  std::vector<FoundLevel> found_;
  std::size_t found_count_ = 0;
};

}  // namespace

std::vector<FoundLevel> find_levels(const Evidence& evidence, std::uint64_t seed) {
  if (evidence.cores().size() < kFewestCores) return {};
  return Search(evidence, seed).run();
}

double pair_noise(const Evidence& evidence) {
  const std::size_t cores = evidence.cores().size();
  const Look look = evidence.look(one_group(cores));
  // All samples are two halves.
  return Judge(look, one_group(cores), single_groups(cores)).half_noise() / std::sqrt(2.0);
}

}  // namespace sonde
