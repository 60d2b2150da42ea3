#pragma once

#include <memory>
#include <string>

#include "device/device.h"
#include "device/sim/chip.h"
#include "device/sim/selector.h"

namespace sonde::sim {

/// The device that a chip makes; `text` is what follows `sim:` in its name.
std::unique_ptr<Device> make_simulated(Chip chip, Selector selector, const std::string& text);

}  // namespace sonde::sim
