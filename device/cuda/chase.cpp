#include "device/cuda/chase.h"

#include <algorithm>

#include "core/error.h"
#include "core/parse.h"
#include "core/statistics.h"
#include "device/common/chase_ring.h"
#include "device/cuda/errors.h"

namespace sonde::cuda {
namespace {

/// Pairs of launches with and without the loads: the events step by half a microsecond and an empty
/// launch takes 2 to 10 of them.
constexpr int kPairs = 5;
/// Share of the memory that rings kept for later may hold.
constexpr std::int64_t kRingShare = 8;

}  // namespace

RingMemory::RingMemory(Context& context, std::int64_t bytes, std::int64_t line_bytes,
                       std::int64_t copies, std::uint64_t seed)
    : copies_(copies) {
  const std::int64_t lines = bytes / line_bytes;
  const ChaseRing next = make_chase_ring(lines, line_bytes, 0, seed);
  if (!is_single_cycle(next)) throw PointFailure("the chain is not one cycle");
  order_.reserve(next.size());
  for (std::uint32_t line = 0; order_.size() < next.size(); line = next[line]) {
    order_.push_back(line);
  }
  const std::int64_t order_bytes = lines * static_cast<std::int64_t>(sizeof(std::uint32_t));
  nodes_ = DeviceBuffer(copies * lines * line_bytes);
  order_memory_ = DeviceBuffer(order_bytes);
  DeviceBuffer next_memory(order_bytes);
  ring_ = {nodes_.as(), order_memory_.as<std::uint32_t>(), lines, line_bytes};
  const auto upload = [&](const DeviceBuffer& to, const std::vector<std::uint32_t>& from) {
    check(cudaMemcpyAsync(to.as(), from.data(), static_cast<std::size_t>(order_bytes),
                          cudaMemcpyHostToDevice, context.stream()),
          "sending a chain's order");
  };
  upload(order_memory_, order_);
  upload(next_memory, next);
  // Words beside the nodes are read by throughput victims and must add up to nothing.
  check(cudaMemsetAsync(nodes_.as(), 0, static_cast<std::size_t>(nodes_.size()), context.stream()),
        "clearing a chain");
  check(launch_ring(context.stream(), ring_, next_memory.as<std::uint32_t>(), copies),
        "linking a chain");
  context.synchronize("linking a chain");
}

unsigned long long RingMemory::node(std::int64_t position, std::int64_t copy) const {
  const std::int64_t line = order_[static_cast<std::size_t>(position % ring_.lines)];
  return reinterpret_cast<unsigned long long>(nodes_.as()) +
         static_cast<unsigned long long>((copy * ring_.lines + line) * ring_.line_bytes);
}

const RingMemory& ChaseEngine::ring_of(const ChaseWork& work, std::int64_t copies) {
  const Key key{work.footprint_bytes, work.seed};
  const auto found = rings_.find(key);
  if (found != rings_.end() && found->second.copies() >= copies) return found->second;
  rings_.erase(key);
  std::int64_t held = 0;
  for (const auto& [other, ring] : rings_) held += ring.held_bytes();
  const std::int64_t most = description_.memory_bytes.value_or(kGiB);
  if (held + copies * work.footprint_bytes > most / kRingShare) rings_.clear();
  return rings_
      .try_emplace(key, context_, work.footprint_bytes, description_.chase_line_bytes, copies,
                   work.seed)
      .first->second;
}

void ChaseEngine::prepare(const ChaseWork& work) {
  ring_ = nullptr;
  const std::int64_t line = description_.chase_line_bytes;
  if (work.loads < 1 || work.footprint_bytes < 2 * line) {
    throw Skip("a chase of " + format_count(work.loads) + " loads over " +
               format_size(Bytes(work.footprint_bytes)) + ": at least 1 load and 2 lines of " +
               std::to_string(line) + " B");
  }
  std::int64_t blocks = static_cast<std::int64_t>(work.cores.size());
  if (work.cores.empty()) {
    blocks = work.blocks;
    if (work.warm) throw Skip("a warm chase of blocks that the card places: name their cores");
    if (!work.kind.empty() && work.kind != "sm") {
      throw Skip("no cores of kind " + work.kind + " here; there are sm");
    }
  } else {
    context_.refuse_impossible(work.cores);
  }
  const std::int64_t most = description_.memory_bytes.value_or(kGiB);
  if (blocks < 1 || work.footprint_bytes > most / blocks) {
    throw Skip(format_count(blocks) + " chain(s) of " + format_size(Bytes(work.footprint_bytes)) +
               " do not fit: a measurement may use " + format_count(most) + " B");
  }
  work_ = work;
  const RingMemory& ring = ring_of(work, blocks);
  positions_.assign(static_cast<std::size_t>(blocks), 0);
  start_.reserve(blocks * static_cast<std::int64_t>(sizeof(std::int64_t)));
  results_.reserve(blocks * static_cast<std::int64_t>(sizeof(ChaseResult)));
  ring_ = &ring;
  launch(work.loads);  // code, translations and the last cache are there from now on
}

/// Device time of one launch. A walk goes on where the last one ended.
Seconds ChaseEngine::launch(std::int64_t loads) {
  const auto blocks = static_cast<std::int64_t>(positions_.size());
  auto* const results = results_.as<ChaseResult>();
  if (work_.cores.empty()) {
    launched_ = context_.next_launch();
    positions_.assign(positions_.size(), loads);
    return context_.time([&] {
      check(launch_free_chase(context_.stream(), blocks, context_.shared_bytes(), ring_->ring(),
                              loads, launched_, results),
            "starting a chase");
    });
  }
  int grid = 0;
  const Seats seats = context_.seat(work_.cores, Seated::chase, &grid);
  launched_ = seats.launch;
  std::copy(positions_.begin(), positions_.end(), start_.as<std::int64_t>());
  for (std::int64_t& position : positions_) position = (position + loads) % ring_->ring().lines;
  return context_.time([&] {
    check(launch_placed_chase(context_.stream(), grid, seats, ring_->ring(),
                              start_.as<std::int64_t>(), work_.warm ? ring_->ring().lines : 0,
                              loads, results),
          "starting a chase");
  });
}

Sample ChaseEngine::run(const Trial&) {
  if (ring_ == nullptr) throw PointFailure("run() without a prepare() that succeeded");
  std::vector<double> differences;
  for (int pair = 0; pair < kPairs; ++pair) {
    const Seconds without = launch(0);
    differences.push_back((launch(work_.loads) - without).value());
  }
  Sample sample;
  sample.elapsed = Seconds(*median(differences));
  const auto* const results = results_.as<ChaseResult>();
  for (std::size_t block = 0; block < positions_.size(); ++block) {
    sample.placement.push_back(core_of(results[block].sm));
  }
  if (results[0].ns > 0) {
    sample.clock =
        Hertz(static_cast<double>(results[0].cycles) * 1e9 / static_cast<double>(results[0].ns));
  }
  sample.note = work_.cores.empty() ? "ld.ca, placed by the card, one block an SM"
                : work_.warm        ? "ld.ca, a lap before"
                                    : "ld.ca, nearest cache empty";
  return sample;
}

Check ChaseEngine::verify() {
  if (ring_ == nullptr) return {false, "nothing was chased"};
  const auto* const results = results_.as<ChaseResult>();
  for (std::size_t block = 0; block < positions_.size(); ++block) {
    const ChaseResult& result = results[block];
    const std::string name = "block " + std::to_string(block);
    if (result.launch != launched_) return {false, name + " did not run"};
    if (!work_.cores.empty() && core_of(result.sm) != work_.cores[block]) {
      return {false, name + " was placed on " + work_.cores[block].str() + " but ran on " +
                         core_of(result.sm).str()};
    }
    if (result.end != ring_->node(positions_[block], static_cast<std::int64_t>(block))) {
      return {false, name + " did not end at position " + format_count(positions_[block]) +
                         " of its chain"};
    }
  }
  return {};
}

}  // namespace sonde::cuda
