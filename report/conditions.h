#pragma once

#include <vector>

#include "report/analysis.h"

namespace sonde {

/// Rows of a profile by status. A point of a profile is a core with one row an address: to group
/// its hundreds of thousands of rows by their axes would cost more than to read them.
RowCounts count_profile_rows(const ProbeRows& profile, TimeSource source);

/// Medians of clock, power and temperature over the points, where rows have them.
void add_conditions(const GroupedRows& rows, std::vector<Condition>& conditions);

/// The same of a profile: every row of one repetition of a core has the same.
void add_profile_conditions(const ProbeRows& profile, TimeSource source,
                            std::vector<Condition>& conditions);

}  // namespace sonde
