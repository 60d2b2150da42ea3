#include "device/sim/topology.h"

#include <algorithm>
#include <cstddef>

namespace sonde::sim {

Topology::Topology(const Chip& chip) : dies_(chip.structure.dies) {
  place(chip);
  order_blocks(chip);
}

void Topology::place(const Chip& chip) {
  struct Subsystem {
    int rank;  // among the working ones of its die
    int group;
    int die;
  };
  std::vector<Subsystem> subsystems;
  for (int die = 0; die < dies_; ++die) {
    int rank = 0;
    for (std::int64_t working : chip.structure.working[static_cast<std::size_t>(die)]) {
      if (working == 0) continue;
      for (std::int64_t i = 0; i < working; ++i) subsystems.push_back({rank++, groups_, die});
      ++groups_;
    }
  }
  // A logical id is a position in this order: dies in turn, or one die after the other.
  if (chip.structure.interleaved_ids) {
    std::stable_sort(subsystems.begin(), subsystems.end(),
                     [](const Subsystem& a, const Subsystem& b) { return a.rank < b.rank; });
  }
  for (std::size_t id = 0; id < subsystems.size(); ++id) {
    for (int v = 0; v < chip.structure.vectors; ++v) {
      vectors_.push_back({static_cast<int>(vectors_.size()), static_cast<int>(id),
                          subsystems[id].group, subsystems[id].die});
    }
  }
}

void Topology::order_blocks(const Chip& chip) {
  struct Queue {
    int turn;  // group's position on its die
    int die;
    std::vector<int> cores;
  };
  std::vector<Queue> queues(static_cast<std::size_t>(groups_));
  for (int v = 0; v < chip.structure.vectors; ++v) {
    for (const CoreSite& site : vectors_) {
      if (site.number % chip.structure.vectors != v) continue;
      Queue& queue = queues[static_cast<std::size_t>(site.group)];
      queue.die = site.die;
      queue.cores.push_back(site.number);
    }
  }
  std::vector<int> seen(static_cast<std::size_t>(dies_), 0);
  for (Queue& queue : queues) queue.turn = seen[static_cast<std::size_t>(queue.die)]++;
  std::stable_sort(queues.begin(), queues.end(), [](const Queue& a, const Queue& b) {
    return a.turn != b.turn ? a.turn < b.turn : a.die < b.die;
  });
  for (std::size_t round = 0; block_order_.size() < vectors_.size(); ++round) {
    for (const Queue& queue : queues) {
      if (round < queue.cores.size()) block_order_.push_back(queue.cores[round]);
    }
  }
}

}  // namespace sonde::sim
