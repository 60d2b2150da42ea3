#pragma once

#include <string>
#include <vector>

#include "core/error.h"

namespace sonde {

/// `sonde campaign`: one child process a step, so that a crash costs one step; a finished step with
/// the same options is not run again; then the report. Prints the path of index.html.
ExitCode run_campaign(const std::vector<std::string>& arguments);

/// `sonde devices`: every device usable here, and each backend without one, with the reason.
ExitCode run_devices(const std::vector<std::string>& arguments);

}  // namespace sonde
