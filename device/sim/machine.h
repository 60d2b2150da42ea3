#pragma once

#include <cstdint>
#include <utility>

#include "device/device.h"
#include "device/sim/chip.h"
#include "device/sim/memory.h"
#include "device/sim/noise.h"
#include "device/sim/selector.h"
#include "device/sim/ticks.h"
#include "device/sim/topology.h"

namespace sonde::sim {

/// What the engines of one device share: the chip, its structure and modelled time.
struct Machine {
  Machine(Chip read, Selector selected)
      : chip(std::move(read)), selector(std::move(selected)), topology(chip), map(chip) {}

  /// Ends a run that takes `modelled` without noise: adds the noise and moves the clock past it,
  /// in whole nanoseconds so that a time stamp survives a file of decimal text.
  Ticks finish_run(const Trial& trial, Ticks modelled) {
    const Ticks elapsed =
        selector.noise ? with_noise(chip.noise, trial, now_ns, modelled) : modelled;
    now_ns += divide_up(elapsed + chip.idle_gap, kTicksPerNs);
    return elapsed;
  }

  Chip chip;
  Selector selector;
  Topology topology;
  AddressMap map;
  std::int64_t now_ns = 0;
};

}  // namespace sonde::sim
