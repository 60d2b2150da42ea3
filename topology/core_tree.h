#pragma once

#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/core_name.h"
#include "core/stored_run.h"

namespace sonde {

/// One number for each pair of cores; what was not measured stays empty.
struct CoreMatrix {
  std::vector<CoreName> cores;
  std::vector<std::optional<double>> cells;  ///< row by row: cells[i * cores.size() + j]
  const std::optional<double>& at(std::size_t i, std::size_t j) const {
    return cells[i * cores.size() + j];
  }
};

/// What was measured of every two cores, sample by sample.
struct PairSamples {
  std::vector<CoreName> cores;
  std::vector<std::vector<double>> cells;  ///< as in a CoreMatrix; empty: not measured
  std::vector<double>& at(std::size_t i, std::size_t j) { return cells[i * cores.size() + j]; }
  const std::vector<double>& at(std::size_t i, std::size_t j) const {
    return cells[i * cores.size() + j];
  }
};
/// The median of each cell.
CoreMatrix medians(const PairSamples& samples);

/// Mean absolute difference (ns) between the address profiles of every two cores, each profile
/// centred on its own mean and averaged over its repetitions, over the addresses both have.
/// Symmetric, diagonal 0. nullopt: no usable profile.
std::optional<CoreMatrix> profile_distance(const ProbeRows& profile, TimeSource source);

/// What a victim did beside what its aggressors did.
struct Contention {
  std::string victim_work = "load";
  std::string work;
  bool control() const { return work == "register"; }  ///< shares nothing but power
  /// "load", "store_on_store": the victim's work is named unless it loads.
  std::string label() const { return work + (victim_work == "load" ? "" : "_on_" + victim_work); }
};
/// Every kind there may be rows of, loading victims first; slow_down() says whether there are.
std::vector<Contention> contentions_of(const ProbeRows& interfere, TimeSource source);

/// Slow-down of the victim (row) by one other core (column): its latency beside that aggressor over
/// its latency alone at the same work, the medians of each. For a subset design the cell is the
/// coefficient of that aggressor in a regression on membership, plus 1 (the victim alone is the
/// intercept). A victim that was not measured alone has no cells. nullopt: no row of that kind.
std::optional<CoreMatrix> slow_down(const ProbeRows& interfere, TimeSource source,
                                    const Contention& kind);

/// Samples of slow_down() for each kind that has any. A coefficient of a regression is one sample.
using ContentionSamples = std::vector<std::pair<Contention, PairSamples>>;
ContentionSamples slow_downs_of(const ProbeRows& interfere, TimeSource source);

/// One-way hand-off latency (ns) from the row's core to the column's, the median of its samples.
std::optional<CoreMatrix> handoff_latency(const ProbeRows& handoff, TimeSource source,
                                          const std::string& kind);

/// A partition of the cores.
struct TreeLevel {
  std::string name;  ///< "level_1" is the coarsest
  std::vector<std::vector<CoreName>> groups;
  std::optional<double> stability;  ///< bootstrap agreement, 0 to 1
  std::string basis;                ///< "profile.csv, mean absolute difference"
};

/// The tree of cores that the rows of a run show. `levels` empty: `none_found` (the rows would have
/// shown a structure of stated size) or `cannot_tell` (too few cores or rows), with the reason.
struct CoreTree {
  std::vector<TreeLevel> levels;  ///< coarsest first, each a refinement of the one before
  bool none_found = false;
  bool cannot_tell = false;
  std::string reason;
  std::vector<CoreName> order;  ///< every core seen, so that cores of a group are neighbours
};

/// From the rows and manifest alone: the manifest of a simulated device names no structure.
CoreTree infer_core_tree(const StoredRun& run);
/// The same where slow_downs_of() is worked out by someone else: asked when it is needed.
CoreTree infer_core_tree(const StoredRun& run,
                         const std::function<const ContentionSamples&()>& slow_downs);

/// A group with what is inside it, or (the root) all cores.
struct TreeNode {
  std::size_t level = 0;        ///< index into CoreTree::levels; of the root it means nothing
  std::vector<CoreName> cores;  ///< directly inside, in no group of a finer level
  std::vector<TreeNode> inside;
};
/// The levels as one tree over `cores` and all cores of the levels. A core that a level does not
/// name lies directly in what holds it.
TreeNode nested(const CoreTree& tree, const std::vector<CoreName>& cores);

/// topology.xml as hwloc 2 reads it (`lstopo --input`): Machine, a Group for each group with its
/// level as subtype, and a PU for each core, numbered by its position in the manifest, with its
/// name as info.
std::string topology_xml(const StoredRun& run, const CoreTree& tree);

/// topology.json: {"device", "levels":[{"name","groups","stability","basis"}], "none_found",
/// "reason"}; no level and not none_found: cannot tell.
std::string topology_json(const StoredRun& run, const CoreTree& tree);

}  // namespace sonde
