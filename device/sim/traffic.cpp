#include "device/sim/traffic.h"

#include <algorithm>
#include <array>
#include <cstddef>

namespace sonde::sim {

namespace {

constexpr std::int64_t kMillion = 1'000'000;

/// Waiting of a request at a server that transfers of `grant` bytes keep busy: that of a queue with
/// random arrivals and equal service times (M/D/1), but no flow ever has more than one transfer
/// there, and the one in service is half done in the mean.
Ticks wait_at(std::int64_t used, std::int64_t flows, std::int64_t capacity, std::int64_t grant) {
  if (flows == 0) return 0;
  const Ticks service = multiply_divide_up(grant, kTicksPerSecond, capacity);
  const std::int64_t load_ppm = std::min(multiply_divide_up(used, kMillion, capacity), kMillion);
  const Ticks most = multiply_divide_up(service * (2 * flows - 1), load_ppm, 2 * kMillion);
  if (load_ppm == kMillion) return most;
  return std::min(most, multiply_divide_up(service, load_ppm, 2 * (kMillion - load_ppm)));
}

/// A resource while it is being shared out.
struct Shared {
  std::int64_t capacity = 0;
  std::int64_t taken = 0;  ///< by flows that are settled
  std::int64_t open = 0;   ///< flows that are not
};

}  // namespace

std::int64_t rate_of(const Chip& chip, std::int64_t bytes_per_cycle) {
  return bytes_per_cycle * chip.clock_hz;
}

Ticks mean_latency(const Chip& chip, std::int64_t hit_ppm) {
  const Chip::Memory& m = chip.memory;
  const Ticks l2 = (m.l2_near + m.l2_far) / 2;
  const Ticks hbm = (m.hbm_near + m.hbm_far) / 2;
  return (l2 * hit_ppm + hbm * (kMillion - hit_ppm)) / kMillion;
}

Ticks core_read_time(const Chip& chip, const CoreSite& site, std::int64_t bytes,
                     const Tiling& tiling, std::int64_t hit_ppm) {
  const std::int64_t commands = tiling.commands(bytes);
  const Ticks latency = mean_latency(chip, hit_ppm);
  const std::int64_t port = chip.subsystem_port.bytes_per_cycle;
  const auto transfer = [&](std::int64_t piece) {
    return chip.cycles(divide_up(std::min(piece, bytes), port));
  };
  if (site.cube) {
    const std::int64_t slots = tiling.buffers
                                   ? *tiling.buffers * divide_up(tiling.tile, tiling.command)
                                   : chip.mte.cube_slots;
    const Ticks each = chip.cycles(chip.mte.startup_cycles) + latency + transfer(tiling.command);
    return divide_up(commands * each, slots);
  }
  const Ticks moved = std::max(chip.cycles(commands * chip.mte.issue_cycles),
                               multiply_divide_up(bytes, latency, chip.mte.in_flight_bytes));
  if (!tiling.buffers) return moved;
  // A buffer is busy from the command to the last byte; the next tile waits for a free one.
  const Ticks each = latency + transfer(tiling.tile);
  return std::max(moved, multiply_divide_up(divide_up(bytes, tiling.tile), each, *tiling.buffers));
}

Ticks core_write_time(const Chip& chip, const CoreSite& site, std::int64_t bytes,
                      const Tiling& tiling, std::int64_t hit_ppm) {
  if (site.cube) return chip.cycles(divide_up(bytes, chip.subsystem_port.bytes_per_cycle));
  const std::int64_t kept = multiply_divide_up(bytes, hit_ppm, kMillion);
  const std::int64_t cycles = divide_up(kept, chip.mte.l2_write_bytes_per_cycle) +
                              divide_up(bytes - kept, chip.mte.memory_write_bytes_per_cycle);
  return chip.cycles(std::max(cycles, tiling.commands(bytes) * chip.mte.issue_cycles));
}

void share(const Chip& chip, std::vector<Flow>& flows) {
  // Resources: the HBM, then the groups, then the subsystems, each flow in one of each.
  std::size_t groups = 0;
  std::size_t subsystems = 0;
  for (const Flow& flow : flows) {
    groups = std::max(groups, static_cast<std::size_t>(flow.site.group) + 1);
    subsystems = std::max(subsystems, static_cast<std::size_t>(flow.site.subsystem) + 1);
  }
  std::vector<Shared> shared(1 + groups + subsystems,
                             {rate_of(chip, chip.subsystem_port.bytes_per_cycle), 0, 0});
  shared[0].capacity = chip.memory.hbm_bytes_per_s;
  for (std::size_t g = 1; g <= groups; ++g) {
    shared[g].capacity = rate_of(chip, chip.group_port.bytes_per_cycle);
  }
  const auto uses = [&](const Flow& flow) {
    return std::array<std::size_t, 3>{0, 1 + static_cast<std::size_t>(flow.site.group),
                                      1 + groups + static_cast<std::size_t>(flow.site.subsystem)};
  };
  std::vector<bool> settled(flows.size(), false);
  for (const Flow& flow : flows) {
    for (std::size_t r : uses(flow)) ++shared[r].open;
  }
  const auto fair = [](const Shared& s) { return (s.capacity - s.taken) / s.open; };
  for (std::size_t left = flows.size(); left > 0;) {
    std::int64_t level = chip.memory.hbm_bytes_per_s;
    for (const Shared& s : shared) {
      if (s.open > 0) level = std::min(level, fair(s));
    }
    for (std::size_t i = 0; i < flows.size(); ++i) {
      if (!settled[i]) level = std::min(level, flows[i].wanted);
    }
    // Who is full is decided before anyone is settled, so that the order of flows plays no part.
    std::vector<std::size_t> full;
    for (std::size_t i = 0; i < flows.size(); ++i) {
      if (settled[i]) continue;
      const auto used = uses(flows[i]);
      const bool bound = std::any_of(used.begin(), used.end(),
                                     [&](std::size_t r) { return fair(shared[r]) <= level; });
      if (bound || flows[i].wanted <= level) full.push_back(i);
    }
    for (std::size_t i : full) {
      settled[i] = true;
      flows[i].granted = level;
      for (std::size_t r : uses(flows[i])) {
        shared[r].taken += level;
        --shared[r].open;
      }
    }
    left -= full.size();
  }
}

Ticks added_wait(const Chip& chip, const CoreSite& victim, const std::vector<Flow>& flows) {
  struct Sum {
    std::int64_t used = 0;
    std::int64_t flows = 0;
    void add(const Flow& flow) {
      used += flow.granted;
      ++flows;
    }
  } subsystem, group, all;
  for (const Flow& flow : flows) {
    if (flow.granted == 0) continue;
    if (flow.site.subsystem == victim.subsystem) subsystem.add(flow);
    if (flow.site.group == victim.group) group.add(flow);
    all.add(flow);
  }
  const std::int64_t grant = chip.group_port.grant_bytes;
  // All slices are used alike, so each has its share of the traffic and one is like another; what
  // keeps one busy is a block of the interleave.
  const std::int64_t slice = rate_of(chip, chip.noc.slice_bytes_per_cycle);
  return wait_at(subsystem.used, subsystem.flows,
                 rate_of(chip, chip.subsystem_port.bytes_per_cycle), grant) +
         wait_at(group.used, group.flows, rate_of(chip, chip.group_port.bytes_per_cycle), grant) +
         wait_at(all.used / chip.memory.channels, all.flows, slice, chip.memory.interleave_bytes);
}

}  // namespace sonde::sim
