#include "harness/model_tree.h"

#include <algorithm>
#include <map>
#include <set>

#include "core/statistics.h"

namespace sonde {
namespace {

/// Number of the subsystem in the naming of the study: one Cube and two Vector cores each.
int subsystem_of(const CoreName& core) {
  return core.kind == "cube" ? core.number : core.number / 2;
}

const ModelRuns::Level& level_at(const std::vector<ModelRuns::Level>& tree, std::size_t index) {
  if (index < tree.size()) return tree[index];
  throw NoValue("the rows show a tree of " + std::to_string(tree.size()) + " levels");
}

}  // namespace

double die_count(const std::vector<ModelRuns::Level>& tree) {
  return static_cast<double>(level_at(tree, 0).size());
}

double die_cores(const std::vector<ModelRuns::Level>& tree) {
  std::size_t cores = 0;
  std::vector<std::size_t> even, odd;  // of each group
  for (const auto& group : level_at(tree, 0)) {
    const auto evens = static_cast<std::size_t>(std::count_if(
        group.begin(), group.end(), [](const auto& core) { return subsystem_of(core) % 2 == 0; }));
    even.push_back(evens);
    odd.push_back(group.size() - evens);
    cores += group.size();
  }
  std::size_t most = 0;
  for (std::size_t a = 0; a < even.size(); ++a) {
    for (std::size_t b = 0; b < odd.size(); ++b) {
      if (a != b) most = std::max(most, even[a] + odd[b]);
    }
  }
  return static_cast<double>(most) / static_cast<double>(cores);
}

double group_pairs(const std::vector<ModelRuns::Level>& tree) {
  constexpr int kNamed = 6;
  std::vector<std::pair<int, std::size_t>> cores;  // subsystem and group
  const ModelRuns::Level& level = level_at(tree, 1);
  for (std::size_t g = 0; g < level.size(); ++g) {
    for (const CoreName& core : level[g]) {
      if (subsystem_of(core) < kNamed) cores.emplace_back(subsystem_of(core), g);
    }
  }
  std::int64_t pairs = 0, right = 0;
  for (std::size_t a = 0; a < cores.size(); ++a) {
    for (std::size_t b = 0; b < a; ++b) {
      const bool together = cores[a].first % 2 == cores[b].first % 2;
      ++pairs;
      if (together == (cores[a].second == cores[b].second)) ++right;
    }
  }
  if (pairs == 0) throw NoValue("no core of subsystems 0 to 5 is in the tree");
  return static_cast<double>(right) / static_cast<double>(pairs);
}

double subsystem_cores(const std::vector<ModelRuns::Level>& tree, const std::string& kind) {
  std::set<std::ptrdiff_t> counts;
  for (const auto& group : level_at(tree, 2)) {
    counts.insert(std::count_if(group.begin(), group.end(),
                                [&](const CoreName& core) { return core.kind == kind; }));
  }
  if (counts.size() == 1) return static_cast<double>(*counts.begin());
  throw NoValue("groups of " + std::to_string(*counts.begin()) + " to " +
                std::to_string(*counts.rbegin()) + " cores of kind " + kind);
}

double register_cost(const ModelRuns& runs, const std::string& device) {
  const Schema& schema = interfere_schema();
  const auto points = runs.medians(device, "", "interfere", "latency_ns");
  std::map<std::string, double> alone;
  for (const auto& point : points) {
    if (point.axes.text(schema, "aggressor_work") == "none") {
      alone.emplace(point.axes.text(schema, "victim"), point.value);
    }
  }
  std::vector<double> added;
  for (const auto& point : points) {
    const auto found = alone.find(point.axes.text(schema, "victim"));
    if (point.axes.text(schema, "aggressor_work") == "register" && found != alone.end()) {
      added.push_back(point.value - found->second);
    }
  }
  const auto value = median(added);
  if (!value) throw NoValue("no victim beside register work on " + device);
  return *value;
}

}  // namespace sonde
