#include "device/cuda/stream.h"

#include <algorithm>

#include "core/error.h"
#include "core/parse.h"
#include "core/rng.h"
#include "device/cuda/errors.h"

namespace sonde::cuda {
namespace {

constexpr float kFactor = 3;
/// Before a run each target holds this, which no stream stores.
constexpr float kUntouched = -1;

std::optional<StreamKind> kind_of(const std::string& name) {
  if (name == "read") return StreamKind::read;
  if (name == "write") return StreamKind::write;
  if (name == "copy") return StreamKind::copy;
  if (name == "triad") return StreamKind::triad;
  return std::nullopt;
}

std::uint64_t second_seed(std::uint64_t seed) { return key_of({seed, 2}); }

}  // namespace

void StreamEngine::prepare(const StreamWork& work) {
  prepared_ = false;
  const StreamOffer& offer = description_.stream;
  const auto kind = kind_of(work.kind);
  if (!kind) throw Skip("no " + work.kind + " stream here; there is " + join_names(offer.kinds));
  if (work.store != "ordinary") {
    throw Skip("no " + work.store + " stores here; there is " + join_names(offer.stores));
  }
  if (work.requests != 1) {
    throw Skip(format_count(work.requests) + " requests a command: an access of a thread is one");
  }
  const auto& widths = offer.request_bytes;
  if (std::find(widths.begin(), widths.end(), work.request_bytes) == widths.end()) {
    throw Skip("accesses of " + format_count(work.request_bytes) +
               " B: a thread has 16, 8 and 4 B");
  }
  if (work.cores.empty() || work.passes < 1 || work.bytes < work.request_bytes ||
      work.bytes % 16 != 0) {
    throw Skip(format_count(work.passes) + " passes over " + format_count(work.bytes) + " B by " +
               std::to_string(work.cores.size()) +
               " cores: at least one of each, and a multiple of 16 B");
  }
  const std::int64_t sets = work.shared ? 1 : static_cast<std::int64_t>(work.cores.size());
  const std::int64_t most = description_.memory_bytes.value_or(kGiB);
  if (work.bytes > most / (sets * work.arrays())) {
    throw Skip(format_count(sets * work.arrays()) + " arrays of " + format_size(Bytes(work.bytes)) +
               " do not fit: a measurement may use " + format_count(most) + " B");
  }
  check(count_stream_seats(*kind, static_cast<int>(work.request_bytes), &blocks_an_sm_),
        "asking how many blocks an SM holds");
  context_.refuse_impossible(work.cores);

  const std::int64_t total = sets * work.bytes;
  const std::int64_t floats = total / static_cast<std::int64_t>(sizeof(float));
  const auto fill = [&](DeviceBuffer& buffer, auto& filled, std::uint64_t seed) {
    if (buffer.reserve(total)) filled.reset();
    if (filled && filled->first == seed && filled->second >= floats) return;
    filled.reset();
    check(launch_fill_floats(context_.stream(), buffer.as<float>(), floats, seed, false, 0),
          "filling a source");
    filled = {seed, floats};
  };
  if (*kind != StreamKind::write) fill(source_, filled_, work.seed);
  if (*kind == StreamKind::triad) fill(second_, second_filled_, second_seed(work.seed));
  if (*kind != StreamKind::read) {
    target_.reserve(total);
    check(launch_fill_floats(context_.stream(), target_.as<float>(), floats, 0, true, kUntouched),
          "clearing a target");
  }
  word_.reserve(sizeof(unsigned long long));
  results_.reserve(static_cast<std::int64_t>(work.cores.size() * sizeof(StreamResult)));
  value_ += 1;
  arrays_ = {target_.as<float>(),
             source_.as<float>(),
             second_.as<float>(),
             work.shared ? 0 : work.bytes,
             work.bytes,
             work.passes,
             value_,
             kFactor};
  kind_ = *kind;
  work_ = work;
  context_.synchronize("filling the arrays");
  prepared_ = true;
}

Sample StreamEngine::run(const Trial&) {
  if (!prepared_) throw PointFailure("run() without a prepare() that succeeded");
  int grid = 0;
  const Seats seats = context_.seat(work_.cores, blocks_an_sm_, &grid);
  launched_ = seats.launch;
  auto* const results = results_.as<StreamResult>();
  check(launch_stream(context_.stream(), grid, seats, kind_, static_cast<int>(work_.request_bytes),
                      arrays_, results),
        "starting a stream");
  context_.synchronize("the stream");
  unsigned long long begin = ~0ULL;
  unsigned long long end = 0;
  Sample sample;
  for (std::size_t i = 0; i < work_.cores.size(); ++i) {
    if (results[i].launch != launched_) continue;  // verify() says so
    begin = std::min(begin, results[i].begin_ns);
    end = std::max(end, results[i].end_ns);
    sample.placement.push_back(core_of(results[i].sm));
  }
  if (end <= begin) throw PointFailure("no block of the stream ran");
  sample.elapsed = Seconds(static_cast<double>(end - begin) * 1e-9);
  sample.note = "1,024 threads an SM, 4 accesses under way each";
  return sample;
}

/// Of all words of the sources, modulo 2^32, from their formula.
std::uint32_t StreamEngine::expected_sum() {
  const std::int64_t floats = work_.bytes *
                              (work_.shared ? 1 : static_cast<std::int64_t>(work_.cores.size())) /
                              static_cast<std::int64_t>(sizeof(float));
  const std::pair key{work_.seed, floats};
  const auto found = sums_.find(key);
  if (found != sums_.end()) return found->second;
  auto* const sum = word_.as<unsigned long long>();
  *sum = 0;
  DeviceBuffer on_card(sizeof *sum);
  check(cudaMemset(on_card.as(), 0, sizeof *sum), "clearing a sum");
  check(
      launch_expected_sum(context_.stream(), floats, work_.seed, on_card.as<unsigned long long>()),
      "summing the expected words");
  check(cudaMemcpyAsync(sum, on_card.as(), sizeof *sum, cudaMemcpyDeviceToHost, context_.stream()),
        "reading a sum");
  context_.synchronize("summing the expected words");
  return sums_[key] = static_cast<std::uint32_t>(*sum);
}

Check StreamEngine::verify() {
  if (!prepared_) return {false, "nothing was streamed"};
  const auto* const results = results_.as<StreamResult>();
  std::uint32_t sum = 0;
  for (std::size_t i = 0; i < work_.cores.size(); ++i) {
    const std::string name = "block " + std::to_string(i);
    if (results[i].launch != launched_) return {false, name + " did not run"};
    if (core_of(results[i].sm) != work_.cores[i]) {
      return {false, name + " was placed on " + work_.cores[i].str() + " but ran on " +
                         core_of(results[i].sm).str()};
    }
    sum += results[i].sum;
  }
  if (kind_ == StreamKind::read) {
    const auto walks = static_cast<std::uint32_t>(
        work_.passes * (work_.shared ? static_cast<std::int64_t>(work_.cores.size()) : 1));
    const std::uint32_t expected = expected_sum() * walks;
    if (sum == expected) return {};
    return {false, "the sum of the words read is " + std::to_string(sum) + ", expected " +
                       std::to_string(expected)};
  }
  const std::int64_t floats = work_.bytes *
                              (work_.shared ? 1 : static_cast<std::int64_t>(work_.cores.size())) /
                              static_cast<std::int64_t>(sizeof(float));
  auto* const first = word_.as<unsigned long long>();
  *first = ~0ULL;
  DeviceBuffer on_card(sizeof *first);
  check(cudaMemset(on_card.as(), 0xff, sizeof *first), "clearing a check");
  check(launch_check_stream(context_.stream(), kind_, target_.as<float>(), floats, work_.seed,
                            second_seed(work_.seed), value_, kFactor,
                            on_card.as<unsigned long long>()),
        "checking a target");
  check(cudaMemcpyAsync(first, on_card.as(), sizeof *first, cudaMemcpyDeviceToHost,
                        context_.stream()),
        "reading a check");
  context_.synchronize("checking a target");
  if (*first == ~0ULL) return {};
  return {false, "element " + format_count(static_cast<std::int64_t>(*first)) +
                     " of the target is not what the stream stores"};
}

}  // namespace sonde::cuda
