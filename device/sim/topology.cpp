#include "device/sim/topology.h"

#include <algorithm>
#include <cstddef>

#include "core/rng.h"

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
        cores_.push_back({.number = number++,
                          .subsystem = static_cast<int>(id),
                          .group = s.group,
                          .die = s.die,
                          .stop = s.stop,
                          .place = i,
                          .cube = cube,
                          .kind = cube ? chip.multiplying_kind() : chip.moving_kind()});
      }
    }
  };
  add(chip.structure.vectors, false);
  vectors_ = cores_.size();
  add(chip.structure.cubes, true);
  scatter(chip.scatter, 0, vectors_);
  scatter(chip.scatter, vectors_, cores_.size() - vectors_);
}

void Topology::scatter(const Chip::Scatter& scatter, std::size_t first, std::size_t count) {
  Rng rng(key_of({scatter.key, first}));
  std::vector<CoreSite> sites(cores_.begin() + static_cast<std::ptrdiff_t>(first),
                              cores_.begin() + static_cast<std::ptrdiff_t>(first + count));
  const auto last = std::max<std::int64_t>(static_cast<std::int64_t>(count) - 1, 1);
  for (CoreSite& site : sites) {
    site.along_row = site.number * kRow / last;
    site.offset =
        static_cast<Ticks>(rng.below(static_cast<std::uint64_t>(scatter.core_offset) + 1));
  }
  if (scatter.shuffled_ids) shuffle(sites, rng);
  for (std::size_t i = 0; i < count; ++i) {
    sites[i].number = static_cast<int>(i);
    cores_[first + i] = sites[i];
  }
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
      if (site.place != of_subsystem) continue;
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

std::span<const CoreSite> Topology::cores_of(const std::string& kind) const {
  for (const auto cores : {vectors(), cubes()}) {
    if (!cores.empty() && cores.front().kind == kind) return cores;
  }
  return {};
}

std::optional<int> Topology::find(const CoreName& name) const {
  const auto cores = cores_of(name.kind);
  if (name.number < 0 || static_cast<std::size_t>(name.number) >= cores.size()) {
    return std::nullopt;
  }
  return static_cast<int>(cores.data() - cores_.data()) + name.number;
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
  const auto cores = cores_of(kind);
  return cores.empty() ? none : cores.front().cube ? cube_order_ : vector_order_;
}

}  // namespace sonde::sim
