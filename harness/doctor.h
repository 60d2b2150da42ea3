#pragma once

#include <string>
#include <vector>

#include "core/error.h"
#include "core/files.h"
#include "device/registry.h"

namespace sonde {

/// Programs that the suite or its user may need, looked for below `root` in the folders of `path`.
std::vector<HealthCheck> check_tools(const FileRoot& root, const std::string& path);

/// Whether a GPU's driver and compiler are there.
std::vector<HealthCheck> check_gpu(const FileRoot& root, const std::string& path);

/// `sonde doctor`: what is installed, what is missing, what makes numbers worse, each with the fix.
/// Exit 1 when something that is needed is missing.
ExitCode run_doctor(const std::vector<std::string>& arguments);

}  // namespace sonde
