#include "device/host/handoff.h"

#include <algorithm>

#include "core/error.h"
#include "core/parse.h"
#include "core/rng.h"
#include "device/host/clock.h"
#include "device/host/pin.h"
#include "device/host/windows.h"

namespace sonde::host {
namespace {

/// Enough lines to land on every home of a hashed last cache, in 4,096 pages.
constexpr std::int64_t kPoolBytes = 16 * kMiB;
/// Two lines of a slot lie this far apart: prefetchers fetch a line's neighbour of 128 B.
constexpr std::int64_t kApart = 256;
constexpr std::int64_t kSlot = 2 * kApart;
/// Turns waited between two looks at the clock: some microseconds to a millisecond.
constexpr std::int64_t kSpinsALook = 16'384;

using Word = std::atomic_ref<std::uint64_t>;

}  // namespace

std::uint64_t& HandoffEngine::word_of_from() const {
  return *reinterpret_cast<std::uint64_t*>(pool_.data() + slot_ * kSlot);
}

std::uint64_t& HandoffEngine::word_of_to() const {
  const std::int64_t offset = slot_ * kSlot + (work_.kind == "read" ? kApart : 0);
  return *reinterpret_cast<std::uint64_t*>(pool_.data() + offset);
}

void HandoffEngine::prepare(const HandoffWork& work) {
  prepared_ = false;
  const std::vector<std::string>& kinds = description_.handoff_kinds;
  if (std::find(kinds.begin(), kinds.end(), work.kind) == kinds.end()) {
    throw Skip("no " + work.kind + " hand-off here; there is " + join_names(kinds));
  }
  if (work.from == work.to) {
    throw Skip("a hand-off from " + work.from.str() + " to itself: two cores are needed");
  }
  if (work.exchanges < 1) {
    throw Skip("a hand-off of " + format_count(work.exchanges) + " round trips: at least 1");
  }
  const std::vector<int> cpus = usable_cpus(machine_, {work.from, work.to});
  from_ = Seat{cpus[0], {}, {}};
  to_ = Seat{cpus[1], {}, {}};
  if (pool_.size() == 0) pool_ = Buffer(kPoolBytes, machine_.huge_page_bytes);
  const std::uint64_t key =
      key_of({work.seed, static_cast<std::uint64_t>(cpus[0]), static_cast<std::uint64_t>(cpus[1]),
              static_cast<std::uint64_t>(work.address_index)});
  slot_ = static_cast<std::int64_t>(key % static_cast<std::uint64_t>(kPoolBytes / kSlot));
  work_ = work;
  word_of_from() = 0;
  word_of_to() = 0;
  turn_ = 0;
  failed_.store(false);
  prepared_ = true;
}

template <class Ready>
bool HandoffEngine::await(const Ready& ready) const {
  std::int64_t given_up = 0;
  while (true) {
    for (std::int64_t spin = 0; spin < kSpinsALook; ++spin) {
      // No pause: it would be part of the time.
      if (ready()) return true;
    }
    const std::int64_t now = monotonic_ns();
    if (given_up == 0) given_up = now + give_up_ns_;
    if (now > given_up) failed_.store(true);
    if (failed_.load()) return false;
  }
}

bool HandoffEngine::from_side(std::uint64_t turn, std::uint64_t count) const {
  const Word mine(word_of_from());
  const Word theirs(word_of_to());
  if (work_.kind == "write") {
    for (const std::uint64_t end = turn + count; turn < end; ++turn) {
      const bool came = await([&] {
        std::uint64_t expected = 2 * turn;
        return mine.compare_exchange_weak(expected, 2 * turn + 1, std::memory_order_acq_rel,
                                          std::memory_order_relaxed);
      });
      if (!came) return false;
    }
    // The last answer too.
    return await([&] { return mine.load(std::memory_order_acquire) == 2 * turn; });
  }
  for (const std::uint64_t end = turn + count; turn < end; ++turn) {
    mine.store(turn + 1, std::memory_order_release);
    if (!await([&] { return theirs.load(std::memory_order_acquire) == turn + 1; })) return false;
  }
  return true;
}

bool HandoffEngine::to_side(std::uint64_t turn, std::uint64_t count) const {
  const Word mine(word_of_to());
  const Word theirs(word_of_from());
  for (const std::uint64_t end = turn + count; turn < end; ++turn) {
    if (turn == unanswered_) return false;
    if (work_.kind == "write") {
      const bool came = await([&] {
        std::uint64_t expected = 2 * turn + 1;
        return mine.compare_exchange_weak(expected, 2 * turn + 2, std::memory_order_acq_rel,
                                          std::memory_order_relaxed);
      });
      if (!came) return false;
    } else {
      if (!await([&] { return theirs.load(std::memory_order_acquire) == turn + 1; })) return false;
      mine.store(turn + 1, std::memory_order_release);
    }
  }
  return true;
}

Sample HandoffEngine::run(const Trial&) {
  if (!prepared_) throw PointFailure("run() without a prepare() that succeeded");
  TeamWindow window(2);
  double elapsed_ns = 0;
  std::optional<Hertz> clock;
  on_each_cpu({from_.cpu, to_.cpu}, [&](std::size_t side) noexcept {
    Seat& seat = side == 0 ? from_ : to_;
    seat.before = current_cpu();
    std::uint64_t turn = turn_;
    const double each_ns = time_of_one_ns([&](std::int64_t units) {
      const auto count = static_cast<std::uint64_t>(units * work_.exchanges);
      const std::int64_t taken = window.time_ns(side, [&] {
        if (failed_.load()) return;
        side == 0 ? from_side(turn, count) : to_side(turn, count);
      });
      turn += count;
      // Both sides see the same here; a long time ends the measurement.
      return failed_.load() ? kGiveUpNs : taken;
    });
    seat.after = current_cpu();
    if (side == 0) {
      turn_ = turn;
      elapsed_ns = each_ns;
      clock = measure_core_clock();
    }
  });
  if (failed_.load()) {
    throw PointFailure("a core waited longer than " +
                       format_number(static_cast<double>(give_up_ns_) * 1e-9) +
                       " s for the other's hand-off");
  }
  require_time(elapsed_ns, "the hand-offs");
  Sample sample;
  sample.elapsed = Seconds(elapsed_ns * 1e-9);
  sample.clock = clock;
  sample.placement = {from_.core(), to_.core()};
  sample.note =
      work_.kind == "read" ? "store and read, a line each way" : "compare and exchange on one line";
  return sample;
}

Check HandoffEngine::verify() {
  if (!prepared_ || turn_ == 0) return {false, "no line was handed over"};
  for (const Seat& seat : {from_, to_}) {
    if (const auto problem = seat.misplaced("a side of the hand-off")) return {false, *problem};
  }
  const std::uint64_t expected = work_.kind == "write" ? 2 * turn_ : turn_;
  for (const std::uint64_t found : {word_of_from(), word_of_to()}) {
    if (found == expected) continue;
    return {false, "a counter arrived at " + std::to_string(found) + ", expected " +
                       std::to_string(expected)};
  }
  return {};
}

}  // namespace sonde::host
