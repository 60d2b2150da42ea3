#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "device/cuda/context.h"
#include "device/device.h"

namespace sonde::cuda {

/// Copies within the card and between it and the host. `auto` is cudaMemcpyAsync with locked host
/// memory, `pageable` the same with ordinary memory, `sm` a kernel of all SMs. Copies follow one
/// another in a stream and are all queued before the first starts, so that the host's time stays
/// out; of pageable memory it cannot, since each call takes part in the copy.
class CopyEngine final : public Engine<CopyWork> {
 public:
  CopyEngine(Context& context, const DeviceDescription& description)
      : context_(context), description_(description) {}
  void prepare(const CopyWork& work) override;
  Sample run(const Trial& trial) override;
  Check verify() override;

 private:
  /// Memory of one end of a copy: the card's, locked or ordinary.
  struct End {
    DeviceBuffer card;
    PinnedBuffer locked;
    std::vector<std::byte> ordinary;
    std::optional<std::pair<std::uint64_t, std::int64_t>> filled;  ///< seed and bytes of a pattern
  };
  char* memory_of(End& end, const std::string& place, std::int64_t bytes) const;
  void fill(char* at, bool on_card, std::uint64_t seed, bool inverted);
  void copy_once(std::int64_t slot);
  std::optional<std::int64_t> first_wrong(std::int64_t slot);

  Context& context_;
  const DeviceDescription& description_;
  CopyWork work_;
  bool prepared_ = false;
  End source_end_, target_end_;
  char* source_ = nullptr;  ///< of slot 0
  char* target_ = nullptr;
  bool source_on_card_ = true, target_on_card_ = true;
  std::int64_t stride_ = 0;  ///< from one slot to the next
  std::int64_t slots_ = 1;
  std::int64_t next_slot_ = 0;
  std::int64_t copies_ = 1;  ///< of one run
  DeviceBuffer first_;
};

}  // namespace sonde::cuda
