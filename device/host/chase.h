#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "device/device.h"
#include "device/host/buffer.h"
#include "device/host/chain.h"
#include "device/host/cores.h"
#include "device/host/machine.h"

namespace sonde::host {

/// Pointer chases on pinned threads, one a core, each on its own chain. The elapsed time is that of
/// the work's `loads` loads a block, from the first start to the last finish, with everything that
/// does not grow with the number of loads cancelled by difference.
class ChaseEngine final : public Engine<ChaseWork> {
 public:
  /// `description` is of `machine`; both outlive the engine.
  ChaseEngine(const Machine& machine, const DeviceDescription& description)
      : machine_(machine), description_(description) {}

  void prepare(const ChaseWork& work) override;
  Sample run(const Trial& trial) override;
  Check verify() override;

 private:
  struct Block {
    Seat seat;
    std::shared_ptr<const Chain> chain;
    const std::byte* at = nullptr;  ///< where its walk is
    std::int64_t position = 0;      ///< where it must be
  };
  void refuse_impossible(const ChaseWork& work, std::size_t blocks) const;
  std::vector<int> cpus_for(const ChaseWork& work) const;
  void build(const ChaseWork& work);
  void warm_up(Block& block) const;
  void empty_nearest_cache() const;

  const Machine& machine_;
  const DeviceDescription& description_;
  ChaseWork work_;
  std::vector<Block> blocks_;
  ChainStore store_;
  Buffer evictor_;  ///< read to empty the nearest cache; made when first needed
};

}  // namespace sonde::host
