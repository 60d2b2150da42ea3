#include "device/host/wait_watch.h"

#include <fcntl.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>

namespace sonde::host {
namespace {

std::atomic<long long> counted_ns{0};

/// Second number of the scheduler's own count for the calling thread: time on a run queue, in ns.
/// Read on the calling thread, so not through a FileRoot; 0 where the kernel does not keep it.
long long run_delay_ns() {
  const int fd = ::open("/proc/thread-self/schedstat", O_RDONLY | O_CLOEXEC);
  if (fd < 0) return 0;
  char text[96] = {};
  const ssize_t size = ::read(fd, text, sizeof text - 1);
  ::close(fd);
  if (size <= 0) return 0;
  char* end = nullptr;
  std::strtoll(text, &end, 10);
  return std::strtoll(end, nullptr, 10);
}

}  // namespace

WaitWatch::WaitWatch() : before_ns_(run_delay_ns()) {}

WaitWatch::~WaitWatch() { counted_ns += run_delay_ns() - before_ns_; }

Seconds waited_for_cores() { return Seconds(static_cast<double>(counted_ns.load()) * 1e-9); }

}  // namespace sonde::host
