#include "device/sim/contention.h"

#include <algorithm>

#include "core/error.h"
#include "core/parse.h"
#include "core/rng.h"
#include "device/sim/stream_model.h"

namespace sonde::sim {

void ContentionEngine::check_work(const ContentionWork& work) const {
  if (work.victim_work != "load") {
    throw Skip("no victim that does " + work.victim_work + ": victims load");
  }
  const std::string& does = work.aggressor_work;
  if (does != "none" && does != "register" && does != "load" && does != "store") {
    throw Skip("no aggressors that do " + does + ": works are register, load and store");
  }
  std::vector<CoreName> cores = work.aggressors;
  cores.push_back(work.victim);
  std::sort(cores.begin(), cores.end());
  const auto twice = std::adjacent_find(cores.begin(), cores.end());
  if (twice != cores.end()) throw Skip("core " + twice->str() + " has two parts at once");
  for (const CoreName& core : cores) machine_.core(core);
  const Chip& chip = machine_.chip;
  if (work.loads < 1) throw Skip("0 loads of the victim: at least one is needed");
  if (work.footprint_bytes < chip.data_cache.line_bytes ||
      work.footprint_bytes > chip.memory.hbm_bytes) {
    throw Skip("a victim's chain of " + format_count(work.footprint_bytes) +
               " B: between one line of " + format_count(chip.data_cache.line_bytes) +
               " B and the memory of " + format_count(chip.memory.hbm_bytes) + " B is possible");
  }
}

std::vector<Flow> ContentionEngine::flows(const ContentionWork& work) const {
  std::vector<Flow> flows;
  if (work.aggressor_work == "none" || work.aggressor_work == "register") return flows;
  const Chip& chip = machine_.chip;
  // Long enough for a rate; nothing of it stays in the L2.
  constexpr std::int64_t kStretch = 256 * kCommandBytes;
  constexpr Tiling kTiling{kCommandBytes, kCommandBytes, std::nullopt};
  for (const CoreName& core : work.aggressors) {
    const CoreSite& site = machine_.site(core);
    const Ticks time = work.aggressor_work == "load"
                           ? core_read_time(chip, site, kStretch, kTiling, 0)
                           : core_write_time(chip, site, kStretch, kTiling, 0);
    flows.push_back({site, multiply_divide_up(kStretch, kTicksPerSecond, time), 0});
  }
  share(chip, flows);
  return flows;
}

Ticks ContentionEngine::victim_time(const CoreSite& site, Ticks added) const {
  // A cold launch: the first lap misses the data cache.
  Ticks sum = 0;
  for (std::int64_t i = 0; i < work_->loads; ++i) {
    const bool first_visit = i < memory_->lines();
    const Load load = memory_->load(site, 0, order_.at(i % memory_->lines()), first_visit);
    sum += load.latency + (load.port ? added : 0);
  }
  return sum;
}

void ContentionEngine::prepare(const ContentionWork& work) {
  outcome_.reset();
  work_.reset();
  check_work(work);
  if (!memory_ || memory_->footprint() != work.footprint_bytes) {
    memory_.emplace(machine_.chip, machine_.map, 1, work.footprint_bytes);
  }
  order_ = ChainOrder(memory_->lines(), key_of({work.seed}));
  flows_ = flows(work);
  work_ = work;
  const CoreSite& site = machine_.site(work.victim);
  modelled_ = victim_time(site, added_wait(machine_.chip, site, flows_));
}

/// Least number of operations of any aggressor: lines of the L2 it moved, or cycles of a
/// register-only loop.
std::int64_t ContentionEngine::background_operations(Ticks elapsed) const {
  const Chip& chip = machine_.chip;
  if (flows_.empty()) {
    return static_cast<std::int64_t>(static_cast<Int128>(elapsed) * chip.clock_hz /
                                     kTicksPerSecond);
  }
  std::int64_t slowest = flows_.front().granted;
  for (const Flow& flow : flows_) slowest = std::min(slowest, flow.granted);
  return static_cast<std::int64_t>(static_cast<Int128>(slowest) * elapsed / kTicksPerSecond /
                                   chip.memory.line_bytes);
}

Sample ContentionEngine::run(const Trial& trial) {
  if (!work_) throw PointFailure("run() before prepare()");
  const Ticks elapsed = machine_.finish_run(trial, modelled_);
  outcome_ = Outcome{order_.at(work_->loads % memory_->lines()), std::nullopt};
  if (!work_->aggressors.empty() && work_->aggressor_work != "none") {
    outcome_->background_operations = background_operations(elapsed);
  }
  if (machine_.corrupts()) ++outcome_->last_line;
  Sample sample;
  sample.elapsed = to_seconds(elapsed);
  sample.placement = {work_->victim};
  if (outcome_->background_operations) {
    sample.placement.insert(sample.placement.end(), work_->aggressors.begin(),
                            work_->aggressors.end());
  }
  sample.background_operations = outcome_->background_operations;
  return sample;
}

Check ContentionEngine::verify() {
  if (!outcome_) return {false, "nothing has run"};
  if (outcome_->background_operations && *outcome_->background_operations == 0) {
    return {false, "an aggressor finished no operation while the victim ran"};
  }
  const std::int64_t lines = memory_->lines();
  const std::int64_t line = outcome_->last_line;
  if (line >= lines || order_.position_of(line) != work_->loads % lines) {
    return {false, work_->victim.str() + " ended on line " + std::to_string(line) +
                       ", expected line " + std::to_string(order_.at(work_->loads % lines))};
  }
  return {};
}

}  // namespace sonde::sim
