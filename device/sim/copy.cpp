#include "device/sim/copy.h"

#include <cstddef>

#include "core/error.h"
#include "core/parse.h"
#include "device/sim/copy_engines.h"

namespace sonde::sim {

void CopyEngine::prepare(const CopyWork& work) {
  if (work.direction != "d2d") {
    throw Skip("no copies in direction " + work.direction + ": directions are d2d");
  }
  const Chip& chip = machine_.chip;
  if (work.method != "auto" &&
      (chip.parts.one_copy || (work.method != "sdma" && work.method != "tensor_move"))) {
    throw Skip("no copy method " + work.method + ": methods are " +
               (chip.parts.one_copy ? "auto" : "auto, sdma and tensor_move"));
  }
  const std::int64_t most = chip.memory.hbm_bytes / 2;
  if (work.bytes < 1 || work.bytes > most) {
    throw Skip("a copy of " + format_count(work.bytes) + " B: between 1 and " + format_count(most) +
               " B fit twice into the memory");
  }
  work_ = work;
  landed_.reset();
  placement_.clear();
  if (chip.parts.one_copy) {
    modelled_ = one_path_copy(chip, work.bytes);
    note_ = "HBM to HBM";
    return;
  }
  const bool sdma =
      work.method == "sdma" || (work.method == "auto" && work.bytes <= chip.copy_switch_bytes);
  if (sdma) {
    modelled_ = sdma_copy(chip, work.bytes);
    note_ = "SDMA, HBM to HBM";
    return;
  }
  const auto& order = machine_.topology.block_order(chip.moving_kind());
  const auto cores = static_cast<std::int64_t>(order.size());
  const TensorMovePlan plan = plan_tensor_move(chip, cores, work.bytes);
  modelled_ = tensor_move_copy(chip, cores, work.bytes);
  for (std::int64_t i = 0; i < plan.cores; ++i) {
    placement_.push_back({chip.moving_kind(), order[static_cast<std::size_t>(i)]});
  }
  note_ = "TensorMove, " + std::to_string(plan.cores) + " cores, tile " +
          std::to_string(plan.tile_bytes) + " B";
}

Sample CopyEngine::run(const Trial& trial) {
  if (!work_) throw PointFailure("run() before prepare()");
  Sample sample;
  sample.elapsed = to_seconds(machine_.finish_run(trial, modelled_));
  sample.placement = placement_;
  sample.note = note_;
  landed_ = land(work_->bytes, work_->bytes, machine_.corrupts(), work_->seed, trial);
  return sample;
}

Check CopyEngine::verify() {
  return check_landed(landed_, work_ ? work_->bytes : 0, work_ ? work_->seed : 0);
}

}  // namespace sonde::sim
