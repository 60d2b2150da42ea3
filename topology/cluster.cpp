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

Partition of_units(const Partition& partition, const Partition& units) {
  Partition groups(static_cast<std::size_t>(group_count(units)));
  for (std::size_t i = 0; i < units.size(); ++i) {
    groups[static_cast<std::size_t>(units[i])] = partition[i];
  }
  return renumbered(groups);
}

Partition of_cores(const Partition& unit_groups, const Partition& units) {
  Partition groups;
  groups.reserve(units.size());
  for (int unit : units) groups.push_back(unit_groups[static_cast<std::size_t>(unit)]);
  return renumbered(groups);
}

Dendrogram::Dendrogram(const Similarity& similarity, const Matrix& weight, const Partition& parent)
    : parent_(parent) {
  // Sums and counts of measured pairs, so that a missing pair weighs nothing.
  const std::size_t n = parent.size();
  Matrix sum(n, n), count(n, n);
  for (std::size_t j = 0; j < n; ++j) {
    for (std::size_t i = 0; i < n; ++i) {
      if (i == j || parent[i] != parent[j] || std::isnan(similarity(i, j))) continue;
      sum(i, j) = similarity(i, j) * weight(i, j);
      count(i, j) = weight(i, j);
    }
  }
  std::vector<std::vector<std::size_t>> members(static_cast<std::size_t>(group_count(parent)));
  for (std::size_t unit = 0; unit < n; ++unit) {
    members[static_cast<std::size_t>(parent[unit])].push_back(unit);
  }
  constexpr double kNever = -std::numeric_limits<double>::infinity();
  const auto between = [&](std::size_t a, std::size_t b) {
    return count(a, b) > 0 ? sum(a, b) / count(a, b) : kNever;
  };
  // The nearest of each unit is kept, so that a join costs one pass and not a search of all pairs.
  std::vector<std::size_t> nearest(n);
  std::vector<double> nearness(n, kNever);
  for (std::vector<std::size_t>& alive : members) {
    std::vector<Join>& tree = trees_.emplace_back();
    const auto search = [&](std::size_t a) {
      nearest[a] = n;
      for (std::size_t b : alive) {
        if (b == a) continue;
        const double value = between(b, a);
        if (nearest[a] == n || value > nearness[a]) {
          nearest[a] = b;
          nearness[a] = value;
        }
      }
    };
    for (std::size_t unit : alive) search(unit);
    while (alive.size() > 1) {
      std::size_t a = alive.front();
      for (std::size_t unit : alive) {
        if (nearness[unit] > nearness[a]) a = unit;
      }
      const std::size_t b = nearest[a];
      tree.push_back({a, b, nearness[a]});
      joins_.push_back(nearness[a]);
      alive.erase(std::find(alive.begin(), alive.end(), b));
      for (std::size_t c : alive) {
        if (c == a) continue;
        sum(c, a) += sum(c, b);
        count(c, a) += count(c, b);
        sum(a, c) = sum(c, a);
        count(a, c) = count(c, a);
      }
      for (std::size_t c : alive) {
        if (c == a || nearest[c] == a || nearest[c] == b) search(c);
      }
    }
  }
  std::sort(joins_.begin(), joins_.end(), std::greater<>());
}

template <class Keep>
Partition Dendrogram::cut(Keep keep) const {
  Partition group = single_groups(parent_.size());
  for (std::size_t parent = 0; parent < trees_.size(); ++parent) {
    for (std::size_t step = 0; step < trees_[parent].size(); ++step) {
      const Join& join = trees_[parent][step];
      if (!keep(parent, step, join.similarity)) break;
      const int from = group[join.b], to = group[join.a];
      std::replace(group.begin(), group.end(), from, to);
    }
  }
  return renumbered(group);
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

double adjusted_rand(const Partition& a, const Partition& b, const Partition& parent) {
  std::map<int, double> size;
  std::map<std::pair<int, int>, double> in_a, in_b;
  std::map<std::array<int, 3>, double> in_both;
  for (std::size_t i = 0; i < parent.size(); ++i) {
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
