#pragma once

#include <map>
#include <optional>
#include <vector>

#include "device/cuda/context.h"
#include "device/device.h"

namespace sonde::cuda {

/// A ring in the card's memory, several times over for as many blocks.
class RingMemory {
 public:
  RingMemory(Context& context, std::int64_t bytes, std::int64_t line_bytes, std::int64_t copies,
             std::uint64_t seed);
  const Ring& ring() const { return ring_; }
  std::int64_t copies() const { return copies_; }
  std::int64_t held_bytes() const { return nodes_.size() + order_memory_.size(); }
  /// Address of the node at a position of the walk of one copy.
  unsigned long long node(std::int64_t position, std::int64_t copy = 0) const;

 private:
  DeviceBuffer nodes_;
  DeviceBuffer order_memory_;
  std::vector<std::uint32_t> order_;
  std::int64_t copies_;
  Ring ring_{};
};

/// Pointer chases, one thread a block. On named SMs the walk is warm (a lap before it) or starts
/// with an empty nearest cache, as each launch does; blocks that the card places itself are cold.
/// The elapsed time is a launch with the loads less the same launch without them.
class ChaseEngine final : public Engine<ChaseWork> {
 public:
  ChaseEngine(Context& context, const DeviceDescription& description)
      : context_(context), description_(description) {}
  void prepare(const ChaseWork& work) override;
  Sample run(const Trial& trial) override;
  Check verify() override;

 private:
  struct Key {
    std::int64_t bytes = 0;
    std::uint64_t seed = 0;
    friend auto operator<=>(const Key&, const Key&) = default;
  };
  const RingMemory& ring_of(const ChaseWork& work, std::int64_t copies);
  Seconds launch(std::int64_t loads);

  Context& context_;
  const DeviceDescription& description_;
  ChaseWork work_;
  std::map<Key, RingMemory> rings_;  ///< kept: a long one takes longer to make than to walk
  const RingMemory* ring_ = nullptr;
  std::vector<std::int64_t> positions_;  ///< of each block's walk
  PinnedBuffer start_;                   ///< the same for the kernel
  PinnedBuffer results_;
  unsigned launched_ = 0;
};

}  // namespace sonde::cuda
