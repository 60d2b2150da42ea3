#pragma once

#include <atomic>
#include <cstddef>
#include <functional>
#include <vector>

namespace sonde::host {

/// Runs body(i) on a thread pinned to cpus[i], for every i at once, and returns when all are done.
/// No body starts unless every thread exists and is pinned, so bodies may wait for each other.
/// Throws PointFailure when a thread cannot be made or pinned, else what the first body by index
/// threw. Bodies that wait for each other must not throw.
void on_each_cpu(const std::vector<int>& cpus, const std::function<void(std::size_t)>& body);

/// A meeting point of `members` threads that may be used again and again. It spins: a thread that
/// sleeps starts tens of microseconds after the others.
class Rendezvous {
 public:
  explicit Rendezvous(std::size_t members) : members_(members) {}
  /// Returns once all members have called it. What each wrote before is seen by all after.
  void wait() noexcept;

 private:
  const std::size_t members_;
  std::atomic<std::size_t> arrived_{0};
  std::atomic<std::size_t> round_{0};
};

}  // namespace sonde::host
