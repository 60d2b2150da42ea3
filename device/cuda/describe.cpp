#include "device/cuda/describe.h"

#include <algorithm>

#include "core/parse.h"
#include "core/units.h"
#include "device/common/gemm_reference.h"

namespace sonde::cuda {
namespace {

/// Peaks of products by the name the driver gives them. Dense rates: the datasheets print twice as
/// much, with sparsity. The clock is the one at which they are meant: peak over SMs and over 4,096
/// BF16 FLOP an SM and clock (NVIDIA H100 Tensor Core GPU Architecture, table 2).
struct Datasheet {
  const char* product;
  double memory_bytes_per_s;
  double bf16_flop_per_s;  ///< FP16 is the same, FP8 twice
  double clock_hz;
  const char* source;
};
constexpr Datasheet kDatasheets[] = {
    {"NVIDIA H200", 4.8e12, 989.4e12, 1830e6, "NVIDIA H200 datasheet, SXM, dense"},
    {"NVIDIA H100 80GB HBM3", 3.35e12, 989.4e12, 1830e6, "NVIDIA H100 datasheet, SXM, dense"},
    {"NVIDIA H100 PCIe", 2.0e12, 756.4e12, 1620e6, "NVIDIA H100 datasheet, PCIe, dense"},
};

/// L1 and shared memory are one array; no call tells its size. 256 KiB an SM of compute capability
/// 9.0, 192 KiB of 8.0, 128 KiB of 8.6 and 8.9 (CUDA C++ Programming Guide, "Compute
/// Capabilities").
std::optional<std::int64_t> l1_bytes(int major, int minor) {
  if (major == 9 || major == 10) return 256 * kKiB;
  if (major == 8) return (minor == 0 || minor == 7 ? 192 : 128) * kKiB;
  return std::nullopt;
}

constexpr std::int64_t kLine = 128;  // of L1 and L2 since Volta
/// Chain of one block, each line read once, so that every load misses the nearest cache. Those of
/// two waves and more must lie in L2: with 128 KiB on an H200, 34 MB, a second wave missed it.
constexpr std::int64_t kChaseBytes = 64 * kKiB;
/// Chain of a victim: 512 loads of 150 ns, long against the start of its window.
constexpr std::int64_t kContentionBytes = 64 * kKiB;
/// Beside the profile's lines the L2 holds little else; a half of it at most.
constexpr std::int64_t kProfileBytes = 32 * kMiB;
/// On an H200 reads run at 4.6 TB/s over 130 MB, 4.5 over 1 GiB and 4.2 over 4.7 GB: its L2 of 60
/// MiB keeps a part of walks far longer than itself.
constexpr std::int64_t kWalkCaches = 32;
/// The rest is for the runtime, workspaces and other programs.
constexpr double kMemoryShare = 0.8;

}  // namespace

std::string cuda_version(int number) {
  return std::to_string(number / 1000) + "." + std::to_string(number % 1000 / 10);
}

DeviceDescription describe_card(const Card& card, const CardFacts& facts) {
  DeviceDescription d;
  d.name = "cuda:" + std::to_string(card.ordinal);
  d.product = card.product;
  d.time_source = TimeSource::device_event;
  d.places_blocks = true;
  for (int sm = 0; sm < card.sms; ++sm) d.cores.push_back({"sm", sm});
  d.memory.push_back({"L1", l1_bytes(card.major, card.minor), kLine, card.sms});
  std::optional<std::int64_t> l2;
  if (card.l2_bytes > 0) l2 = card.l2_bytes;
  d.memory.push_back({"L2", l2, kLine, 1});
  d.memory.push_back({"device memory", card.memory_bytes, std::nullopt});
  d.memory_bytes = static_cast<std::int64_t>(static_cast<double>(card.memory_bytes) * kMemoryShare);
  if (l2) d.memory_walk_bytes = kWalkCaches * *l2;
  d.chase_line_bytes = kLine;
  d.chase_footprint_bytes = kChaseBytes;
  d.cold_launches = true;
  d.profile_bytes = l2 ? std::min(kProfileBytes, *l2 / 2 / kMiB * kMiB) : kProfileBytes;
  d.contention_bytes = kContentionBytes;
  d.aggressor_works = {"register", "load", "store"};
  d.victim_works = {"load", "load_throughput", "store"};
  d.stream = {{"read", "write", "copy", "triad"}, {"ordinary"}, {16, 8, 4}, 1};
  d.copies = {{"d2d", {"auto", "sm"}},
              {"h2d", {"auto", "pageable", "sm"}},
              {"d2h", {"auto", "pageable", "sm"}}};
  if (card.blas_version) {
    d.gemm = {{"bf16", "fp16"}, {"auto", "best"}};
    if (card.major > 8 || (card.major == 8 && card.minor == 9)) d.gemm.dtypes.emplace_back("fp8");
  }
  for (const Datasheet& sheet : kDatasheets) {
    if (card.product != sheet.product) continue;
    const std::string source = sheet.source;
    d.roofs = {{"memory_bytes_per_s", sheet.memory_bytes_per_s, source},
               {"bf16_flop_per_s", sheet.bf16_flop_per_s, source},
               {"fp16_flop_per_s", sheet.bf16_flop_per_s, source},
               {"fp8_flop_per_s", 2 * sheet.bf16_flop_per_s, source}};
    d.reference_clock_hz = sheet.clock_hz;
  }

  const auto add = [&d](const char* name, const std::string& value) {
    d.conditions.emplace_back(name, value);
  };
  const auto add_switch = [&add](const char* name, const std::optional<bool>& on) {
    if (on) add(name, *on ? "on" : "off");
  };
  const auto add_clock = [&add](const char* name, const std::optional<Hertz>& clock) {
    if (clock) add(name, format_number(megahertz(*clock)) + " MHz");
  };
  add("compute_capability", std::to_string(card.major) + "." + std::to_string(card.minor));
  if (facts.driver) add("driver", *facts.driver);
  add("driver_cuda", cuda_version(card.driver_version));
  add("runtime_cuda", cuda_version(card.runtime_version));
  if (card.blas_version) add("cublaslt", std::to_string(*card.blas_version));
  add("gemm_fill", kGemmFill);
  add_clock("most_sm_clock", facts.most_sm_clock);
  add_clock("most_memory_clock", facts.most_memory_clock);
  if (facts.power_limit) add("power_limit", format_number(facts.power_limit->value()) + " W");
  add_switch("ecc", facts.ecc);
  add_switch("persistence", facts.persistence);
  add_switch("mig", facts.mig);
  if (facts.compute_mode) add("compute_mode", *facts.compute_mode);
  return d;
}

}  // namespace sonde::cuda
