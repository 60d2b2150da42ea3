#include "device/host/team.h"

#include <exception>
#include <string>
#include <system_error>
#include <thread>

#include "core/error.h"
#include "device/host/clock.h"
#include "device/host/pin.h"

namespace sonde::host {

void on_each_cpu(const std::vector<int>& cpus, const std::function<void(std::size_t)>& body) {
  enum Gate { closed, open, abandoned };
  std::atomic<int> gate{closed};
  std::atomic<std::size_t> pinned{0};
  std::atomic<std::size_t> settled{0};  ///< pinned, or failed to be
  std::vector<std::exception_ptr> failures(cpus.size());
  std::vector<std::thread> threads;
  threads.reserve(cpus.size());
  std::exception_ptr not_started;
  for (std::size_t i = 0; i < cpus.size(); ++i) {
    try {
      threads.emplace_back([&, i] {
        try {
          const PinnedThread pin(cpus[i]);
          pinned.fetch_add(1);
          settled.fetch_add(1);
          settled.notify_one();
          gate.wait(closed);
          if (gate.load() == open) body(i);
        } catch (...) {
          failures[i] = std::current_exception();
          settled.fetch_add(1);
          settled.notify_one();
        }
      });
    } catch (const std::system_error& error) {
      not_started = std::make_exception_ptr(PointFailure(
          "no thread can be started for " + core_of(cpus[i]).str() + ": " + error.what()));
      break;
    }
  }
  for (std::size_t seen = settled.load(); seen < threads.size(); seen = settled.load()) {
    settled.wait(seen);
  }
  gate.store(pinned.load() == cpus.size() ? open : abandoned);
  gate.notify_all();
  for (std::thread& thread : threads) thread.join();
  if (not_started) std::rethrow_exception(not_started);
  for (const std::exception_ptr& failure : failures) {
    if (failure) std::rethrow_exception(failure);
  }
}

void Rendezvous::wait() noexcept {
  const std::size_t round = round_.load(std::memory_order_acquire);
  if (arrived_.fetch_add(1, std::memory_order_acq_rel) + 1 == members_) {
    arrived_.store(0, std::memory_order_relaxed);
    round_.store(round + 1, std::memory_order_release);
    return;
  }
  while (round_.load(std::memory_order_acquire) == round) spin_pause();
}

}  // namespace sonde::host
