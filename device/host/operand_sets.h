#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "device/host/buffer.h"
#include "device/host/machine.h"

namespace sonde::host {

/// Takes turns among `count` places so that the next one is far from the last, where no prefetcher
/// waits, and every place comes once a round: steps near the golden ratio of the count.
class Rotation {
 public:
  explicit Rotation(std::int64_t count = 1);
  std::int64_t count() const { return count_; }
  std::int64_t place() const { return place_; }  ///< the one to use now
  void advance() { place_ = after(place_); }
  std::int64_t after(std::int64_t place) const {
    return place + step_ >= count_ ? place + step_ - count_ : place + step_;
  }

 private:
  std::int64_t count_;
  std::int64_t step_;
  std::int64_t place_ = 0;
};

/// The caches hold nothing of a walk again after this many times the size of the last one.
inline constexpr std::int64_t kRotateBeyond = 2;

/// How many sets of operands of `set_bytes` a rotation needs to leave the last cache; 1 when one
/// set already does. At most 32,768, which take 0.1 s to make: tinier sets stay in a large cache.
/// Throws Skip where the size of that cache is not known.
std::int64_t sets_beyond_caches(const Machine& machine, double set_bytes);

/// Several equal blocks of memory with the same content, kept from one use to the next.
class OperandSets {
 public:
  /// Makes room for `sets` blocks of `bytes`. True when the first block must be filled: it does not
  /// hold `content` (which names what it will hold from now on).
  bool make(const Machine& machine, const std::string& content, std::int64_t bytes,
            std::int64_t sets);
  /// Says that the first block is filled, and copies it to those that do not hold the content yet,
  /// on every CPU at once.
  void spread(const Machine& machine);
  /// As good as new: nothing is held.
  void clear() { *this = OperandSets(); }
  std::byte* at(std::int64_t set) const { return buffer_.data() + set * stride_; }
  std::int64_t held_bytes() const { return buffer_.size(); }
  const std::string& page_kind() const { return buffer_.page_kind(); }

 private:
  Buffer buffer_;
  std::string content_;
  std::int64_t bytes_ = 0;
  std::int64_t stride_ = 0;
  std::int64_t sets_ = 0;
  std::int64_t filled_ = 0;  ///< blocks from the first that hold the content
};

}  // namespace sonde::host
