#include "device/host/cgroup.h"

#include <algorithm>
#include <sstream>
#include <string>
#include <string_view>

#include "core/error.h"
#include "core/parse.h"

namespace sonde::host {
namespace {

struct Mount {
  bool unified = false;
  std::string root;     ///< folder of the hierarchy that the mount shows
  std::string at;       ///< where it is mounted
  std::string options;  ///< names the version 1 controllers
};

bool has_word(std::string_view list, std::string_view word) {
  while (!list.empty()) {
    const std::size_t comma = list.find(',');
    if (list.substr(0, comma) == word) return true;
    if (comma == std::string_view::npos) return false;
    list.remove_prefix(comma + 1);
  }
  return false;
}

std::vector<Mount> cgroup_mounts(const FileRoot& root) {
  std::vector<Mount> mounts;
  std::istringstream lines(root.text("/proc/self/mountinfo").value_or(""));
  for (std::string line; std::getline(lines, line);) {
    // id parent major:minor root mount-point options [optional fields] - type source super-options
    const std::size_t dash = line.find(" - ");
    if (dash == std::string::npos) continue;
    std::istringstream left(line.substr(0, dash));
    std::istringstream right(line.substr(dash + 3));
    std::string skipped, source, type;
    Mount mount;
    left >> skipped >> skipped >> skipped >> mount.root >> mount.at;
    right >> type >> source >> mount.options;
    if (type != "cgroup" && type != "cgroup2") continue;
    mount.unified = type == "cgroup2";
    mounts.push_back(mount);
  }
  return mounts;
}

/// Path of this process in one hierarchy: controller "" is version 2.
std::optional<std::string> own_path(const FileRoot& root, const std::string& controller) {
  std::istringstream lines(root.text("/proc/self/cgroup").value_or(""));
  for (std::string line; std::getline(lines, line);) {
    const std::size_t first = line.find(':');
    if (first == std::string::npos) continue;
    const std::size_t second = line.find(':', first + 1);
    if (second == std::string::npos) continue;
    const std::string names = line.substr(first + 1, second - first - 1);
    if (controller.empty() ? names.empty() : has_word(names, controller)) {
      return line.substr(second + 1);
    }
  }
  return std::nullopt;
}

/// Folders whose limits hold for this process, its own first, then each ancestor up to the mount.
std::vector<std::string> folders(const FileRoot& root, const std::string& controller) {
  const std::optional<std::string> path = own_path(root, controller);
  if (!path) return {};
  // Where there is no mount table the usual places are tried.
  Mount mount{controller.empty(), "/",
              controller.empty() ? "/sys/fs/cgroup" : "/sys/fs/cgroup/" + controller, controller};
  for (const Mount& seen : cgroup_mounts(root)) {
    if (seen.unified != controller.empty()) continue;
    if (!controller.empty() && !has_word(seen.options, controller)) continue;
    mount = seen;
    break;
  }
  // A container without its own cgroup namespace sees the host's path but mounts its part only.
  std::string below = *path;
  if (mount.root != "/") {
    const bool inside = below.compare(0, mount.root.size(), mount.root) == 0;
    below = inside ? below.substr(mount.root.size()) : "";
  }
  while (!below.empty() && below.back() == '/') below.pop_back();
  std::vector<std::string> result;
  while (true) {
    result.push_back(mount.at + below);
    const std::size_t slash = below.rfind('/');
    if (slash == std::string::npos) break;
    below.resize(slash);
  }
  return result;
}

template <class T>
void keep_least(std::optional<T>& least, const T& value) {
  least = least ? std::min(*least, value) : value;
}

/// Value of one `name value` line of a file such as memory.stat.
std::optional<std::int64_t> stat_value(const FileRoot& root, const std::string& path,
                                       const std::string& name) {
  std::istringstream lines(root.text(path).value_or(""));
  std::string word;
  std::int64_t value = 0;
  while (lines >> word >> value) {
    if (word == name) return value;
  }
  return std::nullopt;
}

struct MemoryFiles {
  const char* limit;
  const char* usage;
  const char* inactive;  ///< line of memory.stat
};

void read_memory(const FileRoot& root, const std::string& folder, const MemoryFiles& files,
                 CgroupLimits& limits) {
  // "max" is no number; version 1 says "no limit" with a number near 2^63.
  constexpr std::int64_t kNoLimit = std::int64_t{1} << 60;
  const auto limit = root.integer(folder + "/" + files.limit);
  if (!limit || *limit <= 0 || *limit >= kNoLimit) return;
  keep_least(limits.memory_bytes, static_cast<std::int64_t>(*limit));
  const auto usage = root.integer(folder + "/" + files.usage);
  if (!usage) return;
  // Page cache that nobody used lately is given back before the limit bites.
  const std::int64_t held = std::max<std::int64_t>(
      0, *usage - stat_value(root, folder + "/memory.stat", files.inactive).value_or(0));
  keep_least(limits.memory_left_bytes, std::max<std::int64_t>(0, *limit - held));
}

void read_quota(double quota, double period, CgroupLimits& limits) {
  if (quota > 0 && period > 0) keep_least(limits.cpu_quota, quota / period);
}

void read_cpuset(const FileRoot& root, const std::vector<std::string>& where,
                 std::initializer_list<const char*> names, CgroupLimits& limits) {
  for (const std::string& folder : where) {
    for (const char* name : names) {
      const auto text = root.text(folder + "/" + name);
      if (!text || text->empty()) continue;  // empty: inherited from the parent
      try {
        limits.cpus = parse_cpu_list(*text);
        return;
      } catch (const UsageError&) {
        continue;  // not understood is no limit; the affinity still holds
      }
    }
  }
}

}  // namespace

CgroupLimits read_cgroup_limits(const FileRoot& root) {
  CgroupLimits limits;
  const std::vector<std::string> unified = folders(root, "");
  for (const std::string& folder : unified) {
    // Above memory.high the kernel throttles and reclaims: for a measurement it is a limit too.
    for (const char* file : {"memory.max", "memory.high"}) {
      read_memory(root, folder, {file, "memory.current", "inactive_file"}, limits);
    }
    std::istringstream text(root.text(folder + "/cpu.max").value_or("max"));
    std::string quota;
    double period = 0;
    if (text >> quota >> period) read_quota(parse_number(quota).value_or(0), period, limits);
  }
  read_cpuset(root, unified, {"cpuset.cpus.effective"}, limits);

  for (const std::string& folder : folders(root, "memory")) {
    read_memory(root, folder,
                {"memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file"}, limits);
  }
  for (const std::string& folder : folders(root, "cpu")) {
    read_quota(static_cast<double>(root.integer(folder + "/cpu.cfs_quota_us").value_or(0)),
               static_cast<double>(root.integer(folder + "/cpu.cfs_period_us").value_or(0)),
               limits);
  }
  const std::vector<std::string> cpuset = folders(root, "cpuset");
  if (!cpuset.empty()) {
    read_cpuset(root, cpuset, {"cpuset.effective_cpus", "cpuset.cpus"}, limits);
  }
  return limits;
}

std::optional<std::int64_t> cgroup_throttled(const FileRoot& root) {
  std::optional<std::int64_t> sum;
  for (const char* controller : {"", "cpu"}) {  // version 2, version 1
    for (const std::string& folder : folders(root, controller)) {
      if (const auto times = stat_value(root, folder + "/cpu.stat", "nr_throttled")) {
        sum = sum.value_or(0) + *times;
      }
    }
  }
  return sum;
}

}  // namespace sonde::host
