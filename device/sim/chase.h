#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "device/device.h"
#include "device/sim/chain_order.h"
#include "device/sim/machine.h"
#include "device/sim/queue.h"

namespace sonde::sim {

/// The chains of one chase: which line each block loads at each step, and what that costs.
class Chains final : public LoadSource {
 public:
  Chains(const Chip& chip, const AddressMap& map, const ChaseWork& work)
      : Chains(std::make_shared<ChaseMemory>(chip, map, work.blocks, work.footprint_bytes), work) {}
  /// On the memory of another launch of as many blocks and as large a footprint.
  Chains(std::shared_ptr<const ChaseMemory> memory, const ChaseWork& work);

  Load load(const CoreSite& site, std::int64_t block, std::int64_t index) const override;

  /// Time of one block that nobody disturbs: the sum of its loads. Equals what run_launch gives
  /// for it, without the events.
  Ticks lone(const CoreSite& site) const;

  /// Line a block stands on after all its loads, by walking.
  std::int64_t last_line(std::int64_t block) const;
  /// Position in the chain's order of a line.
  std::int64_t position_of(std::int64_t block, std::int64_t line) const;
  std::int64_t lines() const { return memory_->lines(); }
  std::int64_t loads() const { return loads_; }

 private:
  std::shared_ptr<const ChaseMemory> memory_;
  std::vector<ChainOrder> orders_;  ///< of each block
  std::int64_t loads_;
  bool warm_;
};

/// Engine of ChaseWork on the scalar units of the modelled cores.
class ChaseEngine final : public Engine<ChaseWork> {
 public:
  explicit ChaseEngine(Machine& machine) : machine_(machine) {}

  void prepare(const ChaseWork& work) override;
  Sample run(const Trial& trial) override;
  Check verify() override;

 private:
  void check_work(const ChaseWork& work) const;
  std::shared_ptr<const ChaseMemory> memory_for(const ChaseWork& work);
  void launch();

  Machine& machine_;
  ChaseWork work_;
  std::vector<int> cores_;  ///< in block order; the launch order when not named
  std::optional<Chains> chains_;
  /// By blocks and footprint: a probe comes back to each for every core and repetition.
  std::map<std::pair<std::int64_t, std::int64_t>, std::shared_ptr<const ChaseMemory>> memories_;
  Ticks modelled_ = 0;  ///< without noise; the model has no other state between runs
  std::vector<CoreName> placement_;
  std::vector<std::int64_t> ended_on_;  ///< line of each block after the last run
};

}  // namespace sonde::sim
