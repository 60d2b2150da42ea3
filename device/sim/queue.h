#pragma once

#include <cstdint>
#include <vector>

#include "device/sim/chip.h"
#include "device/sim/memory.h"
#include "device/sim/scheduler.h"
#include "device/sim/topology.h"

namespace sonde::sim {

/// Tells the engine what each load of each block costs unloaded.
class LoadSource {
 public:
  virtual ~LoadSource() = default;
  virtual Load load(const CoreSite& site, std::int64_t block, std::int64_t index) const = 0;
};

/// Servers in front of which requests wait, first come first served.
class ServerPool {
 public:
  ServerPool(std::int64_t servers, Ticks service)
      : free_at_(static_cast<std::size_t>(servers), 0), service_(service) {}

  /// When a request that arrives now is served first; requests must come in order of arrival.
  Ticks admit(Ticks arrival);

  Ticks busy() const { return busy_; }
  std::int64_t served() const { return served_; }

 private:
  std::vector<Ticks> free_at_;
  Ticks service_;
  Ticks busy_ = 0;
  std::int64_t served_ = 0;
};

/// What a launch did. Times are ticks since its first block started.
struct Launch {
  Ticks elapsed = 0;             ///< first block start to last block end
  std::vector<int> core;         ///< of each block
  std::vector<Ticks> start;      ///< of each block
  std::vector<Ticks> end;        ///< of each block
  std::vector<Ticks> port_busy;  ///< service given by each group's port
  Ticks waited = 0;              ///< of all requests together, in front of the ports
};

/// Runs a launch load by load: each block has one load in flight (the loads depend on each other);
/// a load that misses the data cache waits for its group's port. Events in order of time, equal
/// times in order of core number, so the outcome is unique.
Launch run_launch(const Chip& chip, const Topology& topology, BlockScheduler scheduler,
                  std::int64_t blocks, std::int64_t loads, const LoadSource& source);

}  // namespace sonde::sim
