#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/files.h"
#include "device/host/cgroup.h"

namespace sonde::host {

/// One data or unified cache of the first usable CPU.
struct Cache {
  std::string name;  ///< "L1d", "L2"
  int level = 0;
  std::int64_t capacity_bytes = 0;
  std::optional<std::int64_t> line_bytes;
  std::optional<std::int64_t> instances = {};  ///< that the usable CPUs have of it together
};

struct NumaNode {
  int number = 0;         ///< as the system numbers it; gaps are normal
  std::vector<int> cpus;  ///< empty: memory only
  std::optional<std::int64_t> memory_bytes;
};

/// CPUs of one design, where a machine has several.
struct CoreKind {
  std::string name;  ///< "cpu_core", "cpu_atom", or "capacity 446" where only that is stated
  std::vector<int> cpus;
};

/// What the machine says of itself. Everything is read through a FileRoot, so tests feed recorded
/// trees; what a file does not say stays absent.
struct Machine {
  std::vector<int> cpus;        ///< usable, by the system's numbers: affinity, online and cpuset
  std::vector<int> offline;     ///< there, but switched off
  std::vector<CoreKind> kinds;  ///< empty: all alike, or not stated
  std::vector<std::vector<int>> cores;   ///< usable CPUs by physical core; empty: not stated
  std::optional<std::int64_t> packages;  ///< that the usable CPUs lie on
  std::optional<std::string> model;
  std::vector<Cache> caches;  ///< nearest first
  std::vector<NumaNode> nodes;
  CgroupLimits limits;
  std::optional<std::int64_t> memory_total_bytes;
  std::optional<std::int64_t> memory_available_bytes;
  std::optional<std::int64_t> huge_page_bytes;  ///< absent: none to be had
  std::optional<std::string> huge_page_mode;    ///< always, madvise, never
  std::optional<std::string> huge_page_defrag;
  std::optional<std::string> governor;  ///< several joined by '+'
  std::optional<bool> turbo;
  std::optional<bool> smt;
  std::optional<bool> hypervisor;
  std::optional<std::string> kernel;
  std::optional<std::string> clock_source;

  const Cache* cache(int level) const;
  std::optional<int> node_of(int cpu) const;
};

/// Reads the machine below `root` for a process that may run on `affinity`. Throws UsageError
/// when no CPU is left that is allowed and online.
Machine read_machine(const FileRoot& root, const std::vector<int>& affinity);

/// "0-3+8" style is for cores; this is the kernel's own: "0-3,8".
std::string format_cpu_list(const std::vector<int>& sorted);

}  // namespace sonde::host
