#pragma once

#include <cstdint>
#include <optional>
#include <vector>

namespace sonde {

/// Finds entries by a key of whole numbers. The keys stay where the entries lie: four to eight
/// bytes an entry, so that an index of millions is small beside what it points into. Up to 2^32 - 2
/// entries.
template <class KeyOf>
class KeyIndex {
 public:
  using Key = std::vector<std::int64_t>;

  /// `key_of(entry, key)` writes the key of an entry that was added.
  explicit KeyIndex(KeyOf key_of) : key_of_(std::move(key_of)), slots_(1024, 0) {}

  /// The entry that was added with this key; nullopt when there is none, and `entry` is it now.
  std::optional<std::size_t> find_or_add(const Key& key, std::size_t entry) {
    if (10 * (count_ + 1) > 7 * slots_.size()) grow();
    std::uint32_t& slot = slots_[place_of(key)];
    if (slot != 0) return slot - 1;
    slot = static_cast<std::uint32_t>(entry + 1);
    ++count_;
    return std::nullopt;
  }

 private:
  static std::size_t hash(const Key& key) {
    std::uint64_t mixed = 0;
    for (std::int64_t part : key) {
      mixed = (mixed ^ static_cast<std::uint64_t>(part)) * 0x9e3779b97f4a7c15U;  // 2^64 / phi, odd
      mixed ^= mixed >> 32;
    }
    return mixed;
  }
  std::size_t place_of(const Key& key) {
    std::size_t place = hash(key) & (slots_.size() - 1);
    for (; slots_[place] != 0; place = (place + 1) & (slots_.size() - 1)) {
      key_of_(slots_[place] - 1, stored_);
      if (stored_ == key) break;
    }
    return place;
  }
  void grow() {
    std::vector<std::uint32_t> before(2 * slots_.size(), 0);
    before.swap(slots_);
    for (std::uint32_t slot : before) {
      if (slot == 0) continue;
      key_of_(slot - 1, moved_);
      slots_[place_of(moved_)] = slot;
    }
  }

  KeyOf key_of_;
  std::vector<std::uint32_t> slots_;  ///< entry + 1; 0: free. A power of two of them
  std::size_t count_ = 0;
  Key stored_, moved_;  ///< kept for their memory
};

}  // namespace sonde
