#include "device/sim/copy.h"

#include <cstddef>

#include "core/error.h"
#include "core/parse.h"
#include "core/rng.h"
#include "device/common/pattern.h"
#include "device/sim/copy_engines.h"

namespace sonde::sim {

namespace {

/// Byte `at` of the fill pattern.
unsigned pattern_byte(std::uint64_t seed, std::int64_t at) {
  const std::uint64_t word = pattern_word(seed, static_cast<std::uint64_t>(at) / 8);
  return static_cast<unsigned>(word >> (8 * (at % 8))) & 0xffU;
}

std::string hex_byte(unsigned value) {
  const char* digits = "0123456789abcdef";
  return std::string("0x") + digits[value >> 4] + digits[value & 15];
}

}  // namespace

void CopyEngine::prepare(const CopyWork& work) {
  if (work.direction != "d2d") {
    throw Skip("no copies in direction " + work.direction + ": directions are d2d");
  }
  if (work.method != "auto" && work.method != "sdma" && work.method != "tensor_move") {
    throw Skip("no copy method " + work.method + ": methods are auto, sdma and tensor_move");
  }
  const std::int64_t most = machine_.chip.memory.hbm_bytes / 2;
  if (work.bytes < 1 || work.bytes > most) {
    throw Skip("a copy of " + format_count(work.bytes) + " B: between 1 and " + format_count(most) +
               " B fit twice into the memory");
  }
  work_ = work;
  landed_.reset();
  placement_.clear();
  const bool sdma = work.method == "sdma" ||
                    (work.method == "auto" && work.bytes <= machine_.chip.copy_switch_bytes);
  if (sdma) {
    modelled_ = sdma_copy(machine_.chip, work.bytes);
    note_ = "SDMA, HBM to HBM";
    return;
  }
  const auto& order = machine_.topology.block_order();
  const auto cores = static_cast<std::int64_t>(order.size());
  const TensorMovePlan plan = plan_tensor_move(machine_.chip, cores, work.bytes);
  modelled_ = tensor_move_copy(machine_.chip, cores, work.bytes);
  for (std::int64_t i = 0; i < plan.cores; ++i) {
    placement_.push_back({"vector", order[static_cast<std::size_t>(i)]});
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
  landed_ = Landed{work_->bytes, std::nullopt};
  if (machine_.selector.corrupt) {
    Rng rng(key_of({work_->seed, trial.seed}));
    landed_->wrong_byte =
        static_cast<std::int64_t>(rng.below(static_cast<std::uint64_t>(work_->bytes)));
  }
  return sample;
}

Check CopyEngine::verify() {
  if (!landed_) return {false, "nothing has run"};
  if (landed_->bytes != work_->bytes) {
    return {false, std::to_string(landed_->bytes) + " bytes arrived, expected " +
                       std::to_string(work_->bytes)};
  }
  if (landed_->wrong_byte) {
    const unsigned expected = pattern_byte(work_->seed, *landed_->wrong_byte);
    return {false, "byte " + std::to_string(*landed_->wrong_byte) + " is " +
                       hex_byte(expected ^ 1U) + ", expected " + hex_byte(expected)};
  }
  return {};
}

}  // namespace sonde::sim
