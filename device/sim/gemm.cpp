#include "device/sim/gemm.h"

#include <algorithm>

#include "core/error.h"
#include "core/parse.h"
#include "device/sim/governor.h"

namespace sonde::sim {

namespace {

std::string name_of(const Chip::Tile& tile) {
  return std::to_string(tile.rows) + "x" + std::to_string(tile.columns);
}

void check_work(const Chip& chip, const GemmWork& work) {
  const GemmType* type = gemm_type(work.dtype);
  if (type == nullptr || chip.depth_per_cycle(work.dtype) == 0) {
    throw Skip("no GEMM in " + work.dtype + ": types are " + join_names(gemm_dtypes(chip)));
  }
  if (work.warm) throw Skip("a GEMM with operands in a cache: those of this model lie in memory");
  if (!work.cores.empty()) throw Skip("this device chooses the cores of a GEMM itself");
  if (work.blocks && (*work.blocks < 1 || *work.blocks > chip.cubes())) {
    throw Skip("a GEMM on " + format_count(*work.blocks) + " cores: 1 to " +
               format_count(chip.cubes()) + " are possible");
  }
  const std::string shape =
      std::to_string(work.m) + " x " + std::to_string(work.n) + " x " + std::to_string(work.k);
  if (work.m < 1 || work.n < 1 || work.k < 1) {
    throw Skip("a GEMM of " + shape + ": every dimension is at least 1");
  }
  // Each operand alone first: then no product passes 2^63.
  const std::int64_t most =
      chip.memory.hbm_bytes / std::max(divide_up(type->bytes_of_32, 32), type->result_bytes);
  const auto elements = [&](std::int64_t a, std::int64_t b) { return a > most / b ? most : a * b; };
  if (elements(work.m, work.k) + elements(work.k, work.n) + elements(work.m, work.n) > most) {
    throw Skip("a GEMM of " + shape + " does not fit into the memory of " +
               format_count(chip.memory.hbm_bytes) + " B");
  }
}

}  // namespace

std::vector<std::string> gemm_dtypes(const Chip& chip) {
  std::vector<std::string> names;
  for (const GemmType& type : kGemmTypes) {
    const std::string name(type.name);
    if (chip.depth_per_cycle(name) > 0) names.push_back(name);
  }
  return names;
}

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
  plan_ = plan_for(work, work.kernel == "auto" ? nullptr : &*forced);
  work_ = work;
}

const GemmPlan& GemmEngine::plan_for(const GemmWork& work, const Chip::Tile* tile) {
  const Chip& chip = machine_.chip;
  // A sweep comes back to each shape for every repetition.
  constexpr std::size_t kMostKept = 1 << 16;
  if (plans_.size() > kMostKept) plans_.clear();
  const std::int64_t cores = work.blocks.value_or(chip.cubes());
  const auto [kept, fresh] =
      plans_.try_emplace({work.m, work.n, work.k, work.dtype, work.kernel, cores});
  if (fresh) {
    const GemmShape shape{work.m, work.n, work.k, cores, gemm_type(work.dtype)};
    kept->second = best_plan(chip, shape, tile);
  }
  if (!kept->second) {
    throw Skip("no tile of this chip fits its L0 buffers in " + work.dtype);
  }
  return *kept->second;
}

Sample GemmEngine::run(const Trial& trial) {
  if (!work_) throw PointFailure("run() before prepare()");
  const Chip& chip = machine_.chip;
  // The governor has watched loads like this one since modelled time began, to the run's own end.
  const Ticks at_reference = gemm_time(chip, plan_, chip.clock_hz / 1000);
  const std::int64_t settled =
      settled_ppm(machine_.now_ns * kTicksPerNs + at_reference, chip.power.window);
  const std::int64_t clock_khz = governed_clock_khz(chip, plan_, settled);
  const PipeTimes pipes = pipe_times(chip, plan_, clock_khz);
  Sample sample;
  const std::int64_t sampled_khz =
      clock_khz * clock_ppm(chip, machine_.selector, machine_.now_ns) / 1'000'000;
  sample.elapsed = to_seconds(machine_.finish_run(trial, gemm_time(chip, plan_, clock_khz)));
  for (std::int64_t i = 0; i < plan_.cores; ++i) {
    sample.placement.push_back({chip.multiplying_kind(), static_cast<int>(i)});
  }
  sample.clock = Hertz(static_cast<double>(sampled_khz) * 1e3);
  sample.note = "tile " + name_of(plan_.tile) + ", k step " + std::to_string(plan_.step) +
                (plan_.splits > 1 ? ", split-K " + std::to_string(plan_.splits) : "") +
                ", bound by " + gemm_bound(chip, plan_, clock_khz);
  // The pipes are those of a Cube core; what a chip of one kind of core has instead is not known.
  if (!chip.one_kind()) {
    sample.busy = {{"mte2", to_seconds(pipes.mte2)},
                   {"mte1", to_seconds(pipes.mte1)},
                   {"cube", to_seconds(pipes.cube)},
                   {"fixpipe", to_seconds(pipes.fixpipe)}};
  }
  machine_.load =
      LoadState{sampled_khz, seen_power_mw(chip, gemm_power_mw(chip, plan_, clock_khz), settled)};
  macs_ = machine_.corrupts() ? plan_.macs - 1 : plan_.macs;
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
