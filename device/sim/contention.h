#pragma once

#include <cstdint>
#include <optional>

#include "device/device.h"
#include "device/sim/chain_order.h"
#include "device/sim/machine.h"
#include "device/sim/traffic.h"

namespace sonde::sim {

/// Engine of ContentionWork. Aggressors that load or store stream through memory with their
/// transfer engines in the maker's request size; each load of the victim that misses its data
/// cache waits for them where their ways meet. A register-only aggressor shares nothing.
class ContentionEngine final : public Engine<ContentionWork> {
 public:
  explicit ContentionEngine(Machine& machine) : machine_(machine) {}

  void prepare(const ContentionWork& work) override;
  Sample run(const Trial& trial) override;
  Check verify() override;

 private:
  struct Outcome {
    std::int64_t last_line = 0;
    std::optional<std::int64_t> background_operations;
  };

  void check_work(const ContentionWork& work) const;
  std::vector<Flow> flows(const ContentionWork& work) const;
  Ticks victim_time(const CoreSite& site, Ticks added) const;
  std::int64_t background_operations(Ticks elapsed) const;

  Machine& machine_;
  std::optional<ContentionWork> work_;
  std::optional<ChaseMemory> memory_;  ///< of the victim; kept while its footprint stays
  ChainOrder order_;
  std::vector<Flow> flows_;
  Ticks modelled_ = 0;
  std::optional<Outcome> outcome_;
};

}  // namespace sonde::sim
