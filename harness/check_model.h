#pragma once

#include <string>
#include <vector>

#include "core/error.h"

namespace sonde {

/// `sonde check-model`: published figures against what the probes measure on a simulated chip and,
/// where a figure compares chips, on its peers; one line a comparison. Exit 1 when one that can
/// fail is outside its tolerance or has no value, 2 for a device that is not simulated.
ExitCode run_check_model(const std::vector<std::string>& arguments);

}  // namespace sonde
