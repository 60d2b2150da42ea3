#include "device/host/machine.h"

#include <algorithm>
#include <map>
#include <set>
#include <sstream>
#include <string_view>

#include "core/error.h"
#include "core/parse.h"
#include "core/units.h"

namespace sonde::host {
namespace {

constexpr const char* kCpuFolder = "/sys/devices/system/cpu/";
constexpr const char* kHugeFolder = "/sys/kernel/mm/transparent_hugepage/";

std::string trim(std::string_view text) {
  constexpr std::string_view kBlank = " \t\r\n";
  const std::size_t first = text.find_first_not_of(kBlank);
  if (first == std::string_view::npos) return "";
  return std::string(text.substr(first, text.find_last_not_of(kBlank) - first + 1));
}

/// A kernel list file; nullopt when absent, empty or not understood.
std::optional<std::vector<int>> list_of(const FileRoot& root, const std::string& path) {
  const auto text = root.text(path);
  if (!text || trim(*text).empty()) return std::nullopt;
  try {
    std::vector<int> list = parse_cpu_list(trim(*text));
    std::sort(list.begin(), list.end());
    return list;
  } catch (const UsageError&) {
    return std::nullopt;
  }
}

void keep_only(std::vector<int>& cpus, const std::optional<std::vector<int>>& allowed) {
  if (!allowed) return;
  const std::set<int> wanted(allowed->begin(), allowed->end());
  std::erase_if(cpus, [&](int cpu) { return !wanted.contains(cpu); });
}

std::string cpu_folder(int cpu) { return kCpuFolder + ("cpu" + std::to_string(cpu)); }

/// "48K", "300M" as sysfs writes the size of a cache.
std::optional<std::int64_t> cache_size(const std::string& text) {
  if (text.empty()) return std::nullopt;
  std::int64_t unit = 1;
  if (text.back() == 'K') unit = kKiB;
  if (text.back() == 'M') unit = kMiB;
  if (text.back() == 'G') unit = kGiB;
  const auto count = parse_integer(unit == 1 ? text : text.substr(0, text.size() - 1));
  if (!count || *count <= 0 || *count > (std::int64_t{1} << 40) / unit) return std::nullopt;
  return *count * unit;
}

/// Distinct sets of CPUs that share the cache `index` ("index3"); nullopt where a CPU does not say.
std::optional<std::int64_t> count_instances(const FileRoot& root, const std::vector<int>& cpus,
                                            const std::string& index) {
  std::set<std::string> sharers;
  for (int cpu : cpus) {
    const auto list = root.text(cpu_folder(cpu) + "/cache/" + index + "/shared_cpu_list");
    if (!list || list->empty()) return std::nullopt;
    sharers.insert(*list);
  }
  return static_cast<std::int64_t>(sharers.size());
}

/// Of the first CPU; the others are taken to have the same.
std::vector<Cache> read_caches(const FileRoot& root, const std::vector<int>& cpus) {
  std::vector<Cache> caches;
  const std::string folder = cpu_folder(cpus.front()) + "/cache";
  for (const std::string& name : root.list(folder)) {
    if (name.rfind("index", 0) != 0) continue;
    const std::string at = folder + "/" + name + "/";
    const std::string type = root.text(at + "type").value_or("");
    const auto level = root.integer(at + "level");
    const auto size = cache_size(root.text(at + "size").value_or(""));
    if (!level || !size || (type != "Data" && type != "Unified")) continue;
    Cache cache;
    cache.level = static_cast<int>(*level);
    cache.name = "L" + std::to_string(*level) + (type == "Data" ? "d" : "");
    cache.capacity_bytes = *size;
    if (const auto line = root.integer(at + "coherency_line_size"); line && *line > 0) {
      cache.line_bytes = *line;
    }
    cache.instances = count_instances(root, cpus, name);
    caches.push_back(cache);
  }
  std::stable_sort(caches.begin(), caches.end(),
                   [](const Cache& a, const Cache& b) { return a.level < b.level; });
  return caches;
}

/// Bytes of a "Name:   123 kB" line; the name may follow other words ("Node 0 MemTotal: ...").
std::optional<std::int64_t> kilobytes(const std::optional<std::string>& text,
                                      const std::string& name) {
  std::istringstream lines(text.value_or(""));
  for (std::string line; std::getline(lines, line);) {
    const std::size_t at = line.find(name + ":");
    if (at == std::string::npos) continue;
    std::istringstream rest(line.substr(at + name.size() + 1));
    std::int64_t count = 0;
    if (rest >> count) return count * kKiB;
  }
  return std::nullopt;
}

std::vector<NumaNode> read_nodes(const FileRoot& root) {
  std::vector<NumaNode> nodes;
  const std::string folder = "/sys/devices/system/node/";
  for (int number : list_of(root, folder + "online").value_or(std::vector<int>{})) {
    const std::string at = folder + "node" + std::to_string(number);
    NumaNode node;
    node.number = number;
    node.cpus = list_of(root, at + "/cpulist").value_or(std::vector<int>{});
    node.memory_bytes = kilobytes(root.text(at + "/meminfo"), "MemTotal");
    nodes.push_back(node);
  }
  return nodes;
}

/// Which CPUs are threads of one core, and how many packages there are. All or nothing: a CPU that
/// does not say would be taken for a core of its own.
void read_cores(const FileRoot& root, Machine& machine) {
  std::map<std::string, std::vector<int>> cores;
  std::set<long long> packages;
  for (int cpu : machine.cpus) {
    const auto siblings = root.text(cpu_folder(cpu) + "/topology/thread_siblings_list");
    const auto package = root.integer(cpu_folder(cpu) + "/topology/physical_package_id");
    if (!siblings || siblings->empty() || !package || *package < 0) return;
    cores[*siblings].push_back(cpu);
    packages.insert(*package);
  }
  for (const auto& [siblings, cpus] : cores) machine.cores.push_back(cpus);
  std::sort(machine.cores.begin(), machine.cores.end());
  machine.packages = static_cast<std::int64_t>(packages.size());
}

/// Intel's hybrid processors have a folder for each design; Arm's state a capacity for each CPU.
std::vector<CoreKind> read_kinds(const FileRoot& root, const std::vector<int>& cpus) {
  std::vector<CoreKind> kinds;
  for (const char* name : {"cpu_core", "cpu_atom", "cpu_lowpower"}) {
    auto members = list_of(root, std::string("/sys/devices/") + name + "/cpus");
    if (!members) continue;
    keep_only(*members, cpus);
    if (!members->empty()) kinds.push_back({name, *members});
  }
  if (!kinds.empty()) return kinds;
  std::map<long long, std::vector<int>> capacities;
  for (int cpu : cpus) {
    const auto capacity = root.integer(cpu_folder(cpu) + "/cpu_capacity");
    if (!capacity) return {};
    capacities[*capacity].push_back(cpu);
  }
  if (capacities.size() < 2) return {};
  for (const auto& [capacity, members] : capacities) {
    kinds.push_back({"capacity " + std::to_string(capacity), members});
  }
  return kinds;
}

/// The word in brackets of "always [madvise] never".
std::optional<std::string> chosen(const std::optional<std::string>& text) {
  if (!text) return std::nullopt;
  const std::size_t open = text->find('[');
  const std::size_t close = text->find(']');
  if (open == std::string::npos || close == std::string::npos || close < open) return std::nullopt;
  return text->substr(open + 1, close - open - 1);
}

void read_cpu_text(const FileRoot& root, Machine& machine) {
  // Only the first processor's block is read: the file grows with the machine.
  std::istringstream lines(root.text("/proc/cpuinfo").value_or(""));
  std::string implementer, part;
  for (std::string line; std::getline(lines, line);) {
    const std::size_t colon = line.find(':');
    if (colon == std::string::npos) {
      if (trim(line).empty()) break;
      continue;
    }
    const std::string key = trim(std::string_view(line).substr(0, colon));
    const std::string value = trim(std::string_view(line).substr(colon + 1));
    // "cpu" is POWER's; Arm states numbers only.
    if (!machine.model && !value.empty() &&
        (key == "model name" || key == "cpu model" || key == "cpu")) {
      machine.model = value;
    }
    if (key == "CPU implementer") implementer = value;
    if (key == "CPU part") part = value;
    if (key == "flags") {
      machine.hypervisor = (" " + value + " ").find(" hypervisor ") != std::string::npos;
      break;
    }
  }
  if (!machine.model && !implementer.empty() && !part.empty()) {
    machine.model = "Arm CPU, implementer " + implementer + ", part " + part;
  }
}

std::optional<std::string> read_governors(const FileRoot& root, const std::vector<int>& cpus) {
  std::set<std::string> seen;
  for (int cpu : cpus) {
    const auto text = root.text(cpu_folder(cpu) + "/cpufreq/scaling_governor");
    if (text && !text->empty()) seen.insert(trim(*text));
  }
  std::string joined;
  for (const std::string& name : seen) joined += (joined.empty() ? "" : "+") + name;
  if (joined.empty()) return std::nullopt;
  return joined;
}

std::optional<bool> read_turbo(const FileRoot& root) {
  if (const auto off = root.integer(std::string(kCpuFolder) + "intel_pstate/no_turbo")) {
    return *off == 0;
  }
  if (const auto on = root.integer(std::string(kCpuFolder) + "cpufreq/boost")) return *on != 0;
  return std::nullopt;
}

}  // namespace

const Cache* Machine::cache(int level) const {
  for (const Cache& cache : caches) {
    if (cache.level == level) return &cache;
  }
  return nullptr;
}

std::optional<int> Machine::node_of(int cpu) const {
  for (const NumaNode& node : nodes) {
    if (std::binary_search(node.cpus.begin(), node.cpus.end(), cpu)) return node.number;
  }
  return std::nullopt;
}

std::string format_cpu_list(const std::vector<int>& sorted) {
  std::string text;
  for (std::size_t i = 0; i < sorted.size();) {
    std::size_t last = i;
    while (last + 1 < sorted.size() && sorted[last + 1] == sorted[last] + 1) ++last;
    text += (text.empty() ? "" : ",") + std::to_string(sorted[i]);
    if (last > i) text += "-" + std::to_string(sorted[last]);
    i = last + 1;
  }
  return text;
}

Machine read_machine(const FileRoot& root, const std::vector<int>& affinity) {
  Machine machine;
  machine.limits = read_cgroup_limits(root);
  machine.cpus = affinity;
  std::sort(machine.cpus.begin(), machine.cpus.end());
  keep_only(machine.cpus, list_of(root, std::string(kCpuFolder) + "online"));
  keep_only(machine.cpus, machine.limits.cpus);
  if (machine.cpus.empty()) {
    throw UsageError("host: no CPU is allowed (affinity " + format_cpu_list(affinity) +
                     "), online and in the cgroup's cpuset at once");
  }
  machine.offline = list_of(root, std::string(kCpuFolder) + "offline").value_or(std::vector<int>{});
  // Numbers that the kernel could still take are listed as offline, too: only those with a folder
  // are CPUs.
  std::erase_if(machine.offline, [&](int cpu) { return !root.exists(cpu_folder(cpu)); });
  read_cores(root, machine);
  machine.kinds = read_kinds(root, machine.cpus);
  read_cpu_text(root, machine);
  machine.caches = read_caches(root, machine.cpus);
  machine.nodes = read_nodes(root);
  const auto memory = root.text("/proc/meminfo");
  machine.memory_total_bytes = kilobytes(memory, "MemTotal");
  machine.memory_available_bytes = kilobytes(memory, "MemAvailable");
  machine.huge_page_mode = chosen(root.text(std::string(kHugeFolder) + "enabled"));
  machine.huge_page_defrag = chosen(root.text(std::string(kHugeFolder) + "defrag"));
  const auto huge = root.integer(std::string(kHugeFolder) + "hpage_pmd_size");
  if (huge && *huge > 0 && machine.huge_page_mode.value_or("never") != "never") {
    machine.huge_page_bytes = *huge;
  }
  machine.governor = read_governors(root, machine.cpus);
  machine.turbo = read_turbo(root);
  if (const auto smt = root.integer(std::string(kCpuFolder) + "smt/active")) {
    machine.smt = *smt != 0;
  }
  machine.kernel = root.text("/proc/sys/kernel/osrelease");
  machine.clock_source =
      root.text("/sys/devices/system/clocksource/clocksource0/current_clocksource");
  return machine;
}

}  // namespace sonde::host
