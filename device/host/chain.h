#pragma once

#include <compare>
#include <cstdint>
#include <list>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "device/host/buffer.h"

namespace sonde::host {

/// A ring of pointers in memory, one a line, in one random cycle. The pointer's word within its
/// line varies, so that the loads spread over the banks of a cache.
class Chain {
 public:
  /// Built, checked to be one cycle, and first touched by the calling thread. Throws Skip when
  /// there is no such memory or the chain is too long, PointFailure when it is not one cycle.
  Chain(std::int64_t footprint_bytes, std::int64_t line_bytes, std::uint64_t seed,
        const std::optional<std::int64_t>& huge_page_bytes);

  std::int64_t lines() const { return static_cast<std::int64_t>(order_.size()); }
  /// Memory it holds, the visiting order included.
  std::int64_t held_bytes() const;
  const std::string& page_kind() const { return memory_.page_kind(); }

  /// Node reached after `position` loads from the first; positions go round the ring.
  std::byte* node(std::int64_t position) const;

  /// Reads every line once in the order of the walk from `position`, without waiting for one load
  /// before the next: about ten times as fast as following the pointers.
  void read_lap(std::int64_t position) const;

  /// Position of the first node whose pointer is not that of the ring; nullopt when all are.
  std::optional<std::int64_t> first_broken() const;

 private:
  std::int64_t line_bytes_;
  Buffer memory_;
  std::vector<std::uint32_t> order_;  ///< line at each position of the walk
};

/// The timed work: follows `loads` pointers, each load needing the one before.
const std::byte* follow(const std::byte* at, std::int64_t loads);

/// Chains kept for later, because building one of 256 MiB takes a second. Least recently used go
/// first. Not thread safe.
class ChainStore {
 public:
  struct Key {
    std::int64_t footprint_bytes = 0;
    std::uint64_t seed = 0;
    std::optional<int> node;  ///< memory node it lies on
    friend auto operator<=>(const Key&, const Key&) = default;
  };
  std::shared_ptr<const Chain> find(const Key& key);
  void add(const Key& key, std::shared_ptr<const Chain> chain);
  /// Forgets chains until at most `bytes` are held. One still in use lives on with its user.
  void shrink_to(std::int64_t bytes);
  std::int64_t held_bytes() const;

 private:
  std::list<std::pair<Key, std::shared_ptr<const Chain>>> chains_;  ///< last used first
};

}  // namespace sonde::host
