#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "device/device.h"
#include "device/sim/machine.h"

namespace sonde::sim {

/// Engine of ProfileWork: one load at each sampled address, each past the data cache, after the
/// whole chain was walked once. Whether the L2 answers is the chain's doing and the same for every
/// core; how long the way is depends on the core.
class ProfileEngine final : public Engine<ProfileWork> {
 public:
  explicit ProfileEngine(Machine& machine) : machine_(machine) {}

  void prepare(const ProfileWork& work) override;
  Sample run(const Trial& trial) override;
  Check verify() override;

 private:
  Machine& machine_;
  std::optional<ProfileWork> work_;
  std::optional<ChaseMemory> memory_;  ///< the walked chain; kept while its size stays
  std::vector<std::int64_t> offsets_;
  std::vector<Ticks> modelled_;
  std::optional<std::uint64_t> loaded_;  ///< all words that were loaded, folded into one
};

}  // namespace sonde::sim
