#include "device/sim/stream_model.h"

#include <algorithm>
#include <map>

namespace sonde::sim {

namespace {

constexpr std::int64_t kMillion = 1'000'000;

/// Reads and writes of one core, in bytes over all passes.
struct Demand {
  std::int64_t read = 0;   ///< for the first time in a pass
  std::int64_t again = 0;  ///< re-reads of a tile that was just read
  std::int64_t written = 0;
  std::int64_t all() const { return read + again + written; }
};

Demand demand_of(const StreamWork& work) {
  const std::int64_t bytes = work.bytes * work.passes;
  const std::int64_t read = work.kind == "write" ? 0 : bytes;
  return {read, read * (work.reread - 1), work.kind == "read" ? 0 : bytes};
}

/// Every core walks the same addresses at the same time.
bool in_step(const StreamWork& work) {
  return work.shared && work.pattern == "same" && work.cores.size() > 1;
}

Ticks longer(Ticks time, std::int64_t extra_ppm) {
  return multiply_divide_up(time, kMillion + extra_ppm, kMillion);
}

/// What unaligned rows cost a core, in parts per million.
std::int64_t misaligned_ppm(const Chip& chip, const CoreSite& site, const StreamWork& work) {
  return work.alignment % chip.memory.line_bytes == 0 ? 0
         : site.cube                                  ? chip.mte.unaligned_cube_ppm
                                                      : chip.mte.unaligned_vector_ppm;
}

/// Time of the slowest core's own transfer engine.
Ticks engine_time(const Chip& chip, const std::vector<CoreSite>& sites, const StreamWork& work,
                  std::int64_t hit_ppm) {
  const Tiling tiling = tiling_of(work);
  const std::int64_t bytes = work.bytes;
  // A tile that was just read is still in the L2, if those of all cores fit there.
  const auto cores = static_cast<std::int64_t>(sites.size());
  const std::int64_t again_ppm = tiling.tile > chip.l2_bytes() / cores ? hit_ppm : kMillion;
  // Reading ahead while writing needs two tiles in the buffer; else they take turns.
  const bool both = tiling.buffers ? *tiling.buffers > 1 : 2 * tiling.tile <= chip.mte.buffer_bytes;
  Ticks slowest = 0;
  for (const CoreSite& site : sites) {
    Ticks read = 0;
    if (work.kind != "write") {
      read = core_read_time(chip, site, bytes, tiling, hit_ppm);
      if (work.reread > 1) {
        read += (work.reread - 1) * core_read_time(chip, site, bytes, tiling, again_ppm);
      }
    }
    const Ticks written =
        work.kind == "read" ? 0 : core_write_time(chip, site, bytes, tiling, hit_ppm);
    slowest = std::max(slowest, longer(both ? std::max(read, written) : read + written,
                                       misaligned_ppm(chip, site, work)));
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

Ticks hbm_time(const Chip& chip, const std::vector<CoreSite>& sites, const StreamWork& work,
               std::int64_t hit_ppm) {
  const Demand demand = demand_of(work);
  // A line that all want at once is fetched once for all.
  const std::int64_t walks = in_step(work) ? 1 : static_cast<std::int64_t>(sites.size());
  const std::int64_t bytes = walks * (demand.read + demand.written);
  const std::int64_t pieces =
      walks * work.arrays() * work.passes * divide_up(work.bytes, work.request_bytes);
  const std::int64_t busy =
      multiply_divide_up(bytes + pieces * chip.memory.piece_bytes, kMillion - hit_ppm, kMillion);
  const bool mixed = demand.read > 0 && demand.written > 0;
  const std::int64_t rate =
      mixed ? multiply_divide_up(chip.memory.hbm_bytes_per_s, chip.memory.mixed_share_ppm, kMillion)
            : chip.memory.hbm_bytes_per_s;
  return longer(multiply_divide_up(busy, kTicksPerSecond, rate),
                misaligned_ppm(chip, sites.front(), work));
}

/// The slices share all traffic alike. What several cores want of one block at the same time is
/// served one after the other, so that look-up and transfer do not overlap.
Ticks slice_time(const Chip& chip, std::int64_t bytes, bool conflicts) {
  const std::int64_t rate = rate_of(chip, chip.memory.channels * chip.noc.slice_bytes_per_cycle);
  const Ticks plain = multiply_divide_up(bytes, kTicksPerSecond, rate);
  if (!conflicts) return plain;
  const std::int64_t transfer =
      divide_up(chip.memory.interleave_bytes, chip.noc.slice_bytes_per_cycle);
  return multiply_divide_up(plain, transfer + chip.noc.lookup_cycles, transfer);
}

}  // namespace

std::int64_t working_set(const StreamWork& work) {
  const auto cores = static_cast<std::int64_t>(work.cores.size());
  return work.arrays() * work.bytes * (work.shared ? 1 : cores);
}

Tiling tiling_of(const StreamWork& work) {
  if (!work.tile_bytes) {
    const std::int64_t command = work.request_bytes * work.requests;
    return {command, command, work.buffers};
  }
  // A command carries no more requests than a tile has room for.
  const std::int64_t requests = std::min(work.requests, *work.tile_bytes / work.request_bytes);
  return {work.request_bytes * requests, *work.tile_bytes, work.buffers};
}

StreamTime stream_time(const Chip& chip, const std::vector<CoreSite>& sites, const StreamWork& work,
                       std::int64_t hit_ppm) {
  const Demand demand = demand_of(work);
  const auto cores = static_cast<std::int64_t>(sites.size());
  const std::int64_t wider = std::max(demand.read + demand.again, demand.written);
  const bool conflicts = in_step(work);
  const StreamTime candidates[] = {
      {hbm_time(chip, sites, work, hit_ppm), "HBM"},
      {engine_time(chip, sites, work, hit_ppm), "transfer engine"},
      {port_time(chip, sites, wider, chip.subsystem_port.bytes_per_cycle,
                 [](const CoreSite& s) { return s.subsystem; }),
       "subsystem port"},
      {port_time(chip, sites, wider, chip.group_port.bytes_per_cycle,
                 [](const CoreSite& s) { return s.group; }),
       "group port"},
      {slice_time(chip, cores * demand.all(), conflicts),
       conflicts ? "L2 slices, same addresses" : "L2 slices"}};
  StreamTime time =
      *std::max_element(std::begin(candidates), std::end(candidates),
                        [](const StreamTime& a, const StreamTime& b) { return a.total < b.total; });
  time.total +=
      chip.kernel_launch + chip.cycles(chip.mte.startup_cycles) + mean_latency(chip, hit_ppm);
  return time;
}

}  // namespace sonde::sim
