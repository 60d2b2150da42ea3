#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "device/host/clock.h"
#include "device/host/team.h"
#include "device/host/wait_watch.h"

namespace sonde::host {

/// Nanoseconds of one unit of work. `repeat_ns(n)` does n units and returns the time they took.
/// Units that are short against the clock are repeated until a window is long enough, and what
/// does not grow with their number is cancelled by timing n against 2n; the median of several such
/// windows counts, of fewer the longer they take. Does at least 3 units unless one takes longer
/// than 50 ms. Several threads that share one `repeat_ns` and get the same times from it stay in
/// step. Not above zero where the machine was too busy for a sensible answer.
double time_of_one_ns(const std::function<std::int64_t(std::int64_t)>& repeat_ns);

/// Whether the times of n and 2n units can both be true: the difference is the time of n units, and
/// neither of the two was lengthened by more than that. Where they cannot, one was disturbed.
bool agree(std::int64_t n_ns, std::int64_t two_n_ns);

/// Throws PointFailure saying so when `ns` is not above zero; `work` names the work.
void require_time(double ns, const char* work);

/// The window of work that several pinned threads do at once: from the first start to the last
/// finish.
class TeamWindow {
 public:
  explicit TeamWindow(std::size_t members) : meet_(members), stamps_(members) {}

  /// Called by every member, who then all work at once; each gets the same window.
  template <class Work>
  std::int64_t time_ns(std::size_t member, const Work& work) {
    const WaitWatch watch;
    meet_.wait();
    const std::int64_t begin = monotonic_ns();
    work();
    stamps_[member] = {begin, monotonic_ns()};
    meet_.wait();
    Stamps all = stamps_.front();
    for (const Stamps& one : stamps_) {
      all.begin = one.begin < all.begin ? one.begin : all.begin;
      all.end = one.end > all.end ? one.end : all.end;
    }
    return all.end - all.begin;
  }

 private:
  struct Stamps {
    std::int64_t begin = 0;
    std::int64_t end = 0;
  };
  Rendezvous meet_;
  std::vector<Stamps> stamps_;
};

}  // namespace sonde::host
