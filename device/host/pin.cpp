#include "device/host/pin.h"

#include <sched.h>

#include <cerrno>
#include <memory>
#include <string>
#include <system_error>

#include "core/error.h"

namespace sonde::host {
namespace {

struct MaskFree {
  void operator()(cpu_set_t* mask) const { CPU_FREE(mask); }
};
using Mask = std::unique_ptr<cpu_set_t, MaskFree>;

/// Zeroed. The fixed cpu_set_t ends at CPU 1,023.
Mask make_mask(std::size_t cpus) {
  Mask mask(CPU_ALLOC(cpus));
  if (!mask) throw PointFailure("no memory for a mask of " + std::to_string(cpus) + " CPUs");
  CPU_ZERO_S(CPU_ALLOC_SIZE(cpus), mask.get());
  return mask;
}

/// 0, or the errno of the failure.
int set_affinity(const std::vector<int>& cpus) {
  int highest = 0;
  for (int cpu : cpus) highest = cpu > highest ? cpu : highest;
  const std::size_t bits = static_cast<std::size_t>(highest) + 1;
  const std::size_t bytes = CPU_ALLOC_SIZE(bits);
  const Mask mask = make_mask(bits);
  for (int cpu : cpus) CPU_SET_S(static_cast<std::size_t>(cpu), bytes, mask.get());
  return sched_setaffinity(0, bytes, mask.get()) == 0 ? 0 : errno;
}

std::string reason_of(int error) { return std::generic_category().message(error); }

}  // namespace

std::vector<int> thread_affinity() {
  // The kernel answers EINVAL to a mask shorter than its own; 2^20 is beyond any kernel's limit.
  for (std::size_t bits = 1024; bits <= std::size_t{1} << 20; bits *= 2) {
    const std::size_t bytes = CPU_ALLOC_SIZE(bits);
    const Mask mask = make_mask(bits);
    if (sched_getaffinity(0, bytes, mask.get()) == 0) {
      std::vector<int> cpus;
      for (std::size_t cpu = 0; cpu < bits; ++cpu) {
        if (CPU_ISSET_S(cpu, bytes, mask.get())) cpus.push_back(static_cast<int>(cpu));
      }
      return cpus;
    }
    if (errno != EINVAL) break;
  }
  throw PointFailure("the CPUs this thread may use cannot be read: " + reason_of(errno));
}

std::optional<int> current_cpu() {
  const int cpu = sched_getcpu();
  if (cpu < 0) return std::nullopt;
  return cpu;
}

PinnedThread::PinnedThread(int cpu) {
  const std::string name = core_of(cpu).str();
  if (cpu < 0) throw PointFailure(name + " is no core");
  before_ = thread_affinity();
  if (const int error = set_affinity({cpu}); error != 0) {
    throw PointFailure("a thread cannot be pinned to " + name + ": " + reason_of(error));
  }
  // Seen under sandboxes: the call succeeds and changes nothing.
  if (thread_affinity() != std::vector<int>{cpu}) {
    set_affinity(before_);
    throw PointFailure("a thread cannot be pinned to " + name +
                       ": the system took the request and did not follow it");
  }
  const std::optional<int> now = current_cpu();
  if (now != cpu) {
    set_affinity(before_);
    throw PointFailure("a thread pinned to " + name + " runs on " +
                       (now ? core_of(*now).str() : "a core the system does not name"));
  }
}

// A failure here leaves the thread pinned: nothing measured is wrong, and there is nobody to tell.
PinnedThread::~PinnedThread() { set_affinity(before_); }

}  // namespace sonde::host
