// Copies and streams of this computer against plain and non-temporal loops written bare here: the
// median of paired ratios of bandwidth, suite over bare, with its interval. Each pair takes both
// one after the other, every second pair the other way round, so that a drift hits both alike.
#include <emmintrin.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "core/error.h"
#include "core/statistics.h"
#include "device/host/team.h"
#include "device/registry.h"

namespace sonde {
namespace {

constexpr int kPairs = 31;
/// Beyond what a last cache on sale keeps of a walk of two arrays.
constexpr std::int64_t kBytes = std::int64_t{512} << 20;

using Loop = void (*)(std::byte* to, const std::byte* from, std::int64_t bytes);

void plain_copy(std::byte* to, const std::byte* from, std::int64_t bytes) {
  std::memcpy(to, from, static_cast<std::size_t>(bytes));
}

void nt_copy(std::byte* to, const std::byte* from, std::int64_t bytes) {
  for (std::int64_t i = 0; i < bytes; i += 64) {
    for (std::int64_t j = i; j < i + 64; j += 16) {
      _mm_stream_si128(reinterpret_cast<__m128i*>(to + j),
                       _mm_load_si128(reinterpret_cast<const __m128i*>(from + j)));
    }
  }
  _mm_sfence();
}

std::uint64_t sink = 0;  // what is read must be used

void plain_read(std::byte*, const std::byte* from, std::int64_t bytes) {
  std::uint64_t sums[8] = {};
  for (std::int64_t i = 0; i < bytes; i += 64) {
    for (std::int64_t j = 0; j < 8; ++j) {
      sums[j] += *reinterpret_cast<const std::uint64_t*>(from + i + 8 * j);
    }
  }
  for (const std::uint64_t sum : sums) __atomic_fetch_add(&sink, sum, __ATOMIC_RELAXED);
}

struct Free {
  // NOLINTNEXTLINE(cppcoreguidelines-no-malloc): RAII itself, of what aligned_alloc gave
  void operator()(void* memory) const { std::free(memory); }
};
using Array = std::unique_ptr<std::byte, Free>;

/// Arrays of each core, touched by it.
struct Bare {
  std::vector<int> cpus;
  std::int64_t bytes = 0;  ///< of one array of one core
  std::vector<Array> to, from;

  Bare(std::vector<int> on, std::int64_t each) : cpus(std::move(on)), bytes(each) {
    to.resize(cpus.size());
    from.resize(cpus.size());
    host::on_each_cpu(cpus, [&](std::size_t i) {
      for (auto* arrays : {&to, &from}) {
        constexpr std::size_t kAlignment = 2 << 20;  // a huge page, as the suite asks for
        (*arrays)[i].reset(static_cast<std::byte*>(
            std::aligned_alloc(kAlignment, static_cast<std::size_t>(bytes))));
        std::memset((*arrays)[i].get(), 1, static_cast<std::size_t>(bytes));
      }
    });
  }

  double seconds(Loop loop) {
    std::vector<std::chrono::steady_clock::time_point> begin(cpus.size()), end(cpus.size());
    host::Rendezvous meet(cpus.size());
    host::on_each_cpu(cpus, [&](std::size_t i) {
      loop(to[i].get(), from[i].get(), bytes);  // warm, as the suite's is
      meet.wait();
      begin[i] = std::chrono::steady_clock::now();
      loop(to[i].get(), from[i].get(), bytes);
      end[i] = std::chrono::steady_clock::now();
    });
    const auto first = *std::min_element(begin.begin(), begin.end());
    const auto last = *std::max_element(end.begin(), end.end());
    return std::chrono::duration<double>(last - first).count();
  }
};

/// `counted`: bytes of a run. The work is filled once and checked at the end.
template <class Work>
void report(const std::string& name, Engine<Work>& engine, const Work& work, double counted,
            const std::function<double()>& bare_s) {
  engine.prepare(work);
  std::vector<double> ratios, rates;
  for (int pair = 0; pair < kPairs; ++pair) {
    double own_s = 0, other_s = 0;
    if (pair % 2 == 0) own_s = engine.run({}).elapsed.value();
    other_s = bare_s();
    if (pair % 2 != 0) own_s = engine.run({}).elapsed.value();
    ratios.push_back(other_s / own_s);
    rates.push_back(counted / own_s * 1e-9);
  }
  if (const Check check = engine.verify(); !check.ok) throw PointFailure(check.problem);
  const double middle = *median(ratios);
  const auto interval = median_interval(ratios);
  std::printf("%-44s %7.2f GB/s  ratio %.3f (%.3f to %.3f)%s\n", name.c_str(), *median(rates),
              middle, interval->low, interval->high, middle < 0.97 ? "  below 0.97" : "");
  std::fflush(stdout);
}

void compare_on(Device& device, std::size_t count) {
  const std::vector<CoreName>& all = device.description().cores;
  const std::vector<CoreName> cores(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(count));
  std::vector<int> cpus;
  cpus.reserve(cores.size());
  for (const CoreName& core : cores) cpus.push_back(core.number);
  const std::int64_t each = kBytes / static_cast<std::int64_t>(count);
  Bare bare(cpus, each);
  const std::string on = ", " + std::to_string(count) + (count == 1 ? " core" : " cores");
  const auto total = static_cast<double>(kBytes);

  CopyWork copy;
  copy.bytes = kBytes;
  if (count > 1) copy.cores = cores;
  report("copy auto / memcpy" + on, *device.copy(), copy, total,
         [&] { return bare.seconds(plain_copy); });
  copy.method = "nt_loop";
  report("copy nt_loop / SSE2 non-temporal" + on, *device.copy(), copy, total,
         [&] { return bare.seconds(nt_copy); });
  StreamWork stream;
  stream.cores = cores;
  stream.bytes = each;
  stream.request_bytes = device.description().stream.request_bytes.front();
  report("stream read / plain sums" + on, *device.stream(), stream, total,
         [&] { return bare.seconds(plain_read); });
  stream.kind = "copy";
  stream.store = "nt";
  report("stream copy nt / SSE2 non-temporal" + on, *device.stream(), stream, 2 * total,
         [&] { return bare.seconds(nt_copy); });
}

}  // namespace
}  // namespace sonde

int main() {
  const auto device = sonde::open_device("host");
  std::printf("median of %d interleaved pairs, suite over bare, with its 95 %% interval\n",
              sonde::kPairs);
  for (const std::size_t count : {std::size_t{1}, std::size_t{2}}) {
    if (device->description().cores.size() >= count) sonde::compare_on(*device, count);
  }
  return 0;
}
