#include "device/sim/topology.h"

#include <algorithm>
#include <cstddef>

namespace sonde::sim {

Topology::Topology(const Chip& chip) : dies_(chip.structure.dies) {
  place(chip);
  vector_order_ = order_blocks(vectors(), 0, chip.structure.vectors);
  cube_order_ = order_blocks(cubes(), static_cast<int>(vectors_), chip.structure.cubes);
}

void Topology::place(const Chip& chip) {
  struct Subsystem {
    int rank;  // among the working ones of its die
    int group;
    int die;
    int stop;
  };
  std::vector<Subsystem> subsystems;
  const auto stops = static_cast<std::size_t>(chip.memory.channels / dies_);
  for (int die = 0; die < dies_; ++die) {
    int rank = 0;
    // A harvested group leaves its place on the ring empty.
    const auto& slots = chip.structure.working[static_cast<std::size_t>(die)];
    for (std::size_t slot = 0; slot < slots.size(); ++slot) {
      if (slots[slot] == 0) continue;
      const auto stop = static_cast<int>(slot * stops / slots.size());
      for (std::int64_t i = 0; i < slots[slot]; ++i) {
        subsystems.push_back({rank++, groups_, die, stop});
      }
      ++groups_;
    }
  }
  // A logical id is a position in this order: dies in turn, or one die after the other.
  if (chip.structure.interleaved_ids) {
    std::stable_sort(subsystems.begin(), subsystems.end(),
                     [](const Subsystem& a, const Subsystem& b) { return a.rank < b.rank; });
  }
  const auto add = [&](int each, bool cube) {
    int number = 0;
    for (std::size_t id = 0; id < subsystems.size(); ++id) {
      const Subsystem& s = subsystems[id];
      for (int i = 0; i < each; ++i) {
        cores_.push_back({number++, static_cast<int>(id), s.group, s.die, s.stop, cube});
      }
    }
  };
  add(chip.structure.vectors, false);
  vectors_ = cores_.size();
  add(chip.structure.cubes, true);
}

std::vector<int> Topology::order_blocks(std::span<const CoreSite> cores, int first,
                                        int each) const {
  struct Queue {
    int turn = 0;  // group's position on its die
    int die = 0;
    std::vector<int> cores;
  };
  std::vector<Queue> queues(static_cast<std::size_t>(groups_));
  for (int of_subsystem = 0; of_subsystem < each; ++of_subsystem) {
    for (const CoreSite& site : cores) {
      if (site.number % each != of_subsystem) continue;
      Queue& queue = queues[static_cast<std::size_t>(site.group)];
      queue.die = site.die;
      queue.cores.push_back(first + site.number);
    }
  }
  std::vector<int> seen(static_cast<std::size_t>(dies_), 0);
  for (Queue& queue : queues) queue.turn = seen[static_cast<std::size_t>(queue.die)]++;
  std::stable_sort(queues.begin(), queues.end(), [](const Queue& a, const Queue& b) {
    return a.turn != b.turn ? a.turn < b.turn : a.die < b.die;
  });
  std::vector<int> order;
  for (std::size_t round = 0; order.size() < cores.size(); ++round) {
    for (const Queue& queue : queues) {
      if (round < queue.cores.size()) order.push_back(queue.cores[round]);
    }
  }
  return order;
}

std::optional<int> Topology::find(const CoreName& name) const {
  const std::size_t first = name.kind == "cube" ? vectors_ : 0;
  const std::size_t count = name.kind == "cube"     ? cores_.size() - vectors_
                            : name.kind == "vector" ? vectors_
                                                    : 0;
  if (name.number < 0 || static_cast<std::size_t>(name.number) >= count) return std::nullopt;
  return static_cast<int>(first) + name.number;
}

std::string Topology::names() const {
  const auto range = [](std::span<const CoreSite> cores) {
    return cores.front().name().str() + " to " + cores.back().name().str();
  };
  std::string text = "cores are " + range(vectors());
  if (!cubes().empty()) text += " and " + range(cubes());
  return text;
}

const std::vector<int>& Topology::block_order(const std::string& kind) const {
  static const std::vector<int> none;
  return kind == "vector" ? vector_order_ : kind == "cube" ? cube_order_ : none;
}

}  // namespace sonde::sim
