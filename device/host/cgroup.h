#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "core/files.h"

namespace sonde::host {

/// What the control groups of this process allow; absent means no limit is known.
struct CgroupLimits {
  std::optional<std::vector<int>> cpus;           ///< of the cpuset controller
  std::optional<double> cpu_quota;                ///< in CPUs: 0.5 is half of one CPU's time
  std::optional<std::int64_t> memory_bytes;       ///< tightest limit up the tree
  std::optional<std::int64_t> memory_left_bytes;  ///< least that is left below a limit
};

/// Reads version 1, version 2 and mixed trees below `root`, following /proc/self/cgroup and
/// /proc/self/mountinfo. A limit holds for everything below it, so each ancestor up to the mount
/// point counts. A file that cannot be read or understood is no limit.
CgroupLimits read_cgroup_limits(const FileRoot& root);

/// Times that a CPU quota of this process's groups, any ancestor's included, has stopped their
/// threads until now; absent where no group says.
std::optional<std::int64_t> cgroup_throttled(const FileRoot& root);

}  // namespace sonde::host
