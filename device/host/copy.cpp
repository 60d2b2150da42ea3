#include "device/host/copy.h"

#include <algorithm>
#include <cstring>
#include <vector>

#include "core/error.h"
#include "core/parse.h"
#include "core/rng.h"
#include "device/common/pattern.h"
#include "device/host/clock.h"
#include "device/host/pin.h"
#include "device/host/team.h"
#include "device/host/wait_watch.h"
#include "device/host/windows.h"

namespace sonde::host {
namespace {

/// Copies below this get buffers of their own at each prepare(), at seeded offsets: below 30 KiB
/// one placement against another changes the time by 20 to 40 %.
constexpr std::int64_t kAllocatedAnew = 4 * kMiB;
/// Offsets vary over this much: twice the index range of a 2 MiB, 16-way cache.
constexpr std::int64_t kOffsetRange = 256 * kKiB;
constexpr std::int64_t kLargestAlignment = 2 * kMiB;
/// Copies never share a line, or one would load what the next uses.
constexpr std::int64_t kLine = 64;

/// Every byte other than the pattern's, so that a byte left out of a copy cannot pass for right.
void fill_other(std::byte* begin, std::int64_t bytes, std::uint64_t seed) {
  std::int64_t at = 0;
  for (std::uint64_t i = 0; at < bytes; ++i, at += 8) {
    const std::uint64_t word = ~pattern_word(seed, i);
    std::memcpy(begin + at, &word, static_cast<std::size_t>(std::min<std::int64_t>(8, bytes - at)));
  }
}

void refuse_impossible(const CopyWork& work, const DeviceDescription& description) {
  std::vector<std::string> directions;
  for (const CopyPath& path : description.copies) {
    directions.push_back(path.direction);
    if (path.direction != work.direction) continue;
    if (std::find(path.methods.begin(), path.methods.end(), work.method) == path.methods.end()) {
      throw Skip("no method " + work.method + " for " + work.direction + " copies here; there is " +
                 join_names(path.methods));
    }
  }
  if (std::find(directions.begin(), directions.end(), work.direction) == directions.end()) {
    throw Skip("no " + work.direction + " copies here; there is " + join_names(directions));
  }
  if (work.bytes < 1) {
    throw Skip("a copy of " + format_count(work.bytes) + " B: at least 1 B");
  }
  const std::int64_t alignment = work.alignment;
  if (alignment < 1 || alignment > kLargestAlignment || (alignment & (alignment - 1)) != 0) {
    throw Skip("an alignment of " + format_count(alignment) + " B: a power of two up to " +
               format_size(Bytes(kLargestAlignment)) + " is possible");
  }
}

}  // namespace

CopyEngine::CopyEngine(const Machine& machine, const DeviceDescription& description,
                       CopyFunction copy)
    : machine_(machine), description_(description), planted_(copy) {}

std::byte* CopyEngine::source_slot(std::int64_t slot) const {
  return used_->source.data() + layout_.source_offset + slot * layout_.stride;
}

std::byte* CopyEngine::target_slot(std::int64_t slot) const {
  return used_->target.data() + layout_.target_offset + slot * layout_.stride;
}

CopyEngine::Layout CopyEngine::layout_for(const CopyWork& work) {
  const std::int64_t most =
      description_.memory_bytes.value_or(std::int64_t{1} << 46);  // Buffer's own limit
  if (work.bytes > (most - 2 * kOffsetRange) / 2) {
    throw Skip("two buffers of " + format_size(Bytes(work.bytes)) +
               " do not fit: a measurement may use " + format_count(most) + " B");
  }
  Layout layout;
  layout.bytes = work.bytes;
  layout.seed = work.seed;
  const std::int64_t unit = std::max(kLine, work.alignment);
  layout.stride = (work.bytes + unit - 1) / unit * unit;
  if (!work.warm) {
    if (machine_.caches.empty()) {
      throw Skip("a cold copy: the machine does not state the size of its last cache");
    }
    // Counted in strides, not in bytes copied: slots far apart use few of a cache's sets.
    const std::int64_t wanted = kRotateBeyond * machine_.caches.back().capacity_bytes;
    layout.slots = std::max<std::int64_t>(2, (wanted / 2 + layout.stride - 1) / layout.stride);
    if (layout.slots > (most - 2 * kOffsetRange) / 2 / layout.stride) {
      throw Skip("a cold copy rotates over " + format_size(Bytes(2 * layout.span())) +
                 ", twice the last cache; a measurement may use " + format_count(most) + " B");
    }
  } else if (work.bytes < kAllocatedAnew) {
    Rng rng(key_of({work.seed, static_cast<std::uint64_t>(work.bytes), prepares_}));
    const auto choices =
        static_cast<std::uint64_t>(std::max<std::int64_t>(1, kOffsetRange / work.alignment));
    layout.source_offset = static_cast<std::int64_t>(rng.below(choices)) * work.alignment;
    layout.target_offset = static_cast<std::int64_t>(rng.below(choices)) * work.alignment;
  }
  return layout;
}

void CopyEngine::allocate(const CopyWork& work, const Layout& layout) {
  const auto alignment = static_cast<std::uintptr_t>(work.alignment);
  auto aligned = [alignment](const Buffer& buffer) {
    return reinterpret_cast<std::uintptr_t>(buffer.data()) % alignment == 0;
  };
  const bool anew = work.warm && work.bytes < kAllocatedAnew;
  used_ = anew ? &small_ : &large_;
  const std::int64_t needed = layout.span() + (anew ? kOffsetRange : 0);
  if (!anew && large_.source.size() >= needed && large_.target.size() >= needed) return;
  // The old ones go first: both pairs at once might not fit.
  *used_ = Buffers();
  if (!anew) filled_.reset();
  used_->source = Buffer(needed, machine_.huge_page_bytes);
  used_->target = Buffer(needed, machine_.huge_page_bytes);
  if (!aligned(used_->source) || !aligned(used_->target)) {
    throw Skip("an alignment of " + format_size(Bytes(work.alignment)) +
               ": pages here are smaller");
  }
}

void CopyEngine::fill(const Layout& layout) {
  const bool same = used_ == &large_ && filled_ && filled_->seed == layout.seed &&
                    filled_->slots == layout.slots &&
                    filled_->source_offset == layout.source_offset &&
                    (layout.slots == 1 || filled_->stride == layout.stride) &&
                    filled_->bytes >= layout.bytes;  // a pattern begins alike at any length
  for (std::int64_t slot = 0; slot < layout.slots; ++slot) {
    if (!same) {
      fill_pattern({source_slot(slot), static_cast<std::size_t>(layout.bytes)}, layout.seed);
    }
    fill_other(target_slot(slot), layout.bytes, layout.seed);
  }
  if (!same && used_ == &large_) filled_ = layout;
}

void CopyEngine::prepare(const CopyWork& work) {
  prepared_ = false;
  ++prepares_;
  refuse_impossible(work, description_);
  const auto& methods = copy_methods();
  const auto found = std::find_if(methods.begin(), methods.end(),
                                  [&](const CopyMethod& one) { return one.name == work.method; });
  if (found == methods.end()) throw Skip("this processor has no copy method " + work.method);
  method_ = &*found;
  if (work.alignment < method_->alignment) {
    throw Skip("method " + work.method + " needs buffers aligned to " +
               format_count(method_->alignment) + " B");
  }
  copy_ = planted_ != nullptr ? planted_ : method_->copy;
  const Layout layout = layout_for(work);
  const std::vector<int> cpus = work.cores.empty() ? std::vector<int>{machine_.cpus.front()}
                                                   : usable_cpus(machine_, work.cores);
  const PinnedThread pin(cpus.front());  // memory near the core that will copy
  allocate(work, layout);
  layout_ = layout;
  fill(layout);
  work_ = work;
  rotation_ = Rotation(layout.slots);
  deal(cpus);
  prepared_ = true;
}

void CopyEngine::deal(const std::vector<int>& cpus) {
  parts_.clear();
  const auto cores = static_cast<std::int64_t>(cpus.size());
  // Whole lines each: two cores that write one line would wait for each other.
  const std::int64_t each = ((work_.bytes + cores - 1) / cores + kLine - 1) / kLine * kLine;
  for (std::int64_t i = 0; i < cores; ++i) {
    Part part;
    part.rotation = rotation_;
    part.seat.cpu = cpus[static_cast<std::size_t>(i)];
    part.offset = i * each;
    part.bytes = std::min(each, work_.bytes - part.offset);
    if (part.bytes <= 0) {
      throw Skip(format_count(work_.bytes) + " B in parts of whole lines are too few for " +
                 std::to_string(cores) + " cores");
    }
    parts_.push_back(part);
  }
}

void CopyEngine::copy_part(Part& part, std::int64_t count) const {
  const auto bytes = static_cast<std::size_t>(part.bytes);
  if (layout_.slots == 1) {
    std::byte* const to = target_slot(0) + part.offset;
    const std::byte* const from = source_slot(0) + part.offset;
    for (std::int64_t left = count; left > 0; --left) copy_(to, from, bytes);
  } else {
    for (std::int64_t left = count; left > 0; --left) {
      copy_(target_slot(part.rotation.place()) + part.offset,
            source_slot(part.rotation.place()) + part.offset, bytes);
      part.rotation.advance();
    }
  }
  part.copies += count;
}

std::int64_t CopyEngine::copies_ns(Part& part, std::int64_t count) const {
  const WaitWatch watch;
  const std::int64_t begin = monotonic_ns();
  copy_part(part, count);
  return monotonic_ns() - begin;
}

double CopyEngine::together_ns() {
  std::vector<int> cpus;
  for (const Part& part : parts_) cpus.push_back(part.seat.cpu);
  TeamWindow window(parts_.size());
  double elapsed_ns = 0;
  on_each_cpu(cpus, [&](std::size_t index) noexcept {
    Part& part = parts_[index];
    part.seat.before = current_cpu();
    if (work_.warm) copy_part(part, 1);
    const double each_ns = time_of_one_ns(
        [&](std::int64_t count) { return window.time_ns(index, [&] { copy_part(part, count); }); });
    if (index == 0) elapsed_ns = each_ns;
    part.seat.after = current_cpu();
  });
  return elapsed_ns;
}

Sample CopyEngine::run(const Trial&) {
  if (!prepared_) throw PointFailure("run() without a prepare() that succeeded");
  Part& first = parts_.front();
  const PinnedThread pin(first.seat.cpu);
  double elapsed_ns = 0;
  if (parts_.size() > 1) {
    elapsed_ns = together_ns();
  } else {
    first.seat.before = current_cpu();
    if (work_.warm) copies_ns(first, 1);
    elapsed_ns = time_of_one_ns([&](std::int64_t count) { return copies_ns(first, count); });
    first.seat.after = current_cpu();
  }
  require_time(elapsed_ns, "the copies");
  Sample sample;
  sample.elapsed = Seconds(elapsed_ns * 1e-9);
  sample.clock = measure_core_clock();
  for (const Part& part : parts_) sample.placement.push_back(part.seat.core());
  sample.store = method_->store;
  sample.note = method_->note + ", " + used_->source.page_kind();
  if (used_->target.page_kind() != used_->source.page_kind())
    sample.note += " to " + used_->target.page_kind();
  if (!work_.warm) sample.note += ", rotated";
  return sample;
}

std::optional<std::string> CopyEngine::first_wrong(const Part& part) const {
  // A part begins on a whole word of the pattern; what lies before it is another core's.
  const std::int64_t used = std::min(part.copies, layout_.slots);
  const auto bytes = static_cast<std::size_t>(part.offset + part.bytes);
  std::int64_t slot = 0;
  for (std::int64_t i = 0; i < used; ++i, slot = rotation_.after(slot)) {
    const std::byte* copied = target_slot(slot);
    const auto bad = first_difference({copied, bytes}, layout_.seed);
    if (!bad) continue;
    std::uint64_t word = pattern_word(layout_.seed, *bad / 8);
    const auto expected = reinterpret_cast<const unsigned char*>(&word)[*bad % 8];
    return "byte " + std::to_string(*bad) + " of the copy is " +
           std::to_string(std::to_integer<int>(copied[*bad])) + ", expected " +
           std::to_string(expected);
  }
  return std::nullopt;
}

Check CopyEngine::verify() {
  if (!prepared_) return {false, "nothing was copied"};
  const PinnedThread pin(parts_.front().seat.cpu);
  for (const Part& part : parts_) {
    if (const auto problem = part.seat.misplaced("the copy")) return {false, *problem};
  }
  // All parts have copied equally often, and the last one ends where the copy ends.
  if (const auto problem = first_wrong(parts_.back())) return {false, *problem};
  return {};
}

}  // namespace sonde::host
