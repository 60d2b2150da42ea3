#include "device/host/openmp_team.h"

#include <omp.h>

#include <atomic>
#include <exception>
#include <functional>
#include <mutex>

#include "core/error.h"
#include "device/host/clock.h"

namespace sonde::host {
namespace {

using Body = std::function<void(std::size_t)>;

/// One region at a time; what its threads do, and how many have done it. Both are handed over here
/// and not by the region's own variables and barrier: what a thread sees of another then follows
/// from the rules of the language alone, whatever OpenMP is made of.
std::mutex one_region;
std::atomic<const Body*> region_body{nullptr};
std::atomic<std::size_t> threads_done{0};

/// Calls body(number of the thread) on `count` OpenMP threads, on the calling one as 0; returns on
/// how many it was.
std::size_t on_each_thread(std::size_t count, const Body& body) {
  const std::lock_guard<std::mutex> lock(one_region);
  threads_done.store(0, std::memory_order_relaxed);
  region_body.store(&body, std::memory_order_release);
#pragma omp parallel num_threads(static_cast <int>(count))
  {
    const Body& mine = *region_body.load(std::memory_order_acquire);
    mine(static_cast<std::size_t>(omp_get_thread_num()));
    threads_done.fetch_add(1, std::memory_order_release);
  }
  return threads_done.load(std::memory_order_acquire);
}

}  // namespace

OpenMpTeam::OpenMpTeam(const std::vector<int>& cpus) : seats_(cpus.size()), pins_(cpus.size()) {
  omp_set_dynamic(0);
  omp_set_num_threads(static_cast<int>(cpus.size()));
  std::vector<std::exception_ptr> failures(cpus.size());
  const std::size_t given = on_each_thread(cpus.size(), [&](std::size_t me) {
    try {
      pins_[me] = std::make_unique<PinnedThread>(cpus[me]);
      seats_[me] = Seat{cpus[me], current_cpu(), {}};
    } catch (...) {
      failures[me] = std::current_exception();
    }
  });
  for (const std::exception_ptr& failure : failures) {
    if (failure) std::rethrow_exception(failure);
  }
  if (given != cpus.size()) {
    throw PointFailure("OpenMP gave " + std::to_string(given) + " threads for " +
                       std::to_string(cpus.size()) + " cores");
  }
}

OpenMpTeam::~OpenMpTeam() {
  // Each thread must give back its own CPUs.
  on_each_thread(pins_.size(), [this](std::size_t me) { pins_[me].reset(); });
}

std::vector<Seat> OpenMpTeam::seats() {
  on_each_thread(pins_.size(), [this](std::size_t me) {
    seats_[me].after = current_cpu();
    seats_[me].clock = measure_core_clock();
  });
  return seats_;
}

}  // namespace sonde::host
