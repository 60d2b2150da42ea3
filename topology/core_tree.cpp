#include "topology/core_tree.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <tuple>

#include "core/parse.h"
#include "topology/cluster.h"
#include "topology/sources.h"

namespace sonde {
namespace {

/// Partitions of the cores they share this much alike (adjusted Rand index) are one level.
constexpr double kSameLevel = 0.9;
/// Cores that may move for one level to fit into another; above it the two disagree.
constexpr double kMostMoved = 0.05;

using GroupOf = std::map<CoreName, int>;

GroupOf group_of(const std::vector<std::vector<CoreName>>& groups) {
  GroupOf result;
  for (std::size_t g = 0; g < groups.size(); ++g) {
    for (const CoreName& core : groups[g]) result[core] = static_cast<int>(g);
  }
  return result;
}

/// Groups by their smallest core, cores by name.
std::vector<std::vector<CoreName>> in_order(const std::map<CoreName, std::pair<int, int>>& keys) {
  std::map<std::pair<int, int>, std::vector<CoreName>> sets;
  for (const auto& [core, key] : keys) sets[key].push_back(core);
  std::vector<std::vector<CoreName>> groups;
  groups.reserve(sets.size());
  for (auto& [key, cores] : sets) groups.push_back(std::move(cores));
  std::sort(groups.begin(), groups.end());
  return groups;
}

struct Overlap {
  std::size_t cores = 0;  // that both name
  double agreement = 0;   // adjusted Rand index over them
  int groups_a = 0, groups_b = 0;
};

Overlap overlap_of(const NamedLevel& a, const NamedLevel& b) {
  const GroupOf in_a = group_of(a.groups), in_b = group_of(b.groups);
  Partition part_a, part_b;
  for (const auto& [core, group] : in_a) {
    const auto found = in_b.find(core);
    if (found == in_b.end()) continue;
    part_a.push_back(group);
    part_b.push_back(found->second);
  }
  Overlap result;
  result.cores = part_a.size();
  if (result.cores == 0) return result;
  part_a = renumbered(part_a);
  part_b = renumbered(part_b);
  result.groups_a = group_count(part_a);
  result.groups_b = group_count(part_b);
  result.agreement = adjusted_rand(part_a, part_b, one_group(result.cores));
  return result;
}

/// Makes `fine` a refinement of `coarse`: each of its groups keeps the coarse group most of its
/// cores are in, the rest become groups of their own. Returns how many cores that moved.
std::size_t refine(NamedLevel& fine, const NamedLevel& coarse) {
  const GroupOf outer = group_of(coarse.groups);
  std::map<CoreName, std::pair<int, int>> keys;
  std::size_t moved = 0;
  for (std::size_t g = 0; g < fine.groups.size(); ++g) {
    std::map<int, std::size_t> votes;
    for (const CoreName& core : fine.groups[g]) {
      if (const auto found = outer.find(core); found != outer.end()) ++votes[found->second];
    }
    int home = -1;
    for (const auto& [group, count] : votes) {
      if (home < 0 || count > votes[home]) home = group;
    }
    for (const CoreName& core : fine.groups[g]) {
      const auto found = outer.find(core);
      const int group = found == outer.end() ? home : found->second;
      keys[core] = {static_cast<int>(g), group};
      if (group != home) ++moved;
    }
  }
  fine.groups = in_order(keys);
  return moved;
}

/// Makes `coarse` hold each group of `fine` whole: where most of its cores are. Returns how many
/// cores that moved.
std::size_t coarsen(NamedLevel& coarse, const NamedLevel& fine) {
  const GroupOf outer = group_of(coarse.groups);
  std::map<CoreName, std::pair<int, int>> keys;
  for (const auto& [core, group] : outer) keys[core] = {group, 0};
  std::size_t moved = 0;
  for (const auto& cores : fine.groups) {
    std::map<int, std::size_t> votes;
    for (const CoreName& core : cores) {
      if (const auto found = outer.find(core); found != outer.end()) ++votes[found->second];
    }
    if (votes.empty()) continue;
    const int home = std::max_element(votes.begin(), votes.end(), [](const auto& a, const auto& b) {
                       return a.second < b.second;
                     })->first;
    for (const CoreName& core : cores) {
      const auto found = outer.find(core);
      // A core that the coarse level did not see goes where its neighbours are.
      if (found != outer.end() && found->second != home) ++moved;
      keys[core] = {home, 0};
    }
  }
  coarse.groups = in_order(keys);
  return moved;
}

struct Acceptance {
  bool fits = true;  ///< false: it disagrees with one that is better supported
  std::string note;  ///< what there is to say about it
};

/// Adds `level` to the accepted ones: as another basis of one that is there, as a level that nests,
/// or not at all.
Acceptance accept(NamedLevel level, std::vector<NamedLevel>& accepted) {
  const auto join = [&](NamedLevel& same) {
    if (same.basis.find(level.basis) == std::string::npos) same.basis += ", " + level.basis;
    // Cores that only the other source saw join the group that their neighbours there are in.
    coarsen(same, level);
  };
  for (NamedLevel& other : accepted) {
    const Overlap overlap = overlap_of(level, other);
    const bool shared =
        2 * overlap.cores >= std::min(group_of(level.groups).size(), group_of(other.groups).size());
    if (shared && overlap.agreement >= kSameLevel) {
      join(other);
      return {};
    }
  }
  std::size_t moved = 0;
  for (const NamedLevel& other : accepted) {
    const Overlap overlap = overlap_of(level, other);
    if (overlap.cores == 0) continue;
    const std::size_t moves =
        overlap.groups_a >= overlap.groups_b ? refine(level, other) : coarsen(level, other);
    if (static_cast<double>(moves) > kMostMoved * static_cast<double>(overlap.cores)) {
      return {false, level.basis + ": " + std::to_string(overlap.groups_a) +
                         " groups disagree with the " + std::to_string(overlap.groups_b) + " of " +
                         other.basis + ", which is better supported"};
    }
    moved += moves;
  }
  for (const NamedLevel& other : accepted) {
    if (other.groups == level.groups) return {};
  }
  std::string note;
  if (moved > 0) {
    note = level.basis + ": " + std::to_string(moved) + " cores moved for " +
           std::to_string(level.groups.size()) + " groups to fit the other levels";
  }
  accepted.push_back(std::move(level));
  return {true, note};
}

/// Coarsest first, each a refinement of the one before.
void make_nested(std::vector<NamedLevel>& accepted) {
  std::stable_sort(accepted.begin(), accepted.end(), [](const NamedLevel& a, const NamedLevel& b) {
    return a.groups.size() < b.groups.size();
  });
  for (std::size_t i = accepted.size(); i-- > 1;) coarsen(accepted[i - 1], accepted[i]);
  // What moved may have made two levels one, or left all cores in one group.
  std::erase_if(accepted, [](const NamedLevel& level) { return level.groups.size() < 2; });
  accepted.erase(
      std::unique(accepted.begin(), accepted.end(),
                  [](const NamedLevel& a, const NamedLevel& b) { return a.groups == b.groups; }),
      accepted.end());
}

/// All cores, those of a group side by side at every level.
std::vector<CoreName> leaf_order(const std::vector<TreeLevel>& levels,
                                 const std::set<CoreName>& seen) {
  std::map<CoreName, std::vector<int>> keys;
  for (const CoreName& core : seen) keys[core] = {};
  for (const TreeLevel& level : levels) {
    const GroupOf groups = group_of(level.groups);
    for (auto& [core, key] : keys) {
      const auto found = groups.find(core);
      key.push_back(found == groups.end() ? std::numeric_limits<int>::max() : found->second);
    }
  }
  std::vector<CoreName> order(seen.begin(), seen.end());
  std::stable_sort(order.begin(), order.end(),
                   [&](const CoreName& a, const CoreName& b) { return keys.at(a) < keys.at(b); });
  return order;
}

}  // namespace

CoreTree infer_core_tree(const StoredRun& run) {
  ContentionSamples slow_downs;
  return infer_core_tree(run, [&]() -> const ContentionSamples& {
    return slow_downs = slow_downs_of(*run.probe("interfere"), run.manifest.device.time_source);
  });
}

CoreTree infer_core_tree(const StoredRun& run,
                         const std::function<const ContentionSamples&()>& slow_downs) {
  const TimeSource source = run.manifest.device.time_source;
  const std::uint64_t seed = run.manifest.seed;
  std::vector<SourceResult> results;
  std::vector<std::string> notes;
  for (const char* name : {"profile", "interfere", "handoff"}) {
    const ProbeRows* rows = run.probe(name);
    if (rows == nullptr) continue;
    if (rows->refused()) notes.push_back(rows->file + " is refused");
    if (!rows->table) continue;
    if (rows->schema->probe == "profile") {
      results.push_back(judge_profile(*rows, source, seed));
      continue;
    }
    std::vector<SourceResult> more = rows->schema->probe == "interfere"
                                         ? judge_interference(slow_downs(), rows->file, seed)
                                         : judge_handoff(*rows, source, seed);
    if (more.empty()) notes.push_back(rows->file + ": no usable pair of cores");
    for (SourceResult& result : more) results.push_back(std::move(result));
  }

  CoreTree tree;
  std::set<CoreName> seen;
  std::vector<NamedLevel> candidates;
  bool judged = false;
  std::vector<std::string> verdicts;
  for (const SourceResult& result : results) {
    seen.insert(result.seen.begin(), result.seen.end());
    candidates.insert(candidates.end(), result.levels.begin(), result.levels.end());
    judged = judged || result.judged;
    verdicts.push_back(result.verdict);
  }
  // The best supported first: what comes later must fit. Stability to the twentieth, then the
  // number of cores, then the contrast.
  std::stable_sort(candidates.begin(), candidates.end(),
                   [](const NamedLevel& a, const NamedLevel& b) {
                     const auto key = [](const NamedLevel& level) {
                       return std::tuple(std::round(20 * level.stability),
                                         group_of(level.groups).size(), level.strength);
                     };
                     return key(a) > key(b);
                   });
  std::vector<NamedLevel> accepted;
  std::set<std::string> disagreeing;
  for (NamedLevel& candidate : candidates) {
    const std::string basis = candidate.basis;
    const Acceptance said = accept(std::move(candidate), accepted);
    if (!said.note.empty()) notes.push_back(said.note);
    if (!said.fits) disagreeing.insert(basis);
  }
  make_nested(accepted);
  if (!accepted.empty()) {
    const std::vector<std::vector<CoreName>> finest = accepted.back().groups;
    for (const SourceResult& result : results) {
      // Inside its own levels a source has been looked at; one that cuts across the others would
      // only give the parts that its groups are cut into.
      const bool own = std::any_of(result.levels.begin(), result.levels.end(),
                                   [&](const NamedLevel& level) { return level.groups == finest; });
      if (own || disagreeing.contains(result.basis)) continue;
      for (NamedLevel& level : levels_inside(result, finest, seed)) {
        const std::size_t count = level.groups.size();
        const Acceptance said = accept(std::move(level), accepted);
        notes.push_back(said.note.empty()
                            ? result.basis + ": " + std::to_string(count) +
                                  " groups inside those " + std::to_string(finest.size())
                            : said.note);
      }
    }
    make_nested(accepted);
  }
  for (NamedLevel& level : accepted) {
    tree.levels.push_back({"level_" + std::to_string(tree.levels.size() + 1),
                           std::move(level.groups), level.stability, level.basis});
  }
  if (results.empty() && notes.empty()) {
    notes.emplace_back("no profile, interference or hand-off rows");
  }
  verdicts.insert(verdicts.end(), notes.begin(), notes.end());
  for (const std::string& verdict : verdicts) {
    tree.reason += (tree.reason.empty() ? "" : "; ") + verdict;
  }
  tree.none_found = tree.levels.empty() && judged;
  tree.cannot_tell = tree.levels.empty() && !judged;
  tree.order = leaf_order(tree.levels, seen);
  return tree;
}

std::string topology_json(const StoredRun& run, const CoreTree& tree) {
  using Json = nlohmann::ordered_json;
  Json json;
  json["device"] = run.manifest.device.name;
  json["levels"] = Json::array();
  for (const TreeLevel& level : tree.levels) {
    Json entry;
    entry["name"] = level.name;
    entry["groups"] = Json::array();
    for (const auto& group : level.groups) {
      Json names = Json::array();
      for (const CoreName& core : group) names.push_back(core.str());
      entry["groups"].push_back(std::move(names));
    }
    if (level.stability) entry["stability"] = *level.stability;
    entry["basis"] = level.basis;
    json["levels"].push_back(std::move(entry));
  }
  json["none_found"] = tree.none_found;
  json["reason"] = tree.reason;
  // Names that came from outside may not be UTF-8.
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace sonde
