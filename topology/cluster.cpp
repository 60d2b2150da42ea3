#include "topology/cluster.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <limits>
#include <map>
#include <numeric>

namespace sonde {
namespace {

/// First core of each unit: what stands for the unit in any coarser partition.
std::vector<std::size_t> representatives(const Partition& units) {
  std::vector<std::size_t> first(static_cast<std::size_t>(group_count(units)), units.size());
  for (std::size_t i = units.size(); i-- > 0;) first[static_cast<std::size_t>(units[i])] = i;
  return first;
}

double pairs(double n) { return n * (n - 1) / 2; }

}  // namespace

Partition one_group(std::size_t cores) { return Partition(cores, 0); }

Partition single_groups(std::size_t cores) {
  Partition partition(cores);
  std::iota(partition.begin(), partition.end(), 0);
  return partition;
}

int group_count(const Partition& partition) {
  return partition.empty() ? 0 : *std::max_element(partition.begin(), partition.end()) + 1;
}

Partition renumbered(const Partition& partition) {
  std::map<int, int> numbers;
  Partition result;
  result.reserve(partition.size());
  for (int group : partition) {
    result.push_back(numbers.try_emplace(group, static_cast<int>(numbers.size())).first->second);
  }
  return result;
}

Dendrogram::Dendrogram(const Similarity& similarity, const Partition& parent,
                       const Partition& units)
    : parent_(parent), units_(units) {
  // Sums and counts of measured pairs between units, so that a missing pair weighs nothing.
  const auto unit_count = static_cast<Eigen::Index>(group_count(units));
  Eigen::MatrixXd sum = Eigen::MatrixXd::Zero(unit_count, unit_count);
  Eigen::MatrixXd count = Eigen::MatrixXd::Zero(unit_count, unit_count);
  for (std::size_t i = 0; i < units.size(); ++i) {
    for (std::size_t j = 0; j < units.size(); ++j) {
      const double value = similarity(static_cast<Eigen::Index>(i), static_cast<Eigen::Index>(j));
      if (units[i] == units[j] || parent[i] != parent[j] || std::isnan(value)) continue;
      sum(units[i], units[j]) += value;
      count(units[i], units[j]) += 1;
    }
  }
  std::vector<std::vector<int>> members(static_cast<std::size_t>(group_count(parent)));
  const std::vector<std::size_t> first = representatives(units);
  for (std::size_t unit = 0; unit < first.size(); ++unit) {
    members[static_cast<std::size_t>(parent[first[unit]])].push_back(static_cast<int>(unit));
  }
  const double never = -std::numeric_limits<double>::infinity();
  const auto between = [&](int a, int b) {
    return count(a, b) > 0 ? sum(a, b) / count(a, b) : never;
  };
  for (std::vector<int>& alive : members) {
    std::vector<Join>& tree = trees_.emplace_back();
    // The nearest of each unit is kept, so that a join costs one pass and not a search of all
    // pairs.
    std::map<int, std::pair<int, double>> nearest;
    const auto search = [&](int a) {
      std::pair<int, double> best{-1, never};
      for (int b : alive) {
        if (b != a && (best.first < 0 || between(a, b) > best.second)) best = {b, between(a, b)};
      }
      nearest[a] = best;
    };
    for (int unit : alive) search(unit);
    while (alive.size() > 1) {
      int a = alive.front();
      for (int unit : alive) {
        if (nearest[unit].second > nearest[a].second) a = unit;
      }
      const auto [b, value] = nearest[a];
      tree.push_back({a, b, value});
      joins_.push_back(value);
      alive.erase(std::find(alive.begin(), alive.end(), b));
      for (int c : alive) {
        if (c == a) continue;
        sum(a, c) += sum(b, c);
        count(a, c) += count(b, c);
        sum(c, a) = sum(a, c);
        count(c, a) = count(a, c);
      }
      for (int c : alive) {
        if (c == a || nearest[c].first == a || nearest[c].first == b) search(c);
      }
    }
  }
  std::sort(joins_.begin(), joins_.end(), std::greater<>());
}

template <class Keep>
Partition Dendrogram::cut(Keep keep) const {
  std::vector<int> group(static_cast<std::size_t>(group_count(units_)));
  std::iota(group.begin(), group.end(), 0);
  for (std::size_t parent = 0; parent < trees_.size(); ++parent) {
    for (std::size_t step = 0; step < trees_[parent].size(); ++step) {
      const Join& join = trees_[parent][step];
      if (!keep(parent, step, join.similarity)) break;
      const int from = group[static_cast<std::size_t>(join.b)];
      const int to = group[static_cast<std::size_t>(join.a)];
      std::replace(group.begin(), group.end(), from, to);
    }
  }
  Partition partition;
  for (int unit : units_) partition.push_back(group[static_cast<std::size_t>(unit)]);
  return renumbered(partition);
}

Partition Dendrogram::cut_above(double similarity) const {
  return cut([&](std::size_t, std::size_t, double value) { return value > similarity; });
}

Partition Dendrogram::cut_like(const Partition& like) const {
  std::vector<std::size_t> wanted(trees_.size(), 0);
  std::vector<bool> counted(like.size() + 1, false);
  for (std::size_t i = 0; i < like.size(); ++i) {
    if (counted[static_cast<std::size_t>(like[i])]) continue;
    counted[static_cast<std::size_t>(like[i])] = true;
    ++wanted[static_cast<std::size_t>(parent_[i])];
  }
  return cut([&](std::size_t parent, std::size_t step, double) {
    return step + wanted[parent] < trees_[parent].size() + 1;
  });
}

double adjusted_rand(const Partition& a, const Partition& b, const Partition& parent,
                     const Partition& units) {
  std::map<int, double> size;
  std::map<std::pair<int, int>, double> in_a, in_b;
  std::map<std::array<int, 3>, double> in_both;
  for (std::size_t i : representatives(units)) {
    ++size[parent[i]];
    ++in_a[{parent[i], a[i]}];
    ++in_b[{parent[i], b[i]}];
    ++in_both[{parent[i], a[i], b[i]}];
  }
  double together = 0, expected = 0, most = 0;
  for (const auto& [key, n] : in_both) together += pairs(n);
  std::map<int, double> pairs_a, pairs_b;
  for (const auto& [key, n] : in_a) pairs_a[key.first] += pairs(n);
  for (const auto& [key, n] : in_b) pairs_b[key.first] += pairs(n);
  for (const auto& [group, n] : size) {
    if (n < 2) continue;
    expected += pairs_a[group] * pairs_b[group] / pairs(n);
    most += (pairs_a[group] + pairs_b[group]) / 2;
  }
  if (most - expected < 1e-12) return together >= most - 1e-12 ? 1.0 : 0.0;
  return (together - expected) / (most - expected);
}

}  // namespace sonde
