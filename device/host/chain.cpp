#include "device/host/chain.h"

#include <cstring>

#include "core/error.h"
#include "core/rng.h"
#include "device/common/chase_ring.h"

namespace sonde::host {
namespace {

constexpr std::int64_t kWord = static_cast<std::int64_t>(sizeof(std::byte*));

/// Offset of a line's pointer within the line.
std::int64_t word_offset(std::uint32_t line, std::int64_t line_bytes) {
  const auto words = static_cast<std::uint64_t>(line_bytes / kWord);
  return static_cast<std::int64_t>(mix64(line) % words) * kWord;
}

}  // namespace

Chain::Chain(std::int64_t footprint_bytes, std::int64_t line_bytes, std::uint64_t seed,
             const std::optional<std::int64_t>& huge_page_bytes)
    : line_bytes_(line_bytes) {
  // One group: every line anywhere. Huge pages keep address translation out of the way, and where
  // there are none the row's note says so.
  const ChaseRing ring = make_chase_ring(footprint_bytes / line_bytes, 1, 0, seed);
  if (!is_single_cycle(ring)) throw PointFailure("the chain is not one cycle through every line");
  order_.resize(ring.size());
  std::uint32_t line = 0;
  for (std::uint32_t& at : order_) {
    at = line;
    line = ring[line];
  }
  memory_ = Buffer(footprint_bytes, huge_page_bytes);
  for (std::int64_t position = 0; position < lines(); ++position) {
    const std::byte* next = node(position + 1);
    std::memcpy(node(position), &next, sizeof next);
  }
}

std::int64_t Chain::held_bytes() const {
  return memory_.size() + lines() * static_cast<std::int64_t>(sizeof(std::uint32_t));
}

std::byte* Chain::node(std::int64_t position) const {
  const std::uint32_t line = order_[static_cast<std::size_t>(position % lines())];
  return memory_.data() + line * line_bytes_ + word_offset(line, line_bytes_);
}

void Chain::read_lap(std::int64_t position) const {
  std::int64_t at = position % lines();
  for (std::int64_t left = lines(); left > 0; --left) {
    static_cast<void>(*static_cast<const volatile std::byte*>(node(at)));
    if (++at == lines()) at = 0;
  }
}

std::optional<std::int64_t> Chain::first_broken() const {
  for (std::int64_t position = 0; position < lines(); ++position) {
    const std::byte* next = nullptr;
    std::memcpy(&next, node(position), sizeof next);
    if (next != node(position + 1)) return position;
  }
  return std::nullopt;
}

// Not instrumented by a sanitizer: that would be timed too.
__attribute__((noinline, no_sanitize("address", "undefined"))) const std::byte* follow(
    const std::byte* at, std::int64_t loads) {
  auto step = [&at]() __attribute__((always_inline, no_sanitize("address", "undefined"))) {
    at = *reinterpret_cast<const std::byte* const*>(at);
  };
  for (; loads >= 16; loads -= 16) {
    step(), step(), step(), step(), step(), step(), step(), step();
    step(), step(), step(), step(), step(), step(), step(), step();
  }
  for (; loads > 0; --loads) step();
  return at;
}

std::shared_ptr<const Chain> ChainStore::find(const Key& key) {
  for (auto at = chains_.begin(); at != chains_.end(); ++at) {
    if (at->first != key) continue;
    chains_.splice(chains_.begin(), chains_, at);
    return at->second;
  }
  return nullptr;
}

void ChainStore::add(const Key& key, std::shared_ptr<const Chain> chain) {
  chains_.emplace_front(key, std::move(chain));
}

void ChainStore::shrink_to(std::int64_t bytes) {
  while (!chains_.empty() && held_bytes() > bytes) chains_.pop_back();
}

std::int64_t ChainStore::held_bytes() const {
  std::int64_t held = 0;
  for (const auto& entry : chains_) held += entry.second->held_bytes();
  return held;
}

}  // namespace sonde::host
