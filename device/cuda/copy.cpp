#include "device/cuda/copy.h"

#include <algorithm>
#include <cstring>
#include <span>

#include "core/error.h"
#include "core/parse.h"
#include "device/common/pattern.h"
#include "device/cuda/errors.h"

namespace sonde::cuda {
namespace {

/// A run holds copies for at least this long, so that the events' steps of half a microsecond are
/// below 0.3 %; at least four, but no more than the launch queue takes without waiting.
constexpr double kLeastSeconds = 200e-6;
constexpr std::int64_t kFewestCopies = 4;
constexpr std::int64_t kMostCopies = 128;
/// Least time of one copy, for the number of copies that fill a run.
constexpr double kLeastCopySeconds = 1.5e-6;
constexpr double kMostBytesPerSecond = 3e12;
constexpr std::int64_t kLargestAlignment = 2 * kMiB;
/// A walk over twice the L2 leaves nothing of a buffer in it.
constexpr std::int64_t kCachesBeyond = 2;

struct Places {
  const char* source;
  const char* target;
};

Places places_of(const CopyWork& work) {
  const char* host = work.method == "pageable" ? "ordinary" : "locked";
  if (work.direction == "h2d") return {host, "card"};
  if (work.direction == "d2h") return {"card", host};
  return {"card", "card"};
}

}  // namespace

char* CopyEngine::memory_of(End& end, const std::string& place, std::int64_t bytes) const {
  // Room to make the address a multiple of the alignment and of no more.
  const std::int64_t room = bytes + 3 * kLargestAlignment;
  char* base = nullptr;
  if (place == "card") {
    if (end.card.reserve(room)) end.filled.reset();
    base = end.card.as();
  } else if (place == "locked") {
    if (end.locked.reserve(room)) end.filled.reset();
    base = end.locked.as();
  } else {
    if (static_cast<std::int64_t>(end.ordinary.size()) < room) {
      end.ordinary = std::vector<std::byte>(static_cast<std::size_t>(room));
      end.filled.reset();
    }
    base = reinterpret_cast<char*>(end.ordinary.data());
  }
  const auto address = reinterpret_cast<std::uintptr_t>(base);
  const auto unit = static_cast<std::uintptr_t>(2 * work_.alignment);
  return base + ((address + unit - 1) / unit * unit - address) + work_.alignment;
}

void CopyEngine::fill(char* at, bool on_card, std::uint64_t seed, bool inverted) {
  const auto bytes = static_cast<std::size_t>(work_.bytes);
  if (on_card) {
    check(launch_fill(context_.stream(), at, work_.bytes, seed, inverted), "filling a buffer");
  } else if (inverted) {
    std::memset(at, 0x5a, bytes);  // the pattern differs at every word: it is nowhere all 0x5a
  } else {
    fill_pattern({reinterpret_cast<std::byte*>(at), bytes}, seed);
  }
}

void CopyEngine::prepare(const CopyWork& work) {
  prepared_ = false;
  const auto path = std::find_if(description_.copies.begin(), description_.copies.end(),
                                 [&](const CopyPath& p) { return p.direction == work.direction; });
  if (path == description_.copies.end()) throw Skip("no " + work.direction + " copies here");
  if (std::find(path->methods.begin(), path->methods.end(), work.method) == path->methods.end()) {
    throw Skip("no method " + work.method + " for " + work.direction + " copies here; there is " +
               join_names(path->methods));
  }
  const std::int64_t alignment = work.alignment;
  if (work.bytes < 1 || alignment < 1 || alignment > kLargestAlignment ||
      (alignment & (alignment - 1)) != 0) {
    throw Skip("a copy of " + format_count(work.bytes) + " B aligned to " +
               format_count(alignment) + " B: at least 1 B, and a power of two up to 2 MiB");
  }
  const std::int64_t most = description_.memory_bytes.value_or(kGiB);
  const std::int64_t unit = std::max<std::int64_t>(256, alignment);
  const std::int64_t stride = (work.bytes + unit - 1) / unit * unit;
  std::int64_t slots = 1;
  if (!work.warm) {
    const std::int64_t cache = description_.memory[1].capacity_bytes.value_or(64 * kMiB);
    slots = std::max<std::int64_t>(2, (kCachesBeyond * cache / 2 + stride - 1) / stride);
  }
  if (stride > (most - 6 * kLargestAlignment) / 2 / slots) {
    throw Skip(format_count(2 * slots) + " buffers of " + format_size(Bytes(work.bytes)) +
               " do not fit: a measurement may use " + format_count(most) + " B");
  }
  const bool same_place = work.direction == work_.direction && work.method == work_.method &&
                          alignment == work_.alignment && slots == slots_ &&
                          (slots == 1 || stride == stride_);
  work_ = work;
  stride_ = stride;
  slots_ = slots;
  const Places places = places_of(work);
  source_on_card_ = std::string(places.source) == "card";
  target_on_card_ = std::string(places.target) == "card";
  source_ = memory_of(source_end_, places.source, slots * stride);
  target_ = memory_of(target_end_, places.target, slots * stride);
  // A pattern begins alike at any length, so a longer one serves; slots of another stride do not.
  auto& filled = source_end_.filled;
  const bool holds =
      filled && filled->first == work.seed && filled->second >= work.bytes && same_place;
  for (std::int64_t slot = 0; slot < slots; ++slot) {
    if (!holds) fill(source_ + slot * stride, source_on_card_, work.seed, false);
    fill(target_ + slot * stride, target_on_card_, work.seed, true);
  }
  filled = {work.seed, work.bytes};
  const double guess =
      std::max(kLeastCopySeconds, static_cast<double>(work.bytes) / kMostBytesPerSecond);
  copies_ = std::clamp<std::int64_t>(static_cast<std::int64_t>(kLeastSeconds / guess),
                                     kFewestCopies, kMostCopies);
  first_.reserve(sizeof(unsigned long long));
  next_slot_ = 0;
  context_.synchronize("filling the buffers");
  copy_once(0);  // code and page tables are there from now on
  context_.synchronize("a first copy");
  prepared_ = true;
}

void CopyEngine::copy_once(std::int64_t slot) {
  char* const to = target_ + slot * stride_;
  const char* const from = source_ + slot * stride_;
  if (work_.method == "sm") {
    check(launch_copy(context_.stream(), context_.sms(), to, from, work_.bytes), "starting a copy");
    return;
  }
  const cudaMemcpyKind kind = work_.direction == "h2d"   ? cudaMemcpyHostToDevice
                              : work_.direction == "d2h" ? cudaMemcpyDeviceToHost
                                                         : cudaMemcpyDeviceToDevice;
  check(cudaMemcpyAsync(to, from, static_cast<std::size_t>(work_.bytes), kind, context_.stream()),
        "starting a copy");
}

Sample CopyEngine::run(const Trial&) {
  if (!prepared_) throw PointFailure("run() without a prepare() that succeeded");
  const auto all = [this] {
    for (std::int64_t i = 0; i < copies_; ++i) {
      copy_once(next_slot_);
      next_slot_ = (next_slot_ + 1) % slots_;
    }
  };
  const bool gated = work_.method != "pageable";
  // Behind a wait the first copy is slower: of 1 GiB on an H200 by 60 us.
  const auto first = [this] { copy_once(next_slot_); };
  const Seconds taken = gated ? context_.time(all, first) : context_.time_ungated(all);
  Sample sample;
  sample.elapsed = taken / static_cast<double>(copies_);
  sample.note = std::to_string(copies_) + " copies in a stream" +
                (gated ? "" : ", the host's calls included");
  return sample;
}

std::optional<std::int64_t> CopyEngine::first_wrong(std::int64_t slot) {
  const char* const found = target_ + slot * stride_;
  if (!target_on_card_) {
    const auto at = first_difference(
        {reinterpret_cast<const std::byte*>(found), static_cast<std::size_t>(work_.bytes)},
        work_.seed);
    if (!at) return std::nullopt;
    return static_cast<std::int64_t>(*at);
  }
  unsigned long long first = 0;
  check(cudaMemsetAsync(first_.as(), 0xff, sizeof first, context_.stream()), "clearing a check");
  check(launch_compare(context_.stream(), found, work_.bytes, work_.seed,
                       first_.as<unsigned long long>()),
        "checking a copy");
  check(
      cudaMemcpyAsync(&first, first_.as(), sizeof first, cudaMemcpyDeviceToHost, context_.stream()),
      "reading a check");
  context_.synchronize("checking a copy");
  if (first == ~0ULL) return std::nullopt;
  return static_cast<std::int64_t>(first);
}

Check CopyEngine::verify() {
  if (!prepared_) return {false, "nothing was copied"};
  // Slots beyond the number of copies were not written yet.
  const std::int64_t last = (next_slot_ + slots_ - 1) % slots_;
  for (const std::int64_t slot : {std::int64_t{0}, last}) {
    if (const auto at = first_wrong(slot)) {
      return {false, "byte " + format_count(*at) + " of slot " + std::to_string(slot) +
                         " is not what the source holds"};
    }
  }
  return {};
}

}  // namespace sonde::cuda
