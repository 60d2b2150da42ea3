#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "core/stored_run.h"

namespace sonde {

/// Text of inputs.json, which lies beside the pictures: of each file that they were made from its
/// size and CRC-32, unpacked. So it is told by content whether rows came later: copying, packing or
/// renaming a run changes nothing.
std::string inputs_json(const std::vector<const StoredRun*>& runs);

/// Probes whose rows are not those that the report in `dir` was made from: changed, new or gone.
/// nullopt: the report does not say what it was made from, or there is none, or it shows several
/// runs.
std::optional<std::vector<std::string>> changed_since(const std::filesystem::path& dir,
                                                      const StoredRun& run);

}  // namespace sonde
