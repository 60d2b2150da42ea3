#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "core/core_name.h"
#include "core/rng.h"
#include "topology/cluster.h"
#include "topology/core_tree.h"
#include "topology/rows.h"

namespace sonde {

/// What one kind of rows says of every two units (groups of cores that stay together), in forms
/// that let a grouping be tested on data it was not made from.
struct Look {
  Similarity all;             ///< from every sample
  Similarity half_a, half_b;  ///< from two disjoint halves
  Matrix weight;              ///< pairs of cores that a similarity is the mean of
  /// Units may lie nearer or farther without belonging together: a place has neighbours.
  bool places = false;
  double least_noise = 0;  ///< standard deviation of one pair of cores in a half, at the least
  std::function<Similarity(Rng&)> resample = {};  ///< from a bootstrap draw of the samples
};

/// What is taken for a core's own as long as no groups are known: its mean over all others, which a
/// large group moves, or nothing, which is right where cores differ little.
enum class Own { none, mean };

/// One source of similarity between cores. Pure: the same rows give the same looks.
class Evidence {
 public:
  virtual ~Evidence() = default;
  virtual const std::vector<CoreName>& cores() const = 0;
  /// Whether look() is the same for each `own`.
  virtual bool one_start() const = 0;
  /// What makes units of one `parent` group alike or unlike, beside what a unit has for itself and
  /// what all of the parent share. `groups`: what is thought to be a group so far (`units`, if
  /// nothing is); each counts the same however large it is, so that the largest does not stand for
  /// all. `finer`: known levels inside the units. Each partition of the cores refines the one
  /// before: parent, groups, units, finer.
  virtual Look look(const Partition& parent, const Partition& groups, const Partition& units,
                    const std::vector<Partition>& finer, Own own) const = 0;
};

/// Fewest addresses from which profiles are compared: eight blocks of eight.
inline constexpr std::size_t kFewestAddresses = 64;
/// Fewest cores that can show two groups of two.
inline constexpr std::size_t kFewestCores = 4;

/// Similarity of address profiles: the correlation of what is left of two units' profiles when what
/// the groups of their parent have in common is taken away. A core's own offset, clock, noise and
/// drift do not count. The halves are blocks of addresses. `table` needs kFewestAddresses and has
/// gone through keep_covered().
std::unique_ptr<Evidence> profile_evidence(const ProfileTable& table);

/// Standard deviation (ns) of one core's profile about what all cores have in common, the median
/// over the cores.
double profile_spread(const ProfileTable& table);

/// Similarity from samples with a victim (or sender) a row: what a pair has beyond its row and its
/// column. The halves are the two directions of a pair, which are points of their own; of a pair
/// measured in one direction, its repetitions. `samples` hold numbers that grow with similarity;
/// `least_noise` is the spread of a cell that a control showed.
std::unique_ptr<Evidence> pair_evidence(const PairSamples& samples, double least_noise);
/// The same from one number a cell.
std::unique_ptr<Evidence> pair_evidence(const CoreMatrix& matrix, double least_noise);

}  // namespace sonde
