#include "report/conditions.h"

#include <algorithm>
#include <map>
#include <set>

namespace sonde {

void add_conditions(const GroupedRows& rows, std::vector<Condition>& conditions) {
  const std::pair<const char*, const char*> metrics[] = {
      {"clock_mhz", "MHz"}, {"power_w", "W"}, {"temperature_c", "degC"}};
  for (const auto& [metric, unit] : metrics) {
    const bool known =
        std::any_of(rows.schema->metrics.begin(), rows.schema->metrics.end(),
                    [name = metric](const Column& column) { return column.name == name; });
    if (!known) continue;
    const Estimate value = overall(rows, metric);
    if (value.value) conditions.push_back({rows.schema->probe, metric, unit, value});
  }
}

RowCounts count_profile_rows(const ProbeRows& profile, TimeSource source) {
  const Rows& rows = profile.table->rows;
  const HeldUp held_up(*profile.schema, rows);
  RowCounts counts;
  std::map<std::int64_t, std::size_t> empty;  // by point: the row that names its core
  std::set<std::int64_t> used;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const std::int64_t point = rows.points()[i];
    if (rows.usable(i, source)) {
      ++counts.ok;
      counts.held_up += held_up(i);
      used.insert(point);
      continue;
    }
    empty.emplace(point, i);
    if (rows.status(i) == Status::ok) {
      ++counts.other_clock;
    } else {
      count_unusable(rows, i, counts);
    }
  }
  for (const auto& [point, row] : empty) {
    if (!used.contains(point)) {
      counts.empty_points.push_back("core " + rows[row].text(*profile.schema, "core"));
    }
  }
  return counts;
}

void add_profile_conditions(const ProbeRows& profile, TimeSource source,
                            std::vector<Condition>& conditions) {
  // All addresses of a visit have its clock; whichever came first, a core is one point.
  ProbeRows thin{profile.schema, profile.file, Table(*profile.schema), {}};
  const Rows& rows = profile.table->rows;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const bool same = i > 0 && rows.points()[i] == rows.points()[i - 1] &&
                      rows.repetitions()[i] == rows.repetitions()[i - 1];
    if (!same) thin.table->rows.add(rows[i].whole());
  }
  add_conditions(group_rows(thin, source, "address_index"), conditions);
}

}  // namespace sonde
