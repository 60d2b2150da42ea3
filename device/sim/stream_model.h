#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "device/device.h"
#include "device/sim/chip.h"
#include "device/sim/ticks.h"
#include "device/sim/topology.h"
#include "device/sim/traffic.h"

namespace sonde::sim {

/// Shape of a command where none is asked for: the maker's data copy sample in its quickest form.
inline constexpr std::int64_t kRequestBytes = 2048;
inline constexpr std::int64_t kRequests = 64;
inline constexpr std::int64_t kCommandBytes = kRequestBytes * kRequests;

/// What streaming takes, and what it waits for.
struct StreamTime {
  Ticks total = 0;
  std::string bound;  ///< "HBM", "transfer engine", "subsystem port", "group port" or "L2 slices"
};

/// Bytes that all cores together walk again and again.
std::int64_t working_set(const StreamWork& work);

/// How a core of this work moves its bytes.
Tiling tiling_of(const StreamWork& work);

/// Time of a stream on `sites`, one for each core of `work`, when the L2 answers `hit_ppm` of the
/// lines: start-up, and then as long as the resource that is busiest.
StreamTime stream_time(const Chip& chip, const std::vector<CoreSite>& sites, const StreamWork& work,
                       std::int64_t hit_ppm);

}  // namespace sonde::sim
