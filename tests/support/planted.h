#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "device/sim/topology.h"

namespace sonde::sim {

/// One level of what a modelled chip's cores share: the truth that no description tells.
struct PlantedLevel {
  std::string name;  ///< "die", "group", "subsystem"
  std::set<std::set<CoreName>> groups;
};

/// Every level that parts the cores and has an effect, coarsest first; of equal partitions the
/// coarser one's name. A group of one core alone is no level.
inline std::vector<PlantedLevel> planted_structure(const Chip& chip) {
  const Topology topology(chip);
  std::vector<PlantedLevel> levels;
  const auto add = [&](const std::string& name, auto of) {
    std::map<int, std::set<CoreName>> sets;
    bool joined = false;
    for (const CoreSite& site : topology.cores()) {
      auto& set = sets[of(site)];
      set.insert(site.name());
      joined = joined || set.size() > 1;
    }
    PlantedLevel level{name, {}};
    for (auto& [key, set] : sets) level.groups.insert(std::move(set));
    if (!joined || level.groups.size() < 2) return;
    if (!levels.empty() && levels.back().groups == level.groups) return;
    levels.push_back(std::move(level));
  };
  if (chip.memory.l2_far > chip.memory.l2_near) {
    add("die", [](const CoreSite& site) { return site.die; });
  }
  add("group", [](const CoreSite& site) { return site.group; });
  add("subsystem", [](const CoreSite& site) { return site.subsystem; });
  return levels;
}

}  // namespace sonde::sim
