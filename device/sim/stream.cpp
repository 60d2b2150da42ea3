#include "device/sim/stream.h"

#include <algorithm>

#include "core/error.h"
#include "core/parse.h"
#include "device/sim/stream_model.h"

namespace sonde::sim {

void StreamEngine::check_work(const StreamWork& work) const {
  const Chip& chip = machine_.chip;
  if (work.kind != "read" && work.kind != "write" && work.kind != "copy") {
    throw Skip("no stream of kind " + work.kind + ": kinds are read, write and copy");
  }
  if (work.kind != "read" && work.store != "ordinary") {
    throw Skip("no stores of kind " + work.store + ": stores are ordinary");
  }
  if (work.cores.empty()) throw Skip("a stream on no core: at least one is needed");
  std::vector<CoreName> seen = work.cores;
  std::sort(seen.begin(), seen.end());
  const auto twice = std::adjacent_find(seen.begin(), seen.end());
  if (twice != seen.end()) throw Skip("core " + twice->str() + " is named twice");
  if (work.bytes < 1 || work.request_bytes < 1 || work.requests < 1 || work.passes < 1) {
    throw Skip(format_count(work.bytes) + " B in " + format_count(work.requests) + " requests of " +
               format_count(work.request_bytes) + " B, " + format_count(work.passes) +
               " passes: at least one of each is needed");
  }
  if (work.pattern != "same" && (work.pattern != "staggered" || !work.shared)) {
    throw Skip("no pattern " + work.pattern +
               " here: patterns are same and, of shared addresses, staggered");
  }
  if (work.reread < 1 || work.alignment < 1 || work.tile_bytes.value_or(1) < 1 ||
      work.buffers.value_or(1) < 1) {
    throw Skip("a tile, buffers, re-reads and an alignment of at least 1 are needed");
  }
  for (const CoreName& core : work.cores) {
    const bool cube = machine_.site(core).cube;
    if (cube && work.kind == "copy") {
      throw Skip("no copy on " + core.str() + ": a Cube core has no way from L1 back to memory");
    }
    const std::int64_t buffer = cube ? chip.cube.l1_bytes : chip.mte.buffer_bytes;
    const std::int64_t held = work.buffers.value_or(cube ? chip.mte.cube_slots : 1);
    const std::int64_t room = buffer / held;
    if (work.tile_bytes && (*work.tile_bytes > room || *work.tile_bytes < work.request_bytes)) {
      throw Skip(format_count(held) + " tiles of " + format_count(*work.tile_bytes) +
                 " B: " + core.str() + " has room for one request of " +
                 format_count(work.request_bytes) + " B to " + format_count(room) + " B in each");
    }
    if (!work.tile_bytes && work.request_bytes > room / work.requests) {
      throw Skip("a command of " + format_count(work.requests) + " x " +
                 format_count(work.request_bytes) + " B does not fit into the " +
                 format_count(room) + " B that " + core.str() + " has for it");
    }
  }
  const std::int64_t walks = work.shared ? 1 : static_cast<std::int64_t>(work.cores.size());
  if (work.bytes > chip.memory.hbm_bytes / (work.arrays() * walks)) {
    throw Skip(format_count(work.arrays() * walks) + " arrays of " + format_count(work.bytes) +
               " B do not fit into the memory of " + format_count(chip.memory.hbm_bytes) + " B");
  }
  // So that modelled time stays far from its end: hours of requests, minutes of bytes. Divided one
  // by one, because the products of what was asked pass 2^63.
  constexpr std::int64_t kMostBytes = std::int64_t{1} << 50;
  constexpr std::int64_t kMostRequests = std::int64_t{1} << 40;
  const std::int64_t a_pass = work.arrays() * walks;
  if (work.passes > kMostBytes / (a_pass * work.bytes) / work.reread ||
      work.passes >
          kMostRequests / (a_pass * divide_up(work.bytes, work.request_bytes)) / work.reread) {
    throw Skip(format_count(work.passes) + " passes over " + format_count(work.bytes) +
               " B are more than " + format_count(kMostBytes) + " B or " +
               format_count(kMostRequests) + " requests");
  }
}

std::int64_t StreamEngine::hit_ppm(std::int64_t bytes) {
  const auto known = hits_.find(bytes);
  if (known != hits_.end()) return known->second;
  return hits_[bytes] = l2_hit_ppm(machine_.chip, machine_.map, bytes);
}

void StreamEngine::prepare(const StreamWork& work) {
  landed_.reset();
  work_.reset();
  check_work(work);
  std::vector<CoreSite> sites;
  for (const CoreName& core : work.cores) sites.push_back(machine_.site(core));
  const std::int64_t hits = hit_ppm(working_set(work));
  const StreamTime time = stream_time(machine_.chip, sites, work, hits);
  modelled_ = time.total;
  note_ = "bound by " + time.bound + ", L2 hits " + std::to_string((hits + 5000) / 10000) + " %";
  work_ = work;
}

Sample StreamEngine::run(const Trial& trial) {
  if (!work_) throw PointFailure("run() before prepare()");
  Sample sample;
  sample.elapsed = to_seconds(machine_.finish_run(trial, modelled_));
  sample.placement = work_->cores;
  sample.note = note_;
  landed_ = land(work_->moved_bytes(), work_->bytes, machine_.corrupts(), work_->seed, trial);
  return sample;
}

Check StreamEngine::verify() {
  return check_landed(landed_, work_ ? work_->moved_bytes() : 0, work_ ? work_->seed : 0);
}

}  // namespace sonde::sim
