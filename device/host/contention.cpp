#include "device/host/contention.h"

#include <algorithm>
#include <array>
#if defined(__x86_64__)
#include <emmintrin.h>
#endif

#include "core/error.h"
#include "core/parse.h"
#include "device/host/clock.h"
#include "device/host/pin.h"
#include "device/host/team.h"
#include "device/host/wait_watch.h"
#include "device/host/windows.h"

namespace sonde::host {
namespace {

/// Lines or steps between two looks at the stop flag: under a microsecond, so that even a short
/// window holds many.
constexpr std::int64_t kChunk = 64;
/// Operations each aggressor has done before the victim's window opens: its caches have turned
/// over by then, and a lost time slice at its start is over.
constexpr std::int64_t kSettled = 100 * kChunk;
/// All aggressors are at work when each has done something within this time.
constexpr std::int64_t kGlanceNs = 20'000;
/// An aggressor that is not at work by then never will be.
constexpr std::int64_t kPatienceNs = 2'000'000'000;
/// A window during which an aggressor's core did something else is taken again, so often at most.
constexpr int kMostTries = 100;
/// An aggressor was there all the time when it did at least this share of what it did just before:
/// the victim's own traffic costs it little, a lost time slice much.
constexpr double kLeastShare = 0.5;
/// Share of the device's memory that chains kept for later may hold.
constexpr std::int64_t kStoreShare = 4;

void register_chunk() {
  // Four chains of multiply and add keep the multiplier busy; the barrier keeps each step.
  static thread_local std::array<std::uint64_t, 4> state{1, 2, 3, 4};
  std::uint64_t a = state[0], b = state[1], c = state[2], d = state[3];
  for (std::int64_t step = 0; step < kChunk / 4; ++step) {
    a = a * 6364136223846793005ULL + 1;
    b = b * 6364136223846793005ULL + 1;
    c = c * 6364136223846793005ULL + 1;
    d = d * 6364136223846793005ULL + 1;
    asm volatile("" : "+r"(a), "+r"(b), "+r"(c), "+r"(d));
  }
  state = {a, b, c, d};
}

void load_chunk(std::byte* at, std::int64_t line) {
  for (std::int64_t i = 0; i < kChunk; ++i) {
    static_cast<void>(*reinterpret_cast<volatile std::uint64_t*>(at + i * line));
  }
}

void store_chunk(std::byte* at, std::int64_t line) {
  for (std::int64_t i = 0; i < kChunk; ++i) {
    *reinterpret_cast<volatile std::uint64_t*>(at + i * line) = static_cast<std::uint64_t>(i);
  }
}

#if defined(__x86_64__)
void nt_store_chunk(std::byte* at, std::int64_t line) {
  // Whole lines: a part of one would be read from memory and merged.
  const __m128i value = _mm_set1_epi64x(line);
  for (std::byte* end = at + kChunk * line; at < end; at += 16) {
    _mm_stream_si128(reinterpret_cast<__m128i*>(at), value);
  }
}
#else
void nt_store_chunk(std::byte* at, std::int64_t line) { store_chunk(at, line); }
#endif

bool needs_memory(const std::string& work) { return work != "register" && work != "none"; }

}  // namespace

std::vector<std::string> aggressor_works() {
#if defined(__x86_64__)
  return {"register", "load", "store", "nt_store"};
#else
  return {"register", "load", "store"};
#endif
}

void ContentionEngine::prepare(const ContentionWork& work) {
  chain_.reset();
  aggressors_.clear();
  const std::int64_t line = description_.chase_line_bytes;
  const int victim = usable_cpus(machine_, {work.victim}).front();
  const std::vector<int> others = usable_cpus(machine_, work.aggressors);
  if (std::find(others.begin(), others.end(), victim) != others.end()) {
    throw Skip(work.victim.str() + " is the victim and an aggressor too");
  }
  if (work.victim_work != "load") {
    throw Skip("no victim's work \"" + work.victim_work + "\" here; there is load");
  }
  const std::vector<std::string> works = aggressor_works();
  const bool idle = work.aggressor_work == "none" || others.empty();
  if (work.aggressor_work != "none" &&
      std::find(works.begin(), works.end(), work.aggressor_work) == works.end()) {
    throw Skip("no aggressors' work \"" + work.aggressor_work + "\" here; there is none, " +
               join_names(works));
  }
  if (work.loads < 1 || work.footprint_bytes < 2 * line) {
    throw Skip("a victim of " + format_count(work.loads) + " loads over " +
               format_size(Bytes(work.footprint_bytes)) + ": at least 1 load and 2 lines of " +
               std::to_string(line) + " B");
  }
  // As much as a victim's usual chain: beyond the private caches, so that both meet where it lies.
  const std::int64_t each = description_.contention_bytes;
  const bool memory = !idle && needs_memory(work.aggressor_work);
  const std::int64_t most = description_.memory_bytes.value_or(std::int64_t{1} << 46);
  // Beside the chain: its order, and while it is built the ring, 4 bytes a line each.
  const std::int64_t count = memory ? static_cast<std::int64_t>(others.size()) : 0;
  if (work.footprint_bytes > most / 2 || count > (most - 2 * work.footprint_bytes) / each) {
    throw Skip("a chain of " + format_size(Bytes(work.footprint_bytes)) + " and " +
               std::to_string(count) + " x " + format_size(Bytes(each)) +
               " do not fit: a measurement may use " + format_count(most) + " B");
  }
  const ChainStore::Key key{work.footprint_bytes, work.seed, machine_.node_of(victim)};
  std::shared_ptr<const Chain> chain = store_.find(key);
  if (!chain) {
    on_each_cpu({victim}, [&](std::size_t) {
      chain = std::make_shared<const Chain>(work.footprint_bytes, line, work.seed,
                                            machine_.huge_page_bytes);
    });
    store_.add(key, chain);
    store_.shrink_to(most / kStoreShare);
  }
  if (memory) {
    for (int cpu : others) buffers_.try_emplace(cpu);
    on_each_cpu(others, [&](std::size_t i) {
      Buffer& buffer = buffers_.at(others[i]);
      if (buffer.size() == 0) buffer = Buffer(each, machine_.huge_page_bytes);
    });
  }
  for (std::size_t i = 0; !idle && i < others.size(); ++i) {
    Aggressor& aggressor = aggressors_.emplace_back();
    aggressor.seat.cpu = others[i];
    if (memory) aggressor.buffer = &buffers_.at(others[i]);
  }
  victim_ = Seat{victim, {}, {}};
  work_ = work;
  chain_ = std::move(chain);
  position_ = 0;
  at_ = chain_->node(0);
}

void ContentionEngine::attack(Aggressor& aggressor) {
  const std::int64_t line = description_.chase_line_bytes;
  const std::int64_t span = kChunk * line;
  const std::int64_t chunks = aggressor.buffer != nullptr ? aggressor.buffer->size() / span : 1;
  std::byte* const base = aggressor.buffer != nullptr ? aggressor.buffer->data() : nullptr;
  void (*const chunk)(std::byte*, std::int64_t) =
      work_.aggressor_work == "load"       ? &load_chunk
      : work_.aggressor_work == "store"    ? &store_chunk
      : work_.aggressor_work == "nt_store" ? &nt_store_chunk
                                           : +[](std::byte*, std::int64_t) { register_chunk(); };
  std::int64_t done = 0;
  std::int64_t next = 0;
  const WaitWatch watch;
  aggressor.begin_ns = monotonic_ns();
  while (!stop_.load(std::memory_order_relaxed) && done < stop_after_) {
    chunk(base + next * span, line);
    if (++next == chunks) next = 0;
    done += kChunk;
    aggressor.operations.store(done, std::memory_order_relaxed);
  }
  aggressor.end_ns = monotonic_ns();
}

bool ContentionEngine::all_at_work() {
  std::vector<std::int64_t> seen(aggressors_.size());
  auto for_each_count = [&](const auto& look) {
    for (std::size_t i = 0; i < seen.size(); ++i) {
      look(aggressors_[i].operations.load(std::memory_order_relaxed), seen[i]);
    }
  };
  const std::int64_t given_up = monotonic_ns() + kPatienceNs;
  while (true) {
    const std::int64_t begin = monotonic_ns();
    if (begin > given_up) return false;
    for_each_count([](std::int64_t count, std::int64_t& before) { before = count; });
    std::int64_t now = begin;
    while (now < begin + kGlanceNs) {
      spin_pause();
      now = monotonic_ns();
    }
    // What they did while this thread itself was away does not show that they are at work now.
    if (now > begin + 2 * kGlanceNs) continue;
    bool all = true;
    bool one_stopped = false;
    for_each_count([&](std::int64_t count, std::int64_t& before) {
      all = all && count > before && count >= kSettled;
      one_stopped = one_stopped || count >= stop_after_;
    });
    if (one_stopped) return false;
    if (!all) continue;
    for (std::size_t i = 0; i < seen.size(); ++i) {
      const std::int64_t done = aggressors_[i].operations.load(std::memory_order_relaxed) - seen[i];
      aggressors_[i].per_ns = static_cast<double>(done) / static_cast<double>(now - begin);
    }
    return true;
  }
}

bool ContentionEngine::one_was_held_up() const {
  return std::any_of(aggressors_.begin(), aggressors_.end(), [this](const Aggressor& one) {
    const auto done = static_cast<double>(one.after - one.before);
    const auto window = static_cast<double>(end_ns_ - begin_ns_);
    return done < kLeastShare * one.per_ns * window && one.after < stop_after_;
  });
}

double ContentionEngine::chase() {
  const WaitWatch watch;
  begin_ns_ = monotonic_ns();
  return time_of_one_ns([this](std::int64_t count) {
    const std::int64_t begin = monotonic_ns();
    at_ = follow(at_, count * work_.loads);
    end_ns_ = monotonic_ns();
    position_ += count * work_.loads;
    return end_ns_ - begin;
  });
}

Sample ContentionEngine::run(const Trial&) {
  if (!chain_) throw PointFailure("run() without a prepare() that succeeded");
  std::vector<int> cpus{victim_.cpu};
  for (Aggressor& aggressor : aggressors_) {
    cpus.push_back(aggressor.seat.cpu);
    aggressor.operations.store(0);
  }
  stop_.store(false);
  Rendezvous meet(cpus.size());
  double elapsed_ns = 0;
  bool started = false;
  std::optional<Hertz> clock;
  on_each_cpu(cpus, [&](std::size_t index) noexcept {
    Seat& seat = index == 0 ? victim_ : aggressors_[index - 1].seat;
    seat.before = current_cpu();
    if (index != 0) {
      meet.wait();
      attack(aggressors_[index - 1]);
      seat.after = current_cpu();
      return;
    }
    chain_->read_lap(position_);
    meet.wait();
    for (int tries = kMostTries; tries > 0; --tries) {
      started = all_at_work();
      if (!started) break;
      for (Aggressor& one : aggressors_) one.before = one.operations.load();
      const std::int64_t from = position_;
      elapsed_ns = chase();
      loads_done_ = position_ - from;
      for (Aggressor& one : aggressors_) one.after = one.operations.load();
      if (!one_was_held_up()) break;
    }
    stop_.store(true);
    clock = measure_core_clock();
    seat.after = current_cpu();
  });
  if (!started) throw PointFailure("an aggressor stopped or was not at work after 2 s");
  require_time(elapsed_ns, "the victim's loads");

  Sample sample;
  sample.elapsed = Seconds(elapsed_ns * 1e-9);
  sample.clock = clock;
  sample.placement = {victim_.core()};
  for (const Aggressor& one : aggressors_) {
    sample.placement.push_back(one.seat.core());
    // The window holds several units of `loads`, the row is of one.
    const double share = static_cast<double>(work_.loads) / static_cast<double>(loads_done_);
    const auto inside =
        static_cast<std::int64_t>(static_cast<double>(one.after - one.before) * share);
    sample.background_operations = std::min(sample.background_operations.value_or(inside), inside);
  }
  sample.note = chain_->page_kind() + ", random order";
  if (!aggressors_.empty() && aggressors_.front().buffer != nullptr) {
    sample.note +=
        ", aggressors on " + format_size(Bytes(aggressors_.front().buffer->size())) + " each";
  }
  return sample;
}

Check ContentionEngine::verify() {
  if (!chain_) return {false, "nothing was chased"};
  if (const auto problem = victim_.misplaced("the victim")) return {false, *problem};
  if (at_ != chain_->node(position_)) {
    return {false,
            "the victim did not end at position " + format_count(position_) + " of its chain"};
  }
  for (const Aggressor& one : aggressors_) {
    const std::string name = "the aggressor on " + core_of(one.seat.cpu).str();
    if (const auto problem = one.seat.misplaced(name)) return {false, *problem};
    if (one.begin_ns > begin_ns_ || one.end_ns < end_ns_) {
      return {false, name + " did not run the whole time: it worked from " +
                         format_count(one.begin_ns - begin_ns_) + " to " +
                         format_count(one.end_ns - begin_ns_) + " ns, the victim from 0 to " +
                         format_count(end_ns_ - begin_ns_)};
    }
    const auto expected = one.per_ns * static_cast<double>(end_ns_ - begin_ns_);
    if (static_cast<double>(one.after - one.before) < kLeastShare * expected) {
      return {false,
              name + " did " + format_count(one.after - one.before) + " of about " +
                  format_count(static_cast<std::int64_t>(expected)) +
                  " operations in the victim's window: its core is busy with other programs"};
    }
  }
  return {};
}

}  // namespace sonde::host
