#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "device/device.h"
#include "device/sim/landed.h"
#include "device/sim/machine.h"

namespace sonde::sim {

/// Engine of CopyWork inside the modelled device. No data is moved: what a run leaves to verify is
/// the count of bytes that landed, and at most one byte that is wrong.
class CopyEngine final : public Engine<CopyWork> {
 public:
  explicit CopyEngine(Machine& machine) : machine_(machine) {}

  void prepare(const CopyWork& work) override;
  Sample run(const Trial& trial) override;
  Check verify() override;

 private:
  Machine& machine_;
  std::optional<CopyWork> work_;
  Ticks modelled_ = 0;
  std::string note_;
  std::vector<CoreName> placement_;
  std::optional<Landed> landed_;
};

}  // namespace sonde::sim
