#pragma once

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "device/sim/ticks.h"
#include "device/sim/topology.h"

namespace sonde::sim {

/// A block that may start on a core.
struct BlockStart {
  std::int64_t block = 0;
  int core = 0;  ///< index into Topology::cores()
  Ticks time = 0;
};

/// Gives blocks to cores: one block a core, in the launch order of the cores; blocks beyond wait
/// until a core frees, and that core starts the next one a wave cost later.
class BlockScheduler {
 public:
  BlockScheduler(std::vector<int> cores, std::int64_t blocks, Ticks wave_cost)
      : cores_(std::move(cores)), blocks_(blocks), wave_cost_(wave_cost) {}

  /// The first wave, in block order. Called once.
  std::vector<BlockStart> first_wave();
  /// The block that follows on a core that frees at `time`, if one waits.
  std::optional<BlockStart> on_free(int core, Ticks time);

 private:
  std::vector<int> cores_;
  std::int64_t blocks_;
  Ticks wave_cost_;
  std::int64_t next_ = 0;
};

}  // namespace sonde::sim
