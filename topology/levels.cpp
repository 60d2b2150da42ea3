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
constexpr double kLeastStrength = 6;      // standard errors, of many units
constexpr double kLeastSeparation = 0.9;  // share of (same, other) pairs in the right order
constexpr double kMostUnevenness = 0.15;  // of the contrast
constexpr double kLeastStability = 0.6;   // adjusted Rand index of the bootstrap
constexpr int kDraws = 50;
constexpr int kPasses = 4;  // of guessing groups; it settles after two
constexpr std::size_t kFewestPairs = 4;
constexpr double kLeastOfFiner = 0.05;  // of the gap of the level inside
/// The common part is known to about one unit's own part in all of them: a gap must be larger.
constexpr double kLeastShare = 2;
constexpr std::size_t kFewPlaces = 16;
constexpr std::size_t kMostLevels = 8;
constexpr double kRounding = 1e-9;  // a gap below it is none

/// Calls `use(a, b, same)` for each pair of units that has a value; `same`: in one group.
template <class Use>
void for_pairs(const Similarity& table, const Partition& groups, Use use) {
  for (std::size_t b = 0; b < table.cols(); ++b) {
    for (std::size_t a = 0; a < b; ++a) {
      if (std::isnan(table(a, b))) continue;
      use(a, b, groups[a] == groups[b]);
    }
  }
}

