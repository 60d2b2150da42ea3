#pragma once

#include <string>
#include <vector>

#include "harness/probe.h"

namespace sonde {

/// Settings of the C library's copy thresholds that `--vary-threshold` goes through, as in the
/// column `tunables`; the first is empty: as the loader sets them.
const std::vector<std::string>& threshold_settings();

/// Largest size worth copying under a setting, well beyond the threshold that it moves, and the
/// threshold; 0: it moves none.
std::int64_t largest_under(const std::string& tunables);
std::int64_t threshold_of(const std::string& tunables);

/// One sample of a copy by this program, started anew with GLIBC_TUNABLES: the loader reads them
/// before anything of the program runs. The child verifies the bytes as ever. Throws as measuring
/// here would: Skip and PointFailure with the child's reason.
Sample tuned_copy(const std::string& device, const CopyWork& work, const std::string& tunables);

}  // namespace sonde
