#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "device/sim/chip.h"
#include "device/sim/ticks.h"
#include "device/sim/topology.h"

namespace sonde::sim {

/// Bytes a second of so many bytes a core cycle.
std::int64_t rate_of(const Chip& chip, std::int64_t bytes_per_cycle);

/// Mean latency over near and far, in front of a cache that answers `hit_ppm` of the loads.
Ticks mean_latency(const Chip& chip, std::int64_t hit_ppm);

/// How a core moves its bytes: tile by tile, each in commands.
struct Tiling {
  std::int64_t command = 0;             ///< bytes one command carries
  std::int64_t tile = 0;                ///< bytes; at least a command
  std::optional<std::int64_t> buffers;  ///< tiles held at once; none: as many as the chip can

  /// What `bytes` take; the last tile may be shorter.
  std::int64_t commands(std::int64_t bytes) const {
    return bytes / tile * divide_up(tile, command) + divide_up(bytes % tile, command);
  }
};

/// Time a core alone needs at least to read `bytes` of one array: what it takes to issue the
/// commands, and the way there and back with only so much in flight.
Ticks core_read_time(const Chip& chip, const CoreSite& site, std::int64_t bytes,
                     const Tiling& tiling, std::int64_t hit_ppm);
/// The same for writing.
Ticks core_write_time(const Chip& chip, const CoreSite& site, std::int64_t bytes,
                      const Tiling& tiling, std::int64_t hit_ppm);

/// Traffic of one core that streams through memory and never stops.
struct Flow {
  CoreSite site;
  std::int64_t wanted = 0;   ///< bytes a second if it were alone
  std::int64_t granted = 0;  ///< beside all others
};

/// Shares the ports of subsystems and groups and the HBM between the flows: all rates rise alike
/// until a resource is full, then those that use it stay (max-min fairness).
void share(const Chip& chip, std::vector<Flow>& flows);

/// What the flows add to one scalar load of `victim` that misses the data cache: waiting at the
/// port of its subsystem, at that of its group, and at an L2 slice.
Ticks added_wait(const Chip& chip, const CoreSite& victim, const std::vector<Flow>& flows);

}  // namespace sonde::sim
