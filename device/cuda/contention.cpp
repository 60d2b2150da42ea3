#include "device/cuda/contention.h"

#include <algorithm>

#include "core/error.h"
#include "core/parse.h"
#include "device/cuda/errors.h"

namespace sonde::cuda {
namespace {

/// What an aggressor works on: of 132 together 17 MB, which stay in the L2.
constexpr std::int64_t kRegionBytes = 128 * kKiB;
/// Passes of a throughput victim over its chain in one window: 128 x 64 KiB at about 100 GB/s an SM
/// are 80 us, as long as a latency victim's.
constexpr std::int64_t kPasses = 128;

DuelWork work_of(const std::string& name) {
  if (name == "load") return DuelWork::load;
  if (name == "load_throughput") return DuelWork::load_throughput;
  if (name == "store") return DuelWork::store;
  if (name == "register") return DuelWork::register_only;
  return DuelWork::none;
}

void refuse_unknown(const std::string& name, const std::vector<std::string>& known,
                    const char* whose) {
  if (std::find(known.begin(), known.end(), name) != known.end()) return;
  throw Skip(std::string("no ") + whose + " work \"" + name + "\" here; there is " +
             join_names(known));
}

}  // namespace

std::string ContentionEngine::name_of(std::size_t role) const {
  return (role == 0 ? "the victim on " : "the aggressor on ") + cores_[role].str();
}

void ContentionEngine::prepare(const ContentionWork& work) {
  prepared_ = false;
  const std::int64_t line = description_.chase_line_bytes;
  refuse_unknown(work.victim_work, description_.victim_works, "victim's");
  if (work.aggressor_work != "none") {
    refuse_unknown(work.aggressor_work, description_.aggressor_works, "aggressors'");
  }
  if (work.loads < 1 || work.footprint_bytes < 2 * line || work.footprint_bytes > kRegionBytes) {
    throw Skip("a victim of " + format_count(work.loads) + " loads over " +
               format_size(Bytes(work.footprint_bytes)) + ": at least 1 load, and 2 lines to " +
               format_size(Bytes(kRegionBytes)));
  }
  cores_ = {work.victim};
  if (work.aggressor_work != "none") {
    cores_.insert(cores_.end(), work.aggressors.begin(), work.aggressors.end());
  }
  context_.refuse_impossible(cores_);
  if (!ring_ || ring_of_->footprint_bytes != work.footprint_bytes || ring_of_->seed != work.seed) {
    ring_.reset();
    ring_ = std::make_unique<RingMemory>(context_, work.footprint_bytes, line, 1, work.seed);
    ring_of_ = work;
    position_ = 0;
  }
  if (regions_.reserve(context_.sms() * kRegionBytes)) {
    check(cudaMemset(regions_.as(), 0, static_cast<std::size_t>(regions_.size())),
          "clearing the aggressors' memory");
    state_ = DeviceBuffer(sizeof(DuelState));
    check(cudaMemset(state_.as(), 0, sizeof(DuelState)), "clearing the flags");
    results_ = PinnedBuffer(context_.sms() * static_cast<std::int64_t>(sizeof(DuelResult)));
  }
  work_ = work;
  prepared_ = true;
}

Sample ContentionEngine::run(const Trial&) {
  if (!prepared_) throw PointFailure("run() without a prepare() that succeeded");
  int grid = 0;
  const Seats seats = context_.seat(cores_, Seated::duel, &grid);
  launched_ = seats.launch;
  at_work_ += cores_.size() - 1;
  const bool latency = work_.victim_work == "load";
  duel_ = {ring_->ring(),
           position_,
           latency ? work_.loads : kPasses,
           regions_.as(),
           kRegionBytes,
           work_of(work_.victim_work),
           work_of(work_.aggressor_work),
           at_work_,
           state_.as<DuelState>(),
           results_.as<DuelResult>()};
  if (latency) position_ = (position_ + work_.loads) % ring_->ring().lines;
  check(launch_duel(context_.stream(), grid, seats, duel_), "starting victim and aggressors");
  context_.synchronize("victim and aggressors");

  const auto* const results = results_.as<DuelResult>();
  const auto window = static_cast<double>(results[0].end_ns - results[0].begin_ns);
  const std::int64_t done = latency ? work_.loads : kPasses * ring_->ring().lines;
  const double share = static_cast<double>(work_.loads) / static_cast<double>(done);
  Sample sample;
  sample.elapsed = Seconds(window * share * 1e-9);
  if (window > 0) sample.clock = Hertz(static_cast<double>(results[0].cycles) * 1e9 / window);
  for (std::size_t role = 0; role < cores_.size(); ++role) {
    sample.placement.push_back(core_of(results[role].sm));
    if (role == 0) continue;
    const auto operations = static_cast<std::int64_t>(results[role].operations);
    sample.background_operations =
        std::min(sample.background_operations.value_or(operations), operations);
  }
  sample.note = latency ? "ld.cg, dependent" : "ld.cg or st of 1,024 threads, lines of 128 B";
  return sample;
}

Check ContentionEngine::verify() {
  if (!prepared_) return {false, "nothing ran"};
  const auto* const results = results_.as<DuelResult>();
  const DuelResult& victim = results[0];
  for (std::size_t role = 0; role < cores_.size(); ++role) {
    const DuelResult& result = results[role];
    if (result.launch != launched_) return {false, name_of(role) + " did not run"};
    if (core_of(result.sm) != cores_[role]) {
      return {false, name_of(role) + " ran on " + core_of(result.sm).str()};
    }
    if (role == 0) continue;
    if (result.begin_ns > victim.begin_ns || result.end_ns < victim.end_ns ||
        result.operations == 0) {
      return {false, name_of(role) + " did not work all the time: " +
                         format_count(static_cast<std::int64_t>(result.operations)) +
                         " operations in the victim's window"};
    }
  }
  if (work_.victim_work == "load" && victim.end != ring_->node(position_)) {
    return {false,
            name_of(0) + " did not end at position " + format_count(position_) + " of its chain"};
  }
  if (work_.victim_work == "load_throughput") {
    unsigned long long sum = 0;
    for (std::int64_t p = 0; p < ring_->ring().lines; ++p) sum += ring_->node(p);
    if (victim.end != sum * static_cast<unsigned long long>(kPasses)) {
      return {false, name_of(0) + " read other words than its chain holds"};
    }
  }
  if (victim.wrong != 0) {
    return {false, std::to_string(victim.wrong) + " words stored by " + name_of(0) +
                       " read back otherwise"};
  }
  return {};
}

}  // namespace sonde::cuda
