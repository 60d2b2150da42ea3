#include "device/cuda/telemetry.h"

namespace sonde::cuda {
namespace {

constexpr std::chrono::milliseconds kFresh{10};

}  // namespace

void Monitor::refresh() {
  state_ = nvml_.state();
  taken_ = std::chrono::steady_clock::now();
  if (state_.throttle_reasons && is_disturbed(*state_.throttle_reasons)) ++disturbed_;
}

Telemetry Monitor::telemetry() {
  if (!taken_ || std::chrono::steady_clock::now() - *taken_ > kFresh) refresh();
  Telemetry now;
  now.clock = state_.sm_clock;
  now.power = state_.power;
  now.temperature = state_.temperature;
  if (state_.throttle_reasons) now.throttle_events = disturbed_;
  return now;
}

}  // namespace sonde::cuda
