#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "device/device.h"
#include "device/sim/landed.h"
#include "device/sim/machine.h"

namespace sonde::sim {

/// Engine of StreamWork on the transfer engines of the modelled cores. The L2 is in the steady
/// state of a walk that was made before: prepare() fills and warms up.
class StreamEngine final : public Engine<StreamWork> {
 public:
  explicit StreamEngine(Machine& machine) : machine_(machine) {}

  void prepare(const StreamWork& work) override;
  Sample run(const Trial& trial) override;
  Check verify() override;

 private:
  void check_work(const StreamWork& work) const;
  std::int64_t hit_ppm(std::int64_t bytes);

  Machine& machine_;
  std::optional<StreamWork> work_;
  std::map<std::int64_t, std::int64_t> hits_;  ///< by working set, parts per million
  Ticks modelled_ = 0;
  std::string note_;
  std::optional<Landed> landed_;
};

}  // namespace sonde::sim
