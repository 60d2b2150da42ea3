#pragma once

#include <vector>

#include "report/analysis.h"
#include "report/heat_map.h"

namespace sonde {

/// What each cell of a map of hand-offs of that kind stands on: the interval of its median and its
/// samples. Empty without rows.
std::vector<HeatDetail> handoff_details(const RunAnalysis& analysis, const std::string& kind,
                                        const HeatMap& map);

/// The same of slow-downs by one aggressor alone: low is the low end beside it over the high end of
/// the victim alone, so the interval holds both medians' own. Empty for a design of subsets, whose
/// cells are no medians.
std::vector<HeatDetail> interfere_details(const RunAnalysis& analysis, const Contention& kind,
                                          const HeatMap& map);

}  // namespace sonde
