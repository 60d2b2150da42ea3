// The engines of a card against the same measurements written by hand, in turns within one run.
#include <cstdio>
#include <functional>
#include <vector>

#include "core/error.h"
#include "core/statistics.h"
#include "device/registry.h"
#include "tests/bench/cuda_bare.h"

namespace sonde {
namespace {

constexpr int kRounds = 31;
constexpr int kSharedBytes = 227 * 1024;  // compute capability 9.0: one such block fills an SM

/// Prints the median of suite over bare with its 95 % interval.
void compare(const char* name, const std::function<double()>& suite,
             const std::function<double()>& by_hand) {
  std::vector<double> ratios, ours;
  for (int round = 0; round < kRounds; ++round) {
    const bool first = round % 2 == 0;
    const double a = first ? suite() : by_hand();
    const double b = first ? by_hand() : suite();
    ratios.push_back(first ? a / b : b / a);
    ours.push_back(first ? a : b);
  }
  const auto interval = median_interval(ratios);
  std::printf("%-28s %12.4g s  suite/bare %.4f [%.4f, %.4f]\n", name, *median(ours),
              *median(ratios), interval->low, interval->high);
}

template <class Work>
double once(Engine<Work>* engine, const Work& work) {
  engine->prepare(work);
  const Sample sample = engine->run({});
  const Check check = engine->verify();
  if (!check.ok) throw PointFailure(check.problem);
  return sample.elapsed.value();
}

bool has_card() {
  for (const Listing& listing : list_devices()) {
    if (listing.name == "cuda:0" && listing.usable) return true;
  }
  return false;
}

void run() {
  if (!has_card()) {
    std::printf("cuda: left out, there is no card\n");
    return;
  }
  const auto device = open_device("cuda:0");
  const auto& cores = device->description().cores;
  const int sms = static_cast<int>(cores.size());
  for (const int blocks : {1, sms, sms + 1}) {
    ChaseWork work;
    work.kind = "sm";
    work.blocks = blocks;
    // One block alone walks enough lines that their homes, near and far, are the same mixture.
    const std::int64_t lines = blocks == 1 ? 32768 : 512;
    work.footprint_bytes = 128 * lines;
    work.loads = lines;
    work.warm = false;
    compare(("latency, " + std::to_string(blocks) + " blocks").c_str(),
            [&] { return once(device->chase(), work) / static_cast<double>(lines); },
            [&] { return bare::chase(blocks, kSharedBytes, lines, 65536) / 65536; });
  }
  for (const std::int64_t bytes : {16 * kMiB, 256 * kMiB, kGiB}) {
    CopyWork work;
    work.bytes = bytes;
    work.alignment = 2 * kMiB;
    const int count = bytes > 64 * kMiB ? 4 : 100;
    compare(("copy, " + format_size(Bytes(bytes))).c_str(),
            [&] { return once(device->copy(), work); }, [&] { return bare::copy(bytes, count); });
  }
  for (const char* kind : {"read", "write", "copy", "triad"}) {
    StreamWork work;
    work.cores = cores;
    work.kind = kind;
    work.bytes = 8 * kGiB / sms / 4096 * 4096;
    work.request_bytes = 16;
    compare((std::string("stream, ") + kind).c_str(), [&] { return once(device->stream(), work); },
            [&] { return bare::stream(kind[0], sms, work.bytes * sms); });
  }
}

}  // namespace
}  // namespace sonde

int main() {
  try {
    sonde::run();
  } catch (const std::exception& error) {
    std::fprintf(stderr, "cuda_bench: %s\n", error.what());
    return 1;
  }
}
