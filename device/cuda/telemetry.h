#pragma once

#include <chrono>
#include <optional>
#include <string>

#include "device/cuda/nvml.h"
#include "device/device.h"

namespace sonde::cuda {

/// The card's state around every sample. A reading takes up to a millisecond, so one is used for
/// all that is asked within a few; an engine with a long window takes one in its middle, under
/// load.
class Monitor {
 public:
  explicit Monitor(const std::string& bus_id) : nvml_(bus_id) {}

  CardFacts facts() const { return nvml_.facts(); }
  void refresh();
  const CardState& state() const { return state_; }
  Telemetry telemetry();

 private:
  Nvml nvml_;
  CardState state_;
  std::optional<std::chrono::steady_clock::time_point> taken_;
  std::int64_t disturbed_ = 0;  ///< readings that found the clock held back by heat or the board
};

}  // namespace sonde::cuda
