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
  const std::size_t core = profile.schema->index("core");
  RowCounts counts;
  std::map<std::int64_t, const Row*> empty;  // by point: the row that names its core
  std::set<std::int64_t> used;
  for (const Row& row : profile.table->rows) {
    if (row.status == Status::ok && row.time_source == source) {
      ++counts.ok;
      counts.held_up += held_up(*profile.schema, row);
      used.insert(row.point);
      continue;
    }
    empty.emplace(row.point, &row);
    if (row.status == Status::ok) {
      ++counts.other_clock;
      continue;
    }
    ++(row.status == Status::throttled ? counts.throttled
       : row.status == Status::skipped ? counts.skipped
                                       : counts.failed);
    ++counts.reasons[std::string(to_string(row.status)) + ": " +
                     (row.reason.empty() ? "no reason given" : row.reason)];
  }
  for (const auto& [point, row] : empty) {
    if (!used.contains(point)) {
      counts.empty_points.push_back("core " + format_cell(row->values[core]));
    }
  }
  return counts;
}

void add_profile_conditions(const ProbeRows& profile, TimeSource source,
                            std::vector<Condition>& conditions) {
  ProbeRows thin{profile.schema, profile.file, Table{}, {}};
  const std::size_t address = profile.schema->index("address_index");
  const Row* before = nullptr;
  for (const Row& row : profile.table->rows) {
    if (before != nullptr && before->point == row.point && before->repetition == row.repetition) {
      continue;
    }
    before = &row;
    thin.table->rows.push_back(row);
    thin.table->rows.back().values[address] = Cell();  // one point a core, whichever came first
  }
  add_conditions(group_rows(thin, source), conditions);
}

}  // namespace sonde
