#pragma once

#include <vector>

#include "topology/matrix.h"

namespace sonde {

/// Similarity of every two units, symmetric; the diagonal is not used. NaN: not measured, or of two
/// parents.
using Similarity = Matrix;

/// Group of each core (or of each unit), numbered 0, 1, ... in order of first appearance.
using Partition = std::vector<int>;

Partition one_group(std::size_t cores);
Partition single_groups(std::size_t cores);
int group_count(const Partition& partition);
/// Same groups, renumbered in order of first appearance.
Partition renumbered(const Partition& partition);

/// Group of each unit in a partition of the cores that `units` refines.
Partition of_units(const Partition& partition, const Partition& units);
/// Group of each core from that of its unit.
Partition of_cores(const Partition& unit_groups, const Partition& units);

/// Average-linkage tree of units inside each `parent` (a partition of the units): nothing is ever
/// joined across parents. `weight`: how many measured pairs a similarity is the mean of.
class Dendrogram {
 public:
  Dendrogram(const Similarity& similarity, const Matrix& weight, const Partition& parent);

  /// Similarity at which each join happens, all parents together, highest first.
  const std::vector<double>& joins() const { return joins_; }
  /// All joins above `similarity` done.
  Partition cut_above(double similarity) const;
  /// As many groups inside each parent as `like` has there.
  Partition cut_like(const Partition& like) const;

 private:
  struct Join {
    std::size_t a, b;  // units
    double similarity;
  };
  template <class Keep>
  Partition cut(Keep keep) const;

  Partition parent_;
  std::vector<std::vector<Join>> trees_;  // a parent each, in the order of joining
  std::vector<double> joins_;
};

/// Agreement of two partitions on the pairs that share a `parent`, adjusted for chance: 1 is the
/// same, 0 what chance gives (Hubert and Arabie 1985, with the sums taken inside each parent, so
/// that a coarser level that both contain counts for nothing).
double adjusted_rand(const Partition& a, const Partition& b, const Partition& parent);

}  // namespace sonde
