#pragma once

#include <vector>

#include "device/host/machine.h"
#include "device/registry.h"

namespace sonde::host {

/// What of this machine's state makes its numbers worse, each with what would mend it.
std::vector<HealthCheck> machine_health(const Machine& machine);

}  // namespace sonde::host
