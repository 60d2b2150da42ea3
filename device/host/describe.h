#pragma once

#include "core/description.h"
#include "device/host/machine.h"

namespace sonde::host {

/// The machine as a device: pure, so that a recorded machine can be described in a test.
DeviceDescription describe_machine(const Machine& machine);

}  // namespace sonde::host
