#pragma once

#include <cstdint>

#include "device/sim/chip.h"
#include "device/sim/selector.h"

namespace sonde::sim {

/// Draws a chip: 8 to 1,024 cores, log-uniformly, on 1 to 8 dies, with or without a hop between
/// dies, groups of unequal size that share a port or none, any number of cores a subsystem, caches
/// and rates in the range of real parts, and core numbers that say nothing of a core's place.
/// `Structure::any` gives one chip in four whose cores share nothing; such a chip may have
/// distances that change smoothly from core to core, offsets of cores and drift instead.
///
/// What is drawn is written as the text of a chip file and read by parse_chip(), so that a drawn
/// chip obeys every rule of a file; what is not drawn is as on the 950PR_9579. A pure
/// function of its arguments, integers only: the same chip on every machine. Its `parameters` are
/// empty: what was drawn is there to be found.
Chip random_chip(std::uint64_t seed, Selector::Structure structure);

}  // namespace sonde::sim
