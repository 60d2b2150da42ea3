#include "device/sim/fault.h"

#include <chrono>
#include <new>
#include <thread>
#include <utility>

#include "core/error.h"
#include "core/rng.h"

namespace sonde::sim {

namespace {

constexpr std::pair<Fault, std::string_view> kNames[] = {
    {Fault::none, "none"}, {Fault::corrupt, "corrupt"}, {Fault::lost, "lost"},
    {Fault::hang, "hang"}, {Fault::memory, "memory"},   {Fault::clock, "clock"}};

/// In the middle of the shortest step of a campaign.
constexpr std::int64_t kBeginsNs = 200'000;
constexpr std::int64_t kSetBackNs = 2 * kBeginsNs;
/// Far beyond the modelled time of any step, so that the time shown tells the modelled one.
constexpr std::int64_t kAheadNs = 1'000'000'000'000'000;
constexpr std::uint64_t kOneRunIn = 8;

}  // namespace

std::optional<Fault> fault_from(std::string_view name) {
  for (const auto& [fault, text] : kNames) {
    if (text == name) return fault;
  }
  return std::nullopt;
}

std::string to_string(Fault fault) {
  for (const auto& [one, text] : kNames) {
    if (one == fault) return std::string(text);
  }
  return "";
}

void meet_fault(Fault fault, const Trial& trial, std::int64_t now_ns) {
  if (fault == Fault::memory && key_of({trial.seed, static_cast<std::uint64_t>(trial.point),
                                        static_cast<std::uint64_t>(trial.repetition)}) %
                                        kOneRunIn ==
                                    0) {
    throw std::bad_alloc();
  }
  if (now_ns < kBeginsNs) return;
  if (fault == Fault::lost) throw PointFailure("the device is lost");
  while (fault == Fault::hang) std::this_thread::sleep_for(std::chrono::hours(1));
}

std::int64_t shown_ns(Fault fault, std::int64_t now_ns) {
  if (fault != Fault::clock || now_ns < kBeginsNs) return now_ns;
  return now_ns + (now_ns < kSetBackNs ? kAheadNs : kAheadNs / 2);
}

std::int64_t modelled_ns(Fault fault, std::int64_t shown) {
  if (fault != Fault::clock || shown < kBeginsNs) return shown;
  return shown >= kAheadNs ? shown - kAheadNs : shown - kAheadNs / 2;
}

}  // namespace sonde::sim
