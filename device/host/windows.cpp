#include "device/host/windows.h"

#include <string>

#include "core/error.h"
#include "core/parse.h"
#include "core/statistics.h"

namespace sonde::host {
namespace {

/// A window of this length makes the clock's own 30 ns small; a shorter unit is repeated in it.
constexpr std::int64_t kLeastWindowNs = 20'000;
constexpr std::int64_t kMostUnits = std::int64_t{1} << 24;
/// Windows longer than these are repeated less: the caller repeats the run anyway.
constexpr std::int64_t kMiddleNs = 200'000;
constexpr std::int64_t kLongNs = 2'000'000;
/// Nothing is gained from doing this again.
constexpr std::int64_t kVeryLongNs = 50'000'000;
/// A core taken away in the middle can make n units take longer than 2n: such a difference says
/// nothing and is taken again, so often at most.
constexpr int kMostTries = 5;

int repeats_for(std::int64_t window_ns) {
  if (window_ns >= kLongNs) return 1;
  return window_ns >= kMiddleNs ? 3 : 9;
}

}  // namespace

bool agree(std::int64_t n_ns, std::int64_t two_n_ns) {
  const std::int64_t difference = two_n_ns - n_ns;
  return 2 * difference >= n_ns && difference <= 2 * n_ns;
}

double time_of_one_ns(const std::function<std::int64_t(std::int64_t)>& repeat_ns) {
  // Doubled until the window is long enough; the last of these also settles the core's clock.
  std::int64_t count = 1;
  std::int64_t window_ns = repeat_ns(count);
  while (window_ns < kLeastWindowNs && count < kMostUnits) {
    count *= 2;
    window_ns = repeat_ns(count);
  }
  if (window_ns >= kVeryLongNs) return static_cast<double>(window_ns) / static_cast<double>(count);
  double middle = 0;
  int redone = kMostTries;  // windows that were disturbed and are taken again
  for (int tries = kMostTries; tries > 0 && middle <= 0; --tries) {
    std::vector<double> each_ns;
    for (int left = repeats_for(window_ns); left > 0; --left) {
      if (count == 1) {  // the clock's 30 ns are under 0.2 % of it
        each_ns.push_back(static_cast<double>(repeat_ns(1)));
        continue;
      }
      // Taking turns cancels a drift of the clock within the run.
      const bool longer_first = left % 2 == 0;
      const std::int64_t one = repeat_ns(longer_first ? 2 * count : count);
      const std::int64_t two = repeat_ns(longer_first ? count : 2 * count);
      if (!agree(longer_first ? two : one, longer_first ? one : two) && redone > 0) {
        --redone;
        ++left;
        continue;
      }
      each_ns.push_back(static_cast<double>(longer_first ? one - two : two - one) /
                        static_cast<double>(count));
    }
    middle = median(each_ns).value_or(0);
  }
  return middle;
}

void require_time(double ns, const char* work) {
  if (ns > 0) return;
  throw PointFailure(std::string("the time of ") + work + " came out as " + format_number(ns) +
                     " ns: the machine is too busy");
}

}  // namespace sonde::host
