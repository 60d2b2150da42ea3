#pragma once

#include <optional>
#include <vector>

#include "core/core_name.h"

namespace sonde::host {

/// CPUs the calling thread may run on, by the system's numbers. Masks grow with the machine, so
/// more than 1,024 CPUs are fine. Throws PointFailure with the system's reason.
std::vector<int> thread_affinity();

/// CPU the calling thread is on now; nullopt where the system does not say.
std::optional<int> current_cpu();

inline CoreName core_of(int cpu) { return {"cpu", cpu}; }

/// Keeps the calling thread on one CPU while it lives, then gives it back the CPUs it had.
class PinnedThread {
 public:
  /// Throws PointFailure naming the core and the system's reason, or where the thread went
  /// instead.
  explicit PinnedThread(int cpu);
  ~PinnedThread();
  PinnedThread(const PinnedThread&) = delete;
  PinnedThread& operator=(const PinnedThread&) = delete;

 private:
  std::vector<int> before_;
};

}  // namespace sonde::host
