#pragma once

#include <cstdint>
#include <optional>
#include <utility>

#include "core/error.h"
#include "device/device.h"
#include "device/sim/chip.h"
#include "device/sim/memory.h"
#include "device/sim/noise.h"
#include "device/sim/selector.h"
#include "device/sim/ticks.h"
#include "device/sim/topology.h"

namespace sonde::sim {

/// What a run under a modelled load left for the next reading of the sensors.
struct LoadState {
  std::int64_t clock_khz = 0;
  std::int64_t power_mw = 0;
};

/// What the engines of one device share: the chip, its structure and modelled time.
struct Machine {
  Machine(Chip read, Selector selected)
      : chip(std::move(read)), selector(std::move(selected)), topology(chip), map(chip) {}

  bool corrupts() const { return selector.fault == Fault::corrupt; }

  /// Ends a run that takes `modelled` without noise: adds the noise and moves the clock past it.
  Ticks finish_run(const Trial& trial, Ticks modelled) {
    meet_fault(selector.fault, trial, now_ns);
    const Noisy noisy = with_noise(chip, selector, trial, now_ns, modelled);
    throttle_events += noisy.throttled;
    pass(noisy.elapsed);
    return noisy.elapsed;
  }

  /// Moves the clock past a run, in whole nanoseconds so that a time stamp survives a file of
  /// decimal text. What the sensors saw of an earlier run is gone.
  void pass(Ticks elapsed) {
    now_ns += divide_up(elapsed + chip.idle_gap, kTicksPerNs);
    load.reset();
  }

  /// Index into Topology::cores(). Throws Skip that says which cores there are.
  int core(const CoreName& name) const {
    const auto index = topology.find(name);
    if (!index) throw Skip("no core " + name.str() + ": " + topology.names());
    return *index;
  }
  const CoreSite& site(const CoreName& name) const {
    return topology.cores()[static_cast<std::size_t>(core(name))];
  }

  Chip chip;
  Selector selector;
  Topology topology;
  AddressMap map;
  std::int64_t now_ns = 0;
  std::optional<LoadState> load;     ///< of the last run, until it is read
  std::int64_t throttle_events = 0;  ///< episodes that runs met so far
};

}  // namespace sonde::sim
