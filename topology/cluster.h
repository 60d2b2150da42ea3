#pragma once

#include <Eigen/Dense>
#include <vector>

namespace sonde {

/// Similarity of every two cores, symmetric; the diagonal is not used. NaN: not measured.
using Similarity = Eigen::MatrixXd;

/// Group of each core, numbered 0, 1, ... in order of first appearance.
using Partition = std::vector<int>;

Partition one_group(std::size_t cores);
Partition single_groups(std::size_t cores);
int group_count(const Partition& partition);
/// Same groups, renumbered in order of first appearance.
Partition renumbered(const Partition& partition);

/// Average-linkage tree of `units` (groups of cores that stay together) inside each `parent` group:
/// nothing is ever joined across parents. `units` must refine `parent`.
class Dendrogram {
 public:
  Dendrogram(const Similarity& similarity, const Partition& parent, const Partition& units);

  /// Similarity at which each join happens, all parents together, highest first.
  const std::vector<double>& joins() const { return joins_; }
  /// All joins above `similarity` done.
  Partition cut_above(double similarity) const;
  /// As many groups inside each parent as `like` has there.
  Partition cut_like(const Partition& like) const;

 private:
  struct Join {
    int a, b;  // units
    double similarity;
  };
  template <class Keep>
  Partition cut(Keep keep) const;

  Partition parent_, units_;
  std::vector<std::vector<Join>> trees_;  // a parent each, in the order of joining
  std::vector<double> joins_;
};

/// Agreement of two partitions on the pairs of `units` that share a `parent`, adjusted for chance:
/// 1 is the same, 0 what chance gives (Hubert and Arabie 1985, with the sums taken inside each
/// parent, so that a coarser level that both contain counts for nothing).
double adjusted_rand(const Partition& a, const Partition& b, const Partition& parent,
                     const Partition& units);

}  // namespace sonde
