#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "core/error.h"
#include "device/device.h"
#include "device/registry.h"

namespace sonde {

/// One usable device of each backend: what holds for all of them, whatever their numbers are.
class EveryBackend : public ::testing::TestWithParam<const char*> {
 protected:
  EveryBackend() : device_(open_device(GetParam())) {}
  const DeviceDescription& description() const { return device_->description(); }

  ChaseWork chase_work(std::int64_t footprint) const {
    ChaseWork work;
    work.cores = {description().cores.front()};
    work.footprint_bytes = footprint;
    work.loads = 4096;
    return work;
  }
  template <class Work>
  Sample sample(Engine<Work>* engine, const Work& work, std::int64_t repetition = 0) {
    engine->prepare(work);
    Sample taken = engine->run({1, 0, repetition});
    const Check check = engine->verify();
    EXPECT_TRUE(check.ok) << check.problem;
    return taken;
  }

  /// Why prepare() skips the work; empty: it does not.
  template <class Work>
  static std::string skip_reason(Engine<Work>* engine, const Work& work) {
    try {
      engine->prepare(work);
    } catch (const Skip& skip) {
      return skip.what();
    }
    return "";
  }

  std::unique_ptr<Device> device_;
};

inline std::string backend_name(const ::testing::TestParamInfo<const char*>& param) {
  return std::string(param.param).starts_with("sim") ? "sim" : "host";
}

}  // namespace sonde
