#pragma once

#include <string>
#include <vector>

#include "core/stored_run.h"
#include "report/compare.h"

namespace sonde {

RunSide run_side(const StoredRun& run);

/// What differs between two runs before any row is looked at: device, clock, cores, seed, version,
/// build, conditions, and the options of steps that both have. One line each.
std::vector<std::string> differences_between(const StoredRun& a, const StoredRun& b);

/// What a reader of rows should know: files that were refused, rows left out, pictures that are
/// older than the rows they show. One line each.
std::vector<std::string> reading_notes(const std::vector<const StoredRun*>& runs);

}  // namespace sonde
