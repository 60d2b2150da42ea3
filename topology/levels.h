#pragma once

#include <cstdint>
#include <vector>

#include "topology/evidence.h"

namespace sonde {

/// One partition that the data supports.
struct FoundLevel {
  Partition partition;   ///< of the evidence's cores
  double stability = 0;  ///< mean adjusted Rand index of bootstrap draws with it, 0 to 1
  double strength = 0;   ///< contrast in the half it was not made from, in standard errors
  double gap = 0;        ///< between the joins inside and those outside, in units of similarity
};

/// Every level in one source, coarsest first; each refines the one before. The strongest gap of the
/// average-linkage tree is tried first, then what lies above and below each level found. A level
/// must (a) stand out as a gap between joins, (b) come out alike from both halves, (c) show in each
/// half as a contrast when made from the other, (d) part nearly all pairs, (e) leave all cores
/// of one group about equally far from those of another, and (f) survive the bootstrap. More
/// than half of what is joined must be in groups of two or more, and there must be two such groups.
std::vector<FoundLevel> find_levels(const Evidence& evidence, std::uint64_t seed);
/// The same inside the groups of `parent`, a partition of the evidence's cores that is known.
std::vector<FoundLevel> find_levels(const Evidence& evidence, std::uint64_t seed,
                                    const Partition& parent);

/// A contrast between groups that is found in nearly every case, in pair_noise(): beyond what the
/// largest of some thousand pairs reaches by chance (held by recovery.TopologyLimits.*).
inline constexpr double kSureContrast = 6;

/// Standard deviation of the similarity of one pair of cores from all samples.
double pair_noise(const Evidence& evidence);

}  // namespace sonde