/// A cut between parents and units, with what judges it: units are the samples, because what cores
/// of one unit share is not independent.
class Judge {
 public:
  Judge(const Look& look, Partition parents) : look_(look), parents_(std::move(parents)) {
    // The halves differ by their noise alone, and by chance likeness of what units are made of.
    std::vector<double> apart;
    double cells = 0;
    for_pairs(look.half_a, parents_, [&](std::size_t a, std::size_t b, bool) {
      if (std::isnan(look.half_b(a, b))) return;
      apart.push_back(std::abs(look.half_a(a, b) - look.half_b(a, b)));
      cells += 1 / look.weight(a, b);
    });
    if (apart.empty()) return;
    double squares = 0;
    for (double difference : apart) squares += difference * difference / 2;
    const auto count = static_cast<double>(apart.size());
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
  double strength(const Partition& from_a, const Partition& from_b) const {
    const Contrast in_b = contrast(look_.half_b, from_a), in_a = contrast(look_.half_a, from_b);
    const double sum = in_a.sum + in_b.sum;
    if (!variance_ || in_a.weight == 0 || in_b.weight == 0 || sum <= 0) return 0;
    const double error = std::sqrt(*variance_ * (in_a.weight + in_b.weight));
    // Without noise any contrast is certain; a number all the same, for a comparison.
    return std::min(error > 0 ? sum / error : kCertain, kCertain);
  }

  /// How far pairs between the same two groups differ from each other beyond noise, over the
  /// contrast. In a tree all cores of one group are equally far from those of another; cores in a
  /// row or a mesh are not, and any cut through them is arbitrary. A few places in a row show large
  /// gaps by chance: there even the gap, what parts a group from the nearest one, must be that
  /// clear.
  double unevenness(const Partition& groups, double gap) const {
    struct Block {
      double n = 0, sum = 0, squares = 0;
    };
    std::map<std::pair<int, int>, Block> blocks;
    for_pairs(look_.all, groups, [&](std::size_t a, std::size_t b, bool same) {
      if (same) return;
      Block& block = blocks[std::minmax(groups[a], groups[b])];
      const double value = look_.all(a, b);
      ++block.n;
      block.sum += value;
      block.squares += value * value;
    });
    double squares = 0, freedom = 0;
    for (const auto& [key, block] : blocks) {
      squares += block.squares - block.sum * block.sum / block.n;
      freedom += block.n - 1;
    }
    const Contrast found = contrast(look_.all, groups);
    if (freedom < 1 || found.sum <= 0) return 0;
    const double noise = variance_.value_or(0) / 2;  // all samples are two halves
    const double scatter = std::sqrt(std::max(0.0, squares / freedom - noise));
    const double contrast_of_one = found.sum / found.weight;
    const bool few = look_.places && groups.size() < kFewPlaces;
    return scatter / (few ? std::min(gap, contrast_of_one) : contrast_of_one);
  }

  /// Probability that a pair of one group is more alike than a pair of two groups of one parent.
  double separation(const Partition& groups) const {
    std::vector<std::pair<double, bool>> values;
    for_pairs(look_.all, groups, [&](std::size_t a, std::size_t b, bool same) {
      values.emplace_back(look_.all(a, b), same);
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
  Contrast contrast(const Similarity& table, const Partition& groups) const {
    struct Sums {
      double same = 0, same_count = 0, other = 0, other_count = 0;
    };
    std::vector<Sums> parents(parents_.size());
    for_pairs(table, groups, [&](std::size_t a, std::size_t b, bool same) {
      Sums& sums = parents[static_cast<std::size_t>(parents_[a])];
      (same ? sums.same : sums.other) += table(a, b);
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

  const Look& look_;
  Partition parents_;
  std::optional<double> variance_;  // of one pair of units in one half
};

/// Whether a cut may be a level: it joins most units, into two groups or more, because one pair
/// among strangers, or one odd core beside all others, is natural among places. What cores share is
/// a level also when it joins fewer, as long as it rests on some pairs of cores (one may be late
/// by chance in both directions) and is not one core beside all others, which would be its own.
bool is_level(const Partition& groups, const Partition& units, bool places) {
  std::map<int, std::size_t> size, cores;
  for (int group : groups) ++size[group];
  std::vector<std::size_t> unit_size(groups.size(), 0);
  for (int unit : units) {
    ++unit_size[static_cast<std::size_t>(unit)];
    ++cores[groups[static_cast<std::size_t>(unit)]];
  }
  std::size_t joined = 0, joined_units = 0, pairs = 0;
  bool odd = false;
  for (const auto& [group, count] : size) {
    odd = odd || cores[group] == 1;
    pairs += cores[group] * cores[group];
    if (count < 2) continue;
    ++joined;
    joined_units += count;
  }
  if (size.size() < 2) return false;
  if (joined >= 2 && 2 * joined_units > groups.size()) return true;
  for (std::size_t count : unit_size) pairs -= count * count;  // what is left is between units
  return !places && pairs / 2 >= kFewestPairs && !(size.size() == 2 && odd);
}

class Search {
 public:
  Search(const Evidence& evidence, std::uint64_t seed) : evidence_(evidence), seed_(seed) {}

  std::vector<FoundLevel> run(const Partition& parent) {
    between(parent, single_groups(evidence_.cores().size()), {}, 0);
    std::reverse(found_.begin(), found_.end());
    return std::move(found_);
  }

 private:
  /// Levels strictly between `parent` and `units`, appended finest first. `finer`: levels known
  /// inside the units.
  void between(const Partition& parent, const Partition& units, std::vector<Partition> finer,
               double finer_gap) {
    if (found_count_ >= kMostLevels) return;
    const std::optional<FoundLevel> level = strongest(parent, units, finer);
    // What a level leaves unexplained of itself looks like a coarser one, but a weak one.
    if (!level || level->gap < kLeastOfFiner * finer_gap) return;
    ++found_count_;
    const std::size_t before = found_.size();
    between(level->partition, units, finer, finer_gap);
    finer.push_back(units);
    for (std::size_t i = before; i < found_.size(); ++i) finer.push_back(found_[i].partition);
    found_.push_back(*level);
    between(parent, level->partition, finer, level->gap);
  }

  struct Gap {
    double size, middle;
  };
  /// Gaps between neighbouring joins that may part groups, largest first.
  static std::vector<Gap> gaps_of(const std::vector<double>& joins) {
    std::vector<Gap> gaps;
    double range = 0;
    for (std::size_t i = 0; i + 1 < joins.size(); ++i) {
      if (!std::isfinite(joins[i]) || !std::isfinite(joins[i + 1])) continue;
      gaps.push_back({joins[i] - joins[i + 1], (joins[i] + joins[i + 1]) / 2});
      range += gaps.back().size;
    }
    std::stable_sort(gaps.begin(), gaps.end(),
                     [](const Gap& a, const Gap& b) { return a.size > b.size; });
    if (gaps.size() > kMostGaps) gaps.resize(kMostGaps);
    std::erase_if(
        gaps, [&](const Gap& gap) { return gap.size < kRounding || gap.size < kLeastGap * range; });
    return gaps;
  }

  std::optional<FoundLevel> strongest(const Partition& parent, const Partition& units,
                                      const std::vector<Partition>& finer) const {
    std::optional<FoundLevel> best = from_start(parent, units, finer, Own::none);
    if (evidence_.one_start()) return best;
    std::optional<FoundLevel> other = from_start(parent, units, finer, Own::mean);
    if (!best || (other && other->strength > best->strength)) best.swap(other);
    return best;
  }

  std::optional<FoundLevel> from_start(const Partition& parent, const Partition& units,
                                       const std::vector<Partition>& finer, Own own) const {
    const Partition unit_parent = of_units(parent, units);
    // What groups have in common is taken out with groups that are not known yet: the largest gap
    // is a first guess, and is looked at again as if it were true.
    Partition guess = units;
    Look look = evidence_.look(parent, guess, units, finer, own);
    std::optional<Dendrogram> tree(std::in_place, look.all, look.weight, unit_parent);
    for (int pass = 0; pass < kPasses; ++pass) {
      Partition better;
      for (const Gap& gap : gaps_of(tree->joins())) {
        const Partition groups = tree->cut_above(gap.middle);
        if (!is_level(groups, units, look.places)) continue;
        better = of_cores(groups, units);
        break;
      }
      if (better.empty() || better == guess) break;
      guess = better;
      look = evidence_.look(parent, guess, units, finer, own);
      tree.emplace(look.all, look.weight, unit_parent);
    }
    const Dendrogram tree_a(look.half_a, look.weight, unit_parent),
        tree_b(look.half_b, look.weight, unit_parent);
    const Judge judge(look, unit_parent);
    for (const Gap& gap : gaps_of(tree->joins())) {
      const Partition groups = tree->cut_above(gap.middle);
      if (!is_level(groups, units, look.places)) continue;
      if (look.places && gap.size < kLeastShare / static_cast<double>(groups.size())) continue;
      const Partition a = tree_a.cut_like(groups), b = tree_b.cut_like(groups);
      if (adjusted_rand(a, b, unit_parent) < kLeastAgreement) continue;
      FoundLevel level{of_cores(groups, units), 0, judge.strength(a, b), gap.size};
      if (level.strength < judge.least_strength()) continue;
      if (judge.separation(groups) < kLeastSeparation) continue;
      if (judge.unevenness(groups, gap.size) > kMostUnevenness) continue;
      level.stability = stability(look, groups, unit_parent);
      if (level.stability >= kLeastStability) return level;
    }
    return std::nullopt;
  }

  double stability(const Look& look, const Partition& groups, const Partition& parent) const {
    double sum = 0;
    for (int draw = 0; draw < kDraws; ++draw) {
      Rng rng(key_of({seed_, 0x73746162, static_cast<std::uint64_t>(draw)}));
      const Dendrogram tree(look.resample(rng), look.weight, parent);
      sum += adjusted_rand(tree.cut_like(groups), groups, parent);
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
  return find_levels(evidence, seed, one_group(evidence.cores().size()));
}

std::vector<FoundLevel> find_levels(const Evidence& evidence, std::uint64_t seed,
                                    const Partition& parent) {
  if (evidence.cores().size() < kFewestCores) return {};
  return Search(evidence, seed).run(parent);
}

double pair_noise(const Evidence& evidence) {
  const Partition all = one_group(evidence.cores().size());
  const Partition single = single_groups(all.size());
  const Look look = evidence.look(all, single, single, {}, Own::mean);
  // All samples are two halves.
  return Judge(look, all).half_noise() / std::sqrt(2.0);
}

}  // namespace sonde
