#include "device/sim/gemm.h"

#include <algorithm>

#include "core/error.h"
#include "core/parse.h"

namespace sonde::sim {

namespace {

std::string name_of(const Chip::Tile& tile) {
  return std::to_string(tile.rows) + "x" + std::to_string(tile.columns);
}

void check_work(const Chip& chip, const GemmWork& work) {
  if (work.dtype != "bf16") throw Skip("no GEMM in " + work.dtype + ": types are bf16");
  const std::string shape =
      std::to_string(work.m) + " x " + std::to_string(work.n) + " x " + std::to_string(work.k);
  if (work.m < 1 || work.n < 1 || work.k < 1) {
    throw Skip("a GEMM of " + shape + ": every dimension is at least 1");
  }
  // Each operand alone first: then no product passes 2^63.
  const std::int64_t most = chip.memory.hbm_bytes / 2;
  const auto elements = [&](std::int64_t a, std::int64_t b) { return a > most / b ? most : a * b; };
  if (elements(work.m, work.k) + elements(work.k, work.n) + elements(work.m, work.n) > most) {
    throw Skip("a GEMM of " + shape + " does not fit into the memory of " +
               format_count(chip.memory.hbm_bytes) + " B");
  }
  // Units are dealt one by one; no shape of use comes near.
  constexpr std::int64_t kMostTiles = std::int64_t{1} << 24;
  for (const Chip::Tile& tile : chip.gemm_tiles) {
    if (divide_up(work.m, tile.rows) > kMostTiles / divide_up(work.n, tile.columns)) {
      throw Skip("a GEMM of " + shape + " has more than " + format_count(kMostTiles) +
                 " tiles of C: the model deals no more");
    }
  }
}

}  // namespace

std::vector<std::string> gemm_kernels(const Chip& chip) {
  std::vector<std::string> names = {"auto"};
  for (const Chip::Tile& tile : chip.gemm_tiles) names.push_back(name_of(tile));
  return names;
}

void GemmEngine::prepare(const GemmWork& work) {
  macs_.reset();
  work_.reset();
  const Chip& chip = machine_.chip;
  check_work(chip, work);
  const auto forced = std::find_if(chip.gemm_tiles.begin(), chip.gemm_tiles.end(),
                                   [&](const auto& tile) { return name_of(tile) == work.kernel; });
  if (work.kernel != "auto" && forced == chip.gemm_tiles.end()) {
    throw Skip("no GEMM kernel " + work.kernel + ": kernels are " + join_names(gemm_kernels(chip)));
  }
  plan_ = best_plan(chip, work.m, work.n, work.k, work.kernel == "auto" ? nullptr : &*forced);
  clock_khz_ = sustained_clock_khz(chip, plan_);
  modelled_ = gemm_time(chip, plan_, clock_khz_);
  work_ = work;
}

Sample GemmEngine::run(const Trial& trial) {
  if (!work_) throw PointFailure("run() before prepare()");
  const Chip& chip = machine_.chip;
  Sample sample;
  sample.elapsed = to_seconds(machine_.finish_run(trial, modelled_));
  const std::int64_t cores = std::min(plan_.units, chip.cubes());
  for (std::int64_t i = 0; i < cores; ++i)
    sample.placement.push_back({"cube", static_cast<int>(i)});
  sample.clock = Hertz(static_cast<double>(clock_khz_) * 1e3);
  sample.note = "tile " + name_of(plan_.tile) +
                (plan_.splits > 1 ? ", split-K " + std::to_string(plan_.splits) : "") +
                ", bound by " + gemm_bound(chip, plan_, clock_khz_);
  machine_.load = LoadState{clock_khz_, gemm_power_mw(chip, plan_, clock_khz_)};
  macs_ = machine_.selector.corrupt ? plan_.macs - 1 : plan_.macs;
  return sample;
}

Check GemmEngine::verify() {
  if (!macs_) return {false, "nothing has run"};
  const std::int64_t expected = work_->m * work_->n * work_->k;
  if (*macs_ == expected) return {};
  return {false, std::to_string(*macs_) + " multiply-adds were done, expected " +
                     std::to_string(expected)};
}

}  // namespace sonde::sim
