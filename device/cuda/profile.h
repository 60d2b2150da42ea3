#pragma once

#include <optional>
#include <vector>

#include "device/cuda/context.h"
#include "device/device.h"

namespace sonde::cuda {

/// Latency of one SM's loads past its nearest cache at sampled lines that lie in L2: for each the
/// smallest of a few means of eight dependent loads, in cycles of that SM, whose clock is taken
/// from the whole profile.
class ProfileEngine final : public Engine<ProfileWork> {
 public:
  ProfileEngine(Context& context, const DeviceDescription& description)
      : context_(context), description_(description) {}
  void prepare(const ProfileWork& work) override;
  Sample run(const Trial& trial) override;
  Check verify() override;

 private:
  Context& context_;
  const DeviceDescription& description_;
  ProfileWork work_;
  bool prepared_ = false;
  DeviceBuffer lines_;
  std::optional<ProfileWork> filled_;  ///< what the lines hold
  std::vector<std::int64_t> offsets_;
  DeviceBuffer offset_memory_;
  PinnedBuffer cycles_;
  PinnedBuffer result_;
  unsigned launched_ = 0;
};

}  // namespace sonde::cuda
