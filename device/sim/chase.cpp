#include "device/sim/chase.h"

#include <algorithm>
#include <cstddef>

#include "core/error.h"
#include "core/parse.h"
#include "core/rng.h"

namespace sonde::sim {

Chains::Chains(std::shared_ptr<const ChaseMemory> memory, const ChaseWork& work)
    : memory_(std::move(memory)), loads_(work.loads), warm_(work.warm) {
  for (std::int64_t block = 0; block < work.blocks; ++block) {
    orders_.emplace_back(memory_->lines(), key_of({work.seed, static_cast<std::uint64_t>(block)}));
  }
}

Load Chains::load(const CoreSite& site, std::int64_t block, std::int64_t index) const {
  const bool first_visit = !warm_ && index < memory_->lines();
  const std::int64_t line = orders_[static_cast<std::size_t>(block)].at(index % memory_->lines());
  return memory_->load(site, block, line, first_visit);
}

Ticks Chains::lone(const CoreSite& site) const {
  const ChainOrder& order = orders_.front();
  const std::int64_t lines = memory_->lines();
  Ticks sum = 0;
  for (std::int64_t lap = 0; lap * lines < loads_; ++lap) {
    const bool first_visit = !warm_ && lap == 0;
    const std::int64_t count = std::min(lines, loads_ - lap * lines);
    for (std::int64_t i = 0; i < count; ++i) {
      sum += memory_->load(site, 0, order.at(i), first_visit).latency;
    }
  }
  return sum;
}

std::int64_t Chains::last_line(std::int64_t block) const {
  return orders_[static_cast<std::size_t>(block)].at(loads_ % lines());
}

std::int64_t Chains::position_of(std::int64_t block, std::int64_t line) const {
  return orders_[static_cast<std::size_t>(block)].position_of(line);
}

void ChaseEngine::check_work(const ChaseWork& work) const {
  const Chip& chip = machine_.chip;
  if (work.cores.empty() && machine_.topology.block_order(work.kind).empty()) {
    throw Skip("no chase on cores of kind " + work.kind + ": " + machine_.topology.names());
  }
  if (!work.cores.empty() && work.blocks != static_cast<std::int64_t>(work.cores.size())) {
    throw Skip(std::to_string(work.blocks) + " blocks on " + std::to_string(work.cores.size()) +
               " named cores: one block runs on each");
  }
  if (work.blocks < 1 || work.loads < 1) {
    throw Skip(std::to_string(work.blocks) + " blocks of " + std::to_string(work.loads) +
               " loads: at least one of each is needed");
  }
  if (work.footprint_bytes < chip.data_cache.line_bytes) {
    throw Skip("a footprint of " + format_count(work.footprint_bytes) +
               " B is less than one line of " + format_count(chip.data_cache.line_bytes) + " B");
  }
  const std::int64_t room = chip.memory.hbm_bytes - chip.memory.interleave_bytes;
  if (work.footprint_bytes > room / work.blocks) {
    throw Skip(format_count(work.blocks) + " chains of " + format_count(work.footprint_bytes) +
               " B do not fit into the memory of " + format_count(chip.memory.hbm_bytes) + " B");
  }
}

void ChaseEngine::prepare(const ChaseWork& work) {
  check_work(work);
  ended_on_.clear();
  chains_.reset();
  work_ = work;
  cores_.clear();
  for (const CoreName& core : work.cores) cores_.push_back(machine_.core(core));
  if (cores_.empty()) cores_ = machine_.topology.block_order(work.kind);
  chains_.emplace(memory_for(work_), work_);
  launch();
}

std::shared_ptr<const ChaseMemory> ChaseEngine::memory_for(const ChaseWork& work) {
  constexpr std::size_t kMostKept = 256;
  if (memories_.size() > kMostKept) memories_.clear();
  auto& memory = memories_[{work.blocks, work.footprint_bytes}];
  if (!memory) {
    memory = std::make_shared<ChaseMemory>(machine_.chip, machine_.map, work.blocks,
                                           work.footprint_bytes);
  }
  return memory;
}

void ChaseEngine::launch() {
  placement_.clear();
  const auto& sites = machine_.topology.cores();
  if (work_.blocks == 1) {
    const CoreSite& site = sites[static_cast<std::size_t>(cores_.front())];
    modelled_ = chains_->lone(site);
    placement_.push_back(site.name());
    return;
  }
  const Launch launch = run_launch(machine_.chip, machine_.topology,
                                   BlockScheduler(cores_, work_.blocks, machine_.chip.wave_cost),
                                   work_.blocks, work_.loads, *chains_);
  modelled_ = launch.elapsed;
  for (int core : launch.core) {
    placement_.push_back(sites[static_cast<std::size_t>(core)].name());
  }
}

Sample ChaseEngine::run(const Trial& trial) {
  if (!chains_) throw PointFailure("run() before prepare()");
  Sample sample;
  sample.elapsed = to_seconds(machine_.finish_run(trial, modelled_));
  sample.placement = placement_;
  ended_on_.clear();
  for (std::int64_t block = 0; block < work_.blocks; ++block) {
    ended_on_.push_back(chains_->last_line(block));
  }
  if (machine_.corrupts()) ++ended_on_.front();
  return sample;
}

Check ChaseEngine::verify() {
  if (ended_on_.empty()) return {false, "nothing has run"};
  // The walk went from position to line; this goes back from line to position.
  const std::int64_t expected = work_.loads % chains_->lines();
  for (std::int64_t block = 0; block < work_.blocks; ++block) {
    const std::int64_t line = ended_on_[static_cast<std::size_t>(block)];
    const bool inside = line < chains_->lines();
    if (!inside || chains_->position_of(block, line) != expected) {
      return {false, "block " + std::to_string(block) + " ended on line " + std::to_string(line) +
                         ", expected line " + std::to_string(chains_->last_line(block))};
    }
  }
  return {};
}

}  // namespace sonde::sim
