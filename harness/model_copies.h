#pragma once

#include <string>

#include "harness/model_runs.h"

namespace sonde {

/// Comparisons of the quick copy runs of two devices. Each throws NoValue when a run lacks rows.

/// Smallest ratio, device over peer, of `metric` (bandwidth or utilisation) over the small sizes
/// that both have: up to 256 KiB, below the published switch of 400,000 B.
double small_copy_ratio(const ModelRuns& runs, const std::string& device, const std::string& peer,
                        const std::string& metric);

/// Utilisation (read plus write over the datasheet's memory bandwidth) at the largest size, less
/// that of the peer.
double large_copy_difference(const ModelRuns& runs, const std::string& device,
                             const std::string& peer);

/// Bandwidth falls behind the switch and rises again: the smaller of before/behind and later/behind
/// where behind is the first size beyond `switch_text` bytes and later the largest.
double copy_dip(const ModelRuns& runs, const std::string& device, const std::string& switch_text);

}  // namespace sonde
