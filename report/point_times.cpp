#include "report/point_times.h"

#include <algorithm>
#include <map>

#include "core/samples.h"
#include "core/statistics.h"

namespace sonde {
namespace {

/// Time of one unit of work: what was asked may be the same while the number of loads is not.
std::optional<double> unit_time(const Schema& schema, const Row& row) {
  const auto elapsed = row.number(schema, "elapsed_s");
  if (!elapsed || *elapsed <= 0) return std::nullopt;
  for (const char* units : {"loads", "exchanges", "moved_bytes"}) {
    const bool counted = std::any_of(schema.metrics.begin(), schema.metrics.end(),
                                     [&](const Column& column) { return column.name == units; });
    if (!counted) continue;
    const auto count = row.integer(schema, units);
    return count && *count > 0 ? std::optional(*elapsed / static_cast<double>(*count))
                               : std::nullopt;
  }
  return elapsed;
}

void add(PointTimes& point, double time, const std::optional<double>& clock) {
  point.time.push_back(time);
  if (clock && *clock > 0) {
    point.clock_mhz.push_back(*clock);
    point.cycles.push_back(time * *clock * 1e6);
  }
}

std::vector<PointTimes> profile_times(const ProbeRows& probe, TimeSource source) {
  const Schema& schema = *probe.schema;
  struct Visit {
    std::int64_t order = 0;
    std::vector<double> latencies;
    std::optional<double> clock;
  };
  std::vector<PointTimes> points;
  std::map<std::string, std::map<std::int64_t, Visit>> visits;  // by core and repetition
  for (const Row& row : probe.table->rows) {
    const std::string core = row.text(schema, "core");
    if (!visits.contains(core)) points.push_back({core, "core " + core, {}, {}, {}});
    auto& of_core = visits[core];
    if (row.status != Status::ok || row.time_source != source) continue;
    const auto latency = row.number(schema, "latency_ns");
    if (!latency || *latency <= 0) continue;
    Visit& visit = of_core.try_emplace(row.repetition, Visit{row.order, {}, {}}).first->second;
    visit.latencies.push_back(*latency * 1e-9);
    if (!visit.clock) visit.clock = row.number(schema, "clock_mhz");
  }
  for (PointTimes& point : points) {
    std::vector<const Visit*> in_order;
    for (const auto& [repetition, visit] : visits[point.key]) in_order.push_back(&visit);
    std::stable_sort(in_order.begin(), in_order.end(),
                     [](const Visit* a, const Visit* b) { return a->order < b->order; });
    for (const Visit* visit : in_order) add(point, *median(visit->latencies), visit->clock);
  }
  return points;
}

}  // namespace

std::vector<PointTimes> point_times(const ProbeRows& probe, TimeSource source) {
  std::vector<PointTimes> points;
  if (probe.schema == &profile_schema()) {
    points = profile_times(probe, source);
  } else {
    const GroupedRows grouped = group_rows(probe, source);
    for (const PointRows& rows : grouped.points) {
      PointTimes point;
      for (std::size_t i = 0; i < grouped.schema->axes.size(); ++i) {
        const std::string cell = format_cell(rows.first->values[i]);
        point.key += cell + '\x1f';
        if (cell.empty()) continue;
        point.label +=
            (point.label.empty() ? "" : ", ") + grouped.schema->axes[i].name + " " + cell;
      }
      for (const Row* row : rows.ok) {
        if (const auto time = unit_time(*grouped.schema, *row)) {
          add(point, *time, row->number(*grouped.schema, "clock_mhz"));
        }
      }
      points.push_back(std::move(point));
    }
  }
  for (PointTimes& point : points) {
    if (point.cycles.size() != point.time.size()) point.cycles.clear();
  }
  return points;
}

}  // namespace sonde
