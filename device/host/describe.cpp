#include "device/host/describe.h"

#include <algorithm>

#include "core/parse.h"
#include "core/units.h"
#include "device/host/contention.h"

namespace sonde::host {
namespace {

/// The rest is for page tables, visiting orders (a sixteenth of a chain), the page cache and
/// other programs: a measurement that swaps or is killed measures nothing.
constexpr double kMemoryShare = 0.6;

/// Beyond every private cache of today's cores; used where the machine does not state its L2.
constexpr std::int64_t kUnknownFootprint = 16 * kMiB;
/// Times the private cache: at 4 it still holds a quarter of the lines, and on an Emerald Rapids VM
/// the latency was between two levels and scattered (33 to 142 ns); at 8 it was on the next
/// plateau.
constexpr std::int64_t kCachesBeyond = 8;

/// Chain of an address profile: the private caches are emptied by other memory, so it need not be
/// long for them, only hold many more lines than are sampled; and a quarter of the last cache
/// keeps its lines there beside what empties the private ones, whatever other programs use.
constexpr std::int64_t kProfileBytes = 32 * kMiB;
constexpr std::int64_t kShareOfLastCache = 4;

std::int64_t profile_bytes_of(const Machine& machine) {
  const Cache* l3 = machine.cache(3);
  if (l3 == nullptr) return kProfileBytes;
  const std::int64_t line = machine.caches.front().line_bytes.value_or(64);
  return std::min(kProfileBytes, l3->capacity_bytes / kShareOfLastCache / line * line);
}

std::optional<std::int64_t> memory_for_one(const Machine& machine) {
  std::optional<std::int64_t> least = machine.memory_available_bytes;
  const std::optional<std::int64_t>& left = machine.limits.memory_left_bytes;
  if (left) least = least ? std::min(*least, *left) : *left;
  if (!least) return std::nullopt;
  return static_cast<std::int64_t>(static_cast<double>(*least) * kMemoryShare);
}

std::string describe_nodes(const std::vector<NumaNode>& nodes) {
  std::string text;
  for (const NumaNode& node : nodes) {
    text += (text.empty() ? "" : "; ") + std::to_string(node.number) + ": ";
    text += node.cpus.empty() ? "no CPUs" : "CPUs " + format_cpu_list(node.cpus);
    if (node.memory_bytes) {
      text += ", " + format_count(*node.memory_bytes / kMiB) + " MiB";
    }
  }
  return text;
}

/// "128 CPUs on 64 cores in 2 packages"
std::string describe_cores(const Machine& machine) {
  if (machine.cores.empty() || !machine.packages) return "";
  const auto count = [](std::size_t n, const char* one) {
    return format_count(static_cast<std::int64_t>(n)) + " " + one + (n == 1 ? "" : "s");
  };
  return count(machine.cpus.size(), "CPU") + " on " + count(machine.cores.size(), "core") + " in " +
         count(static_cast<std::size_t>(*machine.packages), "package");
}

/// Usable CPUs that are threads of one core: "0,64; 1,65". Empty where none are.
std::string describe_siblings(const Machine& machine) {
  std::string text;
  for (const std::vector<int>& core : machine.cores) {
    if (core.size() > 1) text += (text.empty() ? "" : "; ") + format_cpu_list(core);
  }
  return text;
}

std::string describe_kinds(const std::vector<CoreKind>& kinds) {
  std::string text;
  for (const CoreKind& kind : kinds) {
    text += (text.empty() ? "" : "; ") + kind.name + ": " + format_cpu_list(kind.cpus);
  }
  return text;
}

}  // namespace

DeviceDescription describe_machine(const Machine& machine) {
  DeviceDescription d;
  d.name = "host";
  d.product = machine.model.value_or("CPU of unknown model");
  d.time_source = TimeSource::host_clock;
  d.places_blocks = false;
  for (int cpu : machine.cpus) d.cores.push_back({"cpu", cpu});
  for (const Cache& cache : machine.caches) {
    d.memory.push_back({cache.name, cache.capacity_bytes, cache.line_bytes, cache.instances});
  }
  d.memory.push_back({"DRAM", machine.memory_total_bytes, std::nullopt});
  d.memory_bytes = memory_for_one(machine);
  if (const Cache* l1 = machine.cache(1); l1 && l1->line_bytes) {
    d.chase_line_bytes = std::max<std::int64_t>(64, *l1->line_bytes);
  }
  const Cache* l2 = machine.cache(2);
  d.chase_footprint_bytes = l2 ? kCachesBeyond * l2->capacity_bytes : kUnknownFootprint;
  d.cold_launches = false;
  d.profile_bytes = profile_bytes_of(machine);
  // The victim's loads must leave its core: the footprint at which they do was chosen above.
  d.contention_bytes = d.chase_footprint_bytes;
  d.aggressor_works = aggressor_works();
  d.handoff_kinds = {"read", "write"};
  d.copies = {{"d2d", {"auto"}}};

  auto add = [&d](const char* name, const std::optional<std::string>& value) {
    if (value && !value->empty()) d.conditions.emplace_back(name, *value);
  };
  auto add_switch = [&add](const char* name, const std::optional<bool>& value) {
    if (value) add(name, *value ? "on" : "off");
  };
  add("allowed_cpus", format_cpu_list(machine.cpus));
  add("offline_cpus", format_cpu_list(machine.offline));
  add("cores", describe_cores(machine));
  add("smt_siblings", describe_siblings(machine));
  add("core_kinds", describe_kinds(machine.kinds));
  add("governor", machine.governor);
  add_switch("turbo", machine.turbo);
  add_switch("smt", machine.smt);
  add("huge_pages", machine.huge_page_mode);
  add("huge_page_defrag", machine.huge_page_defrag);
  add("numa_nodes", describe_nodes(machine.nodes));
  if (machine.limits.cpu_quota) {
    add("cgroup_cpu_quota", format_number(*machine.limits.cpu_quota) + " CPUs");
  }
  if (machine.limits.memory_bytes) {
    add("cgroup_memory_limit", format_count(*machine.limits.memory_bytes) + " B");
  }
  if (machine.hypervisor) add("hypervisor", *machine.hypervisor ? "yes" : "none reported");
  add("kernel", machine.kernel);
  add("clock_source", machine.clock_source);
  return d;
}

}  // namespace sonde::host
