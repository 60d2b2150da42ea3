#include "device/sim/scheduler.h"

namespace sonde::sim {

std::vector<BlockStart> BlockScheduler::first_wave() {
  std::vector<BlockStart> wave;
  for (int core : cores_) {
    if (next_ == blocks_) break;
    wave.push_back({next_++, core, 0});
  }
  return wave;
}

std::optional<BlockStart> BlockScheduler::on_free(int core, Ticks time) {
  if (next_ == blocks_) return std::nullopt;
  return BlockStart{next_++, core, time + wave_cost_};
}

}  // namespace sonde::sim
