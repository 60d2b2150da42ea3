#pragma once

#include <map>
#include <memory>
#include <optional>

#include "device/cuda/chase.h"

namespace sonde::cuda {

/// A victim SM beside aggressor SMs in one persistent launch: the victim's window opens when every
/// aggressor has worked, and they go on until it says that it has closed. All times are those of
/// the card's global timer.
class ContentionEngine final : public Engine<ContentionWork> {
 public:
  ContentionEngine(Context& context, const DeviceDescription& description)
      : context_(context), description_(description) {}
  void prepare(const ContentionWork& work) override;
  Sample run(const Trial& trial) override;
  Check verify() override;

 private:
  std::string name_of(std::size_t role) const;

  Context& context_;
  const DeviceDescription& description_;
  ContentionWork work_;
  std::vector<CoreName> cores_;  ///< by role
  std::unique_ptr<RingMemory> ring_;
  std::optional<ContentionWork> ring_of_;
  DeviceBuffer regions_;
  DeviceBuffer state_;
  PinnedBuffer results_;
  unsigned long long at_work_ = 0;
  std::int64_t position_ = 0;
  Duel duel_{};
  unsigned launched_ = 0;
  bool prepared_ = false;
};

}  // namespace sonde::cuda
