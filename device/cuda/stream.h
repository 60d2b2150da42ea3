#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "device/cuda/context.h"
#include "device/device.h"

namespace sonde::cuda {

/// Streaming by named SMs, one block of 1,024 threads each, on arrays of floats. The elapsed time
/// is from the first start to the last end on the card's global timer, stores having reached L2.
class StreamEngine final : public Engine<StreamWork> {
 public:
  StreamEngine(Context& context, const DeviceDescription& description)
      : context_(context), description_(description) {}
  void prepare(const StreamWork& work) override;
  Sample run(const Trial& trial) override;
  Check verify() override;

 private:
  std::uint32_t expected_sum();

  Context& context_;
  const DeviceDescription& description_;
  StreamWork work_;
  bool prepared_ = false;
  int blocks_an_sm_ = 0;
  DeviceBuffer target_, source_, second_;
  /// Seed and floats that the two sources hold: one pattern over the arrays of all cores.
  std::optional<std::pair<std::uint64_t, std::int64_t>> filled_, second_filled_;
  std::map<std::pair<std::uint64_t, std::int64_t>, std::uint32_t> sums_;
  PinnedBuffer results_;
  PinnedBuffer word_;  ///< what a check returns
  StreamArrays arrays_{};
  StreamKind kind_ = StreamKind::read;
  float value_ = 0;
  unsigned launched_ = 0;
};

}  // namespace sonde::cuda
