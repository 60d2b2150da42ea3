#include "device/sim/profile.h"

#include "core/error.h"
#include "core/parse.h"
#include "device/common/pattern.h"
#include "device/common/sampled_lines.h"

namespace sonde::sim {

namespace {

std::uint64_t fold(std::uint64_t sum, std::uint64_t seed, std::int64_t offset) {
  return sum * 3 + pattern_word(seed, static_cast<std::uint64_t>(offset) / 8);
}

}  // namespace

void ProfileEngine::prepare(const ProfileWork& work) {
  work_.reset();
  loaded_.reset();
  const CoreSite& site = machine_.site(work.core);
  const Chip& chip = machine_.chip;
  if (work.bytes > chip.memory.hbm_bytes) {
    throw Skip("a chain of " + format_count(work.bytes) + " B does not fit into the memory of " +
               format_count(chip.memory.hbm_bytes) + " B");
  }
  const std::int64_t line_bytes = chip.data_cache.line_bytes;
  offsets_ = sampled_offsets(work.bytes, line_bytes, work.addresses, work.seed);
  if (!memory_ || memory_->footprint() != work.bytes) {
    memory_.emplace(chip, machine_.map, 1, work.bytes);
  }
  modelled_.clear();
  for (std::int64_t offset : offsets_) {
    modelled_.push_back(memory_->load(site, 0, offset / line_bytes, true).latency);
  }
  work_ = work;
}

Sample ProfileEngine::run(const Trial& trial) {
  if (!work_) throw PointFailure("run() before prepare()");
  meet_fault(machine_.selector.fault, trial, machine_.now_ns);
  Sample sample;
  sample.placement = {work_->core};
  sample.series.reserve(offsets_.size());
  Rng rng = noise_source(trial, machine_.now_ns);
  const std::int64_t spread = load_spread_ppm(machine_.chip, machine_.selector);
  Ticks elapsed = 0;
  std::uint64_t sum = 0;
  for (std::size_t i = 0; i < offsets_.size(); ++i) {
    const Ticks own = spread > 0 ? scattered(modelled_[i], spread, rng) : modelled_[i];
    const std::int64_t start_ns = machine_.now_ns + elapsed / kTicksPerNs;
    const Ticks latency =
        with_weather(machine_.chip, machine_.selector, trial, start_ns, own).elapsed;
    elapsed += latency;
    sample.series.push_back({offsets_[i], to_seconds(latency)});
    sum = fold(sum, work_->seed, offsets_[i]);
  }
  if (machine_.selector.episodes) {
    machine_.throttle_events += held_back(trial.seed, machine_.now_ns, elapsed).events;
  }
  machine_.pass(elapsed);
  sample.elapsed = to_seconds(elapsed);
  loaded_ = machine_.corrupts() ? sum ^ 1U : sum;
  return sample;
}

Check ProfileEngine::verify() {
  if (!loaded_) return {false, "nothing has run"};
  std::uint64_t expected = 0;
  for (std::int64_t offset : sampled_offsets(work_->bytes, machine_.chip.data_cache.line_bytes,
                                             work_->addresses, work_->seed)) {
    expected = fold(expected, work_->seed, offset);
  }
  if (*loaded_ == expected) return {};
  return {false, "the words loaded fold to " + std::to_string(*loaded_) + ", expected " +
                     std::to_string(expected)};
}

}  // namespace sonde::sim
