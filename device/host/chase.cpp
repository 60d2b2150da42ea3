#include "device/host/chase.h"

#include <algorithm>
#include <set>

#include "core/error.h"
#include "core/parse.h"
#include "core/rng.h"
#include "core/statistics.h"
#include "device/host/clock.h"
#include "device/host/pin.h"
#include "device/host/team.h"
#include "device/host/windows.h"

namespace sonde::host {
namespace {

/// Chains up to here are made anew at each prepare(): where the pages lie changes what a cache of
/// this size holds, and one allocation would hide that scatter. Longer ones cost too much.
constexpr std::int64_t kBuiltAnew = 4 * kMiB;
/// Share of the device's memory that chains kept for later may hold.
constexpr std::int64_t kStoreShare = 4;
/// Shorter walks than this leave a core's clock unsettled (16 KiB is one lap of 256 loads).
constexpr std::int64_t kLeastWarmLoads = 10'000;
/// A timed part takes at least this long: the clock's reading and the start take well under 0.1 us.
constexpr std::int64_t kLeastPartNs = 20'000;
/// Parts longer than these are repeated less: a slice lost to another program (0.15 to 2 ms seen
/// here) is then a small share, and the caller repeats the run anyway.
constexpr std::int64_t kLongPartNs = 1'000'000;
constexpr std::int64_t kVeryLongPartNs = 20'000'000;
constexpr std::int64_t kCalibrationLoads = 2'000;
/// A core taken away in the middle can make N loads take longer than 2N: such a difference says
/// nothing and is taken again, so often at most.
constexpr int kMostTries = 5;
/// Reading four times a cache's size in order leaves nothing else in it under any of the usual
/// replacement rules. 48 KiB where the size is not stated.
constexpr std::int64_t kEvictFactor = 4;
constexpr std::int64_t kUnknownNearest = 48 * kKiB;

int repeats_for(std::int64_t part_ns) {
  if (part_ns >= kVeryLongPartNs) return 1;
  return part_ns >= kLongPartNs ? 3 : 9;
}

}  // namespace

std::vector<int> ChaseEngine::cpus_for(const ChaseWork& work) const {
  const std::string allowed = format_core_set(description_.cores);
  const std::vector<int>& usable = machine_.cpus;
  if (work.cores.empty()) {
    if (!work.kind.empty() && work.kind != "cpu") {
      throw Skip("no cores of kind " + work.kind + " here; there are " + allowed);
    }
    if (work.blocks < 1 || work.blocks > static_cast<std::int64_t>(usable.size())) {
      throw Skip(format_count(work.blocks) + " blocks at once: 1 to " +
                 std::to_string(usable.size()) + " are possible, one on each of " + allowed);
    }
    return {usable.begin(), usable.begin() + static_cast<std::ptrdiff_t>(work.blocks)};
  }
  return usable_cpus(machine_, work.cores);
}

void ChaseEngine::refuse_impossible(const ChaseWork& work, std::size_t blocks) const {
  const std::int64_t line = description_.chase_line_bytes;
  if (work.loads < 1) throw Skip("a chase of " + format_count(work.loads) + " loads: at least 1");
  if (work.footprint_bytes < 2 * line) {
    throw Skip("a chain of " + format_size(Bytes(work.footprint_bytes)) + ": at least 2 lines of " +
               std::to_string(line) + " B");
  }
  if (!description_.memory_bytes) return;
  // Beside the chain: its order, and while it is built the ring, 4 bytes a line each.
  const auto most = static_cast<double>(*description_.memory_bytes);
  const double needed = static_cast<double>(work.footprint_bytes) * static_cast<double>(blocks) *
                        (1.0 + 8.0 / static_cast<double>(line));
  if (needed > most) {
    throw Skip(std::to_string(blocks) + " chain(s) of " + format_size(Bytes(work.footprint_bytes)) +
               " do not fit: a measurement may use " + format_count(*description_.memory_bytes) +
               " B");
  }
}

void ChaseEngine::prepare(const ChaseWork& work) {
  blocks_.clear();
  const std::vector<int> cpus = cpus_for(work);
  refuse_impossible(work, cpus.size());
  work_ = work;
  for (int cpu : cpus) {
    blocks_.emplace_back();
    blocks_.back().seat.cpu = cpu;
  }
  try {
    build(work);
  } catch (...) {
    blocks_.clear();
    throw;
  }
  if (!work.warm && evictor_.size() == 0) {
    const Cache* nearest = machine_.cache(1);
    evictor_ = Buffer(kEvictFactor * (nearest ? nearest->capacity_bytes : kUnknownNearest),
                      machine_.huge_page_bytes);
  }
}

void ChaseEngine::build(const ChaseWork& work) {
  auto key_for = [&](std::size_t i) {
    return ChainStore::Key{work.footprint_bytes, key_of({work.seed, i}),
                           machine_.node_of(blocks_[i].seat.cpu)};
  };
  const bool keep = work.footprint_bytes > kBuiltAnew;
  std::vector<int> cpus;
  std::vector<std::size_t> missing;
  for (std::size_t i = 0; i < blocks_.size(); ++i) {
    if (keep) blocks_[i].chain = store_.find(key_for(i));
    if (blocks_[i].chain) continue;
    missing.push_back(i);
    cpus.push_back(blocks_[i].seat.cpu);
  }
  const std::int64_t line = description_.chase_line_bytes;
  if (keep && description_.memory_bytes && !missing.empty()) {
    const std::int64_t needed = static_cast<std::int64_t>(missing.size()) *
                                (work.footprint_bytes + work.footprint_bytes / line * 8);
    store_.shrink_to(std::max<std::int64_t>(0, *description_.memory_bytes - needed));
  }
  // Each on its own core, so that its memory is near that core.
  on_each_cpu(cpus, [&](std::size_t m) {
    blocks_[missing[m]].chain = std::make_shared<const Chain>(
        work.footprint_bytes, line, key_for(missing[m]).seed, machine_.huge_page_bytes);
  });
  if (keep) {
    for (std::size_t i : missing) store_.add(key_for(i), blocks_[i].chain);
    if (description_.memory_bytes) store_.shrink_to(*description_.memory_bytes / kStoreShare);
  }
  for (Block& block : blocks_) block.at = block.chain->node(0);
}

void ChaseEngine::warm_up(Block& block) const {
  std::int64_t loads = kLeastWarmLoads;
  if (work_.footprint_bytes > kBuiltAnew) {
    // In the order of the walk, so that the caches hold what a lap of the walk leaves in them.
    block.chain->read_lap(block.position);
  } else {
    loads = std::max(loads, block.chain->lines());
  }
  block.at = follow(block.at, loads);
  block.position += loads;
}

void ChaseEngine::empty_nearest_cache() const {
  for (std::int64_t at = 0; at < evictor_.size(); at += description_.chase_line_bytes) {
    static_cast<void>(*static_cast<const volatile std::byte*>(evictor_.data() + at));
  }
}

Sample ChaseEngine::run(const Trial&) {
  if (blocks_.empty()) throw PointFailure("run() without a prepare() that succeeded");
  std::vector<int> cpus;
  for (const Block& block : blocks_) cpus.push_back(block.seat.cpu);
  TeamWindow window(blocks_.size());
  double elapsed_ns = 0;
  std::optional<Hertz> clock;  // of the first block's core

  // Every thread computes scale, repeats and differences from the same shared stamps, so all agree
  // without a leader.
  on_each_cpu(cpus, [&](std::size_t index) noexcept {
    Block& block = blocks_[index];
    block.seat.before = current_cpu();
    auto launch_ns = [&](std::int64_t loads) {
      if (!work_.warm) empty_nearest_cache();
      const std::int64_t taken = window.time_ns(index, [&] { block.at = follow(block.at, loads); });
      block.position += loads;
      return taken;
    };

    warm_up(block);
    const std::int64_t trial_loads = std::min(work_.loads, kCalibrationLoads);
    const double each_ns = static_cast<double>(std::max<std::int64_t>(1, launch_ns(trial_loads))) /
                           static_cast<double>(trial_loads);
    const auto part_ns = static_cast<std::int64_t>(each_ns * static_cast<double>(work_.loads));
    // Warm: N against 2N loads, N a multiple of the loads asked for. Cold: every part starts with
    // an empty nearest cache, so the difference is against no loads at all.
    const std::int64_t scale =
        work_.warm ? std::max<std::int64_t>(1, (kLeastPartNs + part_ns) / (part_ns + 1)) : 1;
    const std::int64_t shorter = work_.warm ? scale * work_.loads : 0;
    const std::int64_t longer = shorter + scale * work_.loads;
    double middle = 0;
    int redone = kMostTries;  // windows that were disturbed and are taken again
    for (int tries = kMostTries; tries > 0 && middle <= 0; --tries) {
      std::vector<double> differences;
      for (int left = repeats_for(scale * part_ns); left > 0; --left) {
        // Taking turns cancels a drift of the clock within the run.
        const bool longer_first = left % 2 == 0;
        const std::int64_t one = launch_ns(longer_first ? longer : shorter);
        const std::int64_t two = launch_ns(longer_first ? shorter : longer);
        if (work_.warm && redone > 0 &&
            !agree(longer_first ? two : one, longer_first ? one : two)) {
          --redone;
          ++left;
          continue;
        }
        differences.push_back(static_cast<double>(longer_first ? one - two : two - one) /
                              static_cast<double>(scale));
      }
      middle = median(differences).value_or(0);
    }
    if (index == 0) {
      elapsed_ns = middle;
      clock = measure_core_clock();
    }
    block.seat.after = current_cpu();
  });

  if (elapsed_ns <= 0) {
    throw PointFailure("the time of " + format_count(work_.loads) + " loads came out as " +
                       format_number(elapsed_ns) + " ns: the machine is too busy for so few");
  }
  Sample sample;
  sample.elapsed = Seconds(elapsed_ns * 1e-9);
  sample.clock = clock;
  std::set<std::string> kinds;
  for (const Block& block : blocks_) {
    sample.placement.push_back(block.seat.core());
    kinds.insert(block.chain->page_kind());
  }
  for (const std::string& kind : kinds) sample.note += kind + ", ";
  sample.note += work_.warm ? "random order" : "random order, nearest cache emptied";
  return sample;
}

Check ChaseEngine::verify() {
  for (std::size_t i = 0; i < blocks_.size(); ++i) {
    const Block& block = blocks_[i];
    const std::string name = "block " + std::to_string(i);
    if (const auto problem = block.seat.misplaced(name)) return {false, *problem};
    if (block.at != block.chain->node(block.position)) {
      return {false,
              name + " did not end at position " + format_count(block.position) + " of its chain"};
    }
    // A whole lap of a longer chain costs as much as the run; its end position has been checked.
    if (work_.footprint_bytes > kBuiltAnew) continue;
    if (const auto broken = block.chain->first_broken()) {
      return {false, "the chain of " + name + " is broken at position " + format_count(*broken)};
    }
  }
  return {};
}

}  // namespace sonde::host
