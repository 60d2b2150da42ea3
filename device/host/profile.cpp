#include "device/host/profile.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <numeric>
#include <vector>

#include "core/error.h"
#include "core/parse.h"
#include "core/statistics.h"
#include "device/common/pattern.h"
#include "device/common/sampled_lines.h"
#include "device/host/clock.h"
#include "device/host/pin.h"
#include "device/host/wait_watch.h"

namespace sonde::host {
namespace {

/// The first pass finds memory that lies where filling or another core left it: not counted.
constexpr int kPasses = 13;
constexpr std::size_t kCounted = kPasses - 1;
/// Reading this many times the private caches' size leaves nothing else in them under any of the
/// usual replacement rules.
constexpr std::int64_t kEvictFactor = 4;
constexpr std::int64_t kUnknownPrivate = 2 * kMiB;
/// Before each pass: a disturbance must not catch them all.
constexpr int kClockReadings = 100;

/// Adds times between two readings of the clock with nothing in between but the arithmetic.
void read_clock_alone(std::vector<double>& readings) {
  for (int i = 0; i < kClockReadings; ++i) {
    const std::int64_t begin = monotonic_ns();
    readings.push_back(static_cast<double>(monotonic_ns() - begin));
  }
}

/// Mean of their second quarter: what disturbs a core for a while, such as a busy hardware thread
/// beside it, lengthens many of them, and a subtraction of too much would shorten every load.
double clock_overhead_ns(std::vector<double> readings) {
  std::sort(readings.begin(), readings.end());
  const auto quarter = static_cast<std::ptrdiff_t>(readings.size() / 4);
  return std::accumulate(readings.begin() + quarter, readings.begin() + 2 * quarter, 0.0) /
         static_cast<double>(quarter);
}

/// Mean of the middle half: unlike a median not bound to the clock's whole nanoseconds, and like
/// one untouched by a pass that was interrupted or that found a line still near.
double middle_mean(std::array<std::uint32_t, kCounted>& times) {
  std::sort(times.begin(), times.end());
  const auto* const begin = times.begin() + kCounted / 4;
  const auto* const end = times.begin() + 3 * kCounted / 4;
  return std::accumulate(begin, end, 0.0) / static_cast<double>(end - begin);
}

}  // namespace

void ProfileEngine::prepare(const ProfileWork& work) {
  prepared_ = false;
  seat_ = Seat{usable_cpus(machine_, {work.core}).front(), {}, {}};
  const std::int64_t line = description_.chase_line_bytes;
  offsets_ = sampled_offsets(work.bytes, line, work.addresses, work.seed);
  const std::int64_t most = description_.memory_bytes.value_or(std::int64_t{1} << 46);
  if (work.bytes > most) {
    throw Skip("a chain of " + format_size(Bytes(work.bytes)) +
               " does not fit: a measurement may use " + format_count(most) + " B");
  }
  // Once, whichever core comes first: a second buffer would have other homes.
  if (filled_bytes_ != work.bytes || filled_seed_ != work.seed) {
    const PinnedThread pin(machine_.cpus.front());
    if (memory_.size() < work.bytes) {
      memory_ = Buffer();
      memory_ = Buffer(work.bytes, machine_.huge_page_bytes);
    }
    fill_pattern(memory_.first(work.bytes), work.seed);
    filled_bytes_ = work.bytes;
    filled_seed_ = work.seed;
  }
  if (evictor_.size() == 0) {
    std::int64_t private_bytes = kUnknownPrivate;
    if (const Cache* l2 = machine_.cache(2)) private_bytes = l2->capacity_bytes;
    evictor_ = Buffer(kEvictFactor * private_bytes, machine_.huge_page_bytes);
  }
  sums_.assign(offsets_.size(), 0);
  passes_ = 0;
  work_ = work;
  prepared_ = true;
}

void ProfileEngine::empty_private_caches() const {
  for (std::int64_t at = 0; at < evictor_.size(); at += description_.chase_line_bytes) {
    static_cast<void>(*static_cast<const volatile std::byte*>(evictor_.data() + at));
  }
}

void ProfileEngine::pass(std::vector<std::uint32_t>& times) {
  empty_private_caches();
  // Zero, but the compiler must not know: it makes each address depend on the clock's reading, so
  // that no load starts before it.
  std::uintptr_t none = 0;
  asm volatile("" : "+r"(none));
  const std::byte* const base = memory_.data();
  for (std::size_t i = 0; i < offsets_.size(); ++i) {
    const std::int64_t begin = monotonic_ns();
    const std::byte* at = base + offsets_[i] + (static_cast<std::uintptr_t>(begin) & none);
    std::uint64_t value = *reinterpret_cast<const volatile std::uint64_t*>(at);
    // Needed before the second reading, which itself waits for earlier loads.
    asm volatile("" : "+r"(value));
    times[i] = static_cast<std::uint32_t>(
        std::min<std::int64_t>(monotonic_ns() - begin, std::int64_t{UINT32_MAX}));
    sums_[i] += value;
  }
  ++passes_;
}

Sample ProfileEngine::run(const Trial&) {
  if (!prepared_) throw PointFailure("run() without a prepare() that succeeded");
  const std::size_t count = offsets_.size();
  std::vector<std::uint32_t> uncounted(count);
  std::vector<std::vector<std::uint32_t>> times(kCounted, std::vector<std::uint32_t>(count));
  const PinnedThread pin(seat_.cpu);
  seat_.before = current_cpu();
  std::vector<double> readings;
  readings.reserve(kCounted * kClockReadings);
  const WaitWatch watch;
  const std::int64_t begin = monotonic_ns();
  pass(uncounted);
  for (std::vector<std::uint32_t>& one : times) {
    read_clock_alone(readings);
    pass(one);
  }
  const std::int64_t end = monotonic_ns();
  // The next core must not find these lines in this one's caches.
  empty_private_caches();
  seat_.after = current_cpu();
  const double overhead = clock_overhead_ns(readings);

  Sample sample;
  sample.elapsed = Seconds(static_cast<double>(end - begin) * 1e-9);
  sample.clock = measure_core_clock();
  sample.placement = {seat_.core()};
  sample.note = memory_.page_kind() + ", private caches emptied, mean of the middle half of " +
                std::to_string(kCounted) + " loads";
  sample.series.reserve(count);
  for (std::size_t i = 0; i < count; ++i) {
    std::array<std::uint32_t, kCounted> of_address{};
    for (std::size_t p = 0; p < kCounted; ++p) of_address[p] = times[p][i];
    const double latency = middle_mean(of_address) - overhead;
    if (latency <= 0) {
      throw PointFailure("the load at offset " + format_count(offsets_[i]) + " took " +
                         format_number(latency) + " ns: the machine is too busy");
    }
    sample.series.push_back({offsets_[i], Seconds(latency * 1e-9)});
  }
  return sample;
}

Check ProfileEngine::verify() {
  if (!prepared_ || passes_ == 0) return {false, "no address was measured"};
  if (const auto problem = seat_.misplaced("the profile")) return {false, *problem};
  for (std::size_t i = 0; i < offsets_.size(); ++i) {
    const std::uint64_t expected =
        pattern_word(work_.seed, static_cast<std::uint64_t>(offsets_[i]) / 8) * passes_;
    if (sums_[i] != expected) {
      return {false, "the loads at offset " + format_count(offsets_[i]) + " add up to " +
                         std::to_string(sums_[i]) + ", expected " + std::to_string(expected)};
    }
  }
  return {};
}

}  // namespace sonde::host
