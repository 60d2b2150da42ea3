#include "device/sim/stream_model.h"

#include <algorithm>
#include <map>

#include "device/sim/traffic.h"

namespace sonde::sim {

namespace {

constexpr std::int64_t kMillion = 1'000'000;

/// Reads and writes of one core, in bytes over all passes.
struct Demand {
  std::int64_t read = 0;
  std::int64_t written = 0;
};

Demand demand_of(const StreamWork& work) {
  const std::int64_t bytes = work.bytes * work.passes;
  return {work.kind == "write" ? 0 : bytes, work.kind == "read" ? 0 : bytes};
}

/// Time of the slowest core's own transfer engine.
Ticks engine_time(const Chip& chip, const std::vector<CoreSite>& sites, const StreamWork& work,
                  std::int64_t hit_ppm) {
  const Demand demand = demand_of(work);
  const std::int64_t command = work.request_bytes * work.requests;
  const auto in_pass = [&](std::int64_t bytes) { return bytes / work.passes; };
  Ticks slowest = 0;
  for (const CoreSite& site : sites) {
    const Ticks read = core_read_time(chip, site, in_pass(demand.read), command, hit_ppm);
    const Ticks written = core_write_time(chip, site, in_pass(demand.written), command, hit_ppm);
    // Reading ahead while writing needs two commands in the buffer; else they take turns.
    const bool both = 2 * command <= chip.mte.buffer_bytes;
    slowest = std::max(slowest, both ? std::max(read, written) : read + written);
  }
  return slowest * work.passes;
}

/// Time of the fullest of the ports that `place` names; reads and writes have a way each.
template <class Place>
Ticks port_time(const Chip& chip, const std::vector<CoreSite>& sites, std::int64_t bytes,
                std::int64_t bytes_per_cycle, Place place) {
  std::map<int, std::int64_t> cores;
  std::int64_t most = 0;
  for (const CoreSite& site : sites) most = std::max(most, ++cores[place(site)]);
  return multiply_divide_up(most, multiply_divide_up(bytes, kTicksPerSecond, chip.clock_hz),
                            bytes_per_cycle);
}

Ticks hbm_time(const Chip& chip, std::int64_t cores, const StreamWork& work, std::int64_t hit_ppm) {
  const Demand demand = demand_of(work);
  const std::int64_t walks = work.shared ? 1 : cores;  // a shared line is fetched once for all
  const std::int64_t bytes = walks * (demand.read + demand.written);
  const std::int64_t pieces =
      walks * work.arrays() * work.passes * divide_up(work.bytes, work.request_bytes);
  const std::int64_t busy =
      multiply_divide_up(bytes + pieces * chip.memory.piece_bytes, kMillion - hit_ppm, kMillion);
  const bool mixed = demand.read > 0 && demand.written > 0;
  const std::int64_t rate =
      mixed ? multiply_divide_up(chip.memory.hbm_bytes_per_s, chip.memory.mixed_share_ppm, kMillion)
            : chip.memory.hbm_bytes_per_s;
  return multiply_divide_up(busy, kTicksPerSecond, rate);
}

}  // namespace

std::int64_t working_set(const StreamWork& work) {
  const auto cores = static_cast<std::int64_t>(work.cores.size());
  return work.arrays() * work.bytes * (work.shared ? 1 : cores);
}

StreamTime stream_time(const Chip& chip, const std::vector<CoreSite>& sites, const StreamWork& work,
                       std::int64_t hit_ppm) {
  const Demand demand = demand_of(work);
  const auto cores = static_cast<std::int64_t>(sites.size());
  const std::int64_t wider = std::max(demand.read, demand.written);
  const std::int64_t slices = rate_of(chip, chip.memory.channels * chip.noc.slice_bytes_per_cycle);
  const StreamTime candidates[] = {
      {hbm_time(chip, cores, work, hit_ppm), "HBM"},
      {engine_time(chip, sites, work, hit_ppm), "transfer engine"},
      {port_time(chip, sites, wider, chip.subsystem_port.bytes_per_cycle,
                 [](const CoreSite& s) { return s.subsystem; }),
       "subsystem port"},
      {port_time(chip, sites, wider, chip.group_port.bytes_per_cycle,
                 [](const CoreSite& s) { return s.group; }),
       "group port"},
      {multiply_divide_up(cores * (demand.read + demand.written), kTicksPerSecond, slices),
       "L2 slices"}};
  StreamTime time =
      *std::max_element(std::begin(candidates), std::end(candidates),
                        [](const StreamTime& a, const StreamTime& b) { return a.total < b.total; });
  time.total +=
      chip.kernel_launch + chip.cycles(chip.mte.startup_cycles) + mean_latency(chip, hit_ppm);
  return time;
}

}  // namespace sonde::sim
