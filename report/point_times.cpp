#include "report/point_times.h"

#include <algorithm>
#include <map>

#include "core/samples.h"
#include "core/statistics.h"

namespace sonde {
namespace {

/// Time of one unit of work by row: what was asked may be the same while the number of loads is
/// not.
class UnitTime {
 public:
  UnitTime(const Schema& schema, const Rows& rows)
      : elapsed_(rows.numbers(schema.index("elapsed_s"))) {
    for (const char* units : {"loads", "exchanges", "moved_bytes"}) {
      const bool counted = std::any_of(schema.metrics.begin(), schema.metrics.end(),
                                       [&](const Column& column) { return column.name == units; });
      if (counted) units_ = &rows.integers(schema.index(units));
    }
  }
  std::optional<double> operator()(std::size_t row) const {
    const auto elapsed = elapsed_.at(row);
    if (!elapsed || *elapsed <= 0) return std::nullopt;
    if (units_ == nullptr) return elapsed;
    const auto count = units_->at(row);
    return count && *count > 0 ? std::optional(*elapsed / static_cast<double>(*count))
                               : std::nullopt;
  }

 private:
  const NumberColumn& elapsed_;
  const IntegerColumn* units_ = nullptr;  // null: a row is one unit
};

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
  const Rows& rows = probe.table->rows;
  const TextColumn& cores = rows.texts(schema.index("core"));
  const NumberColumn &latencies = rows.numbers(schema.index("latency_ns")),
                     &clocks = rows.numbers(schema.index("clock_mhz"));
  std::vector<PointTimes> points;
  std::vector<std::size_t> core_of;  // by point
  std::vector<bool> seen(cores.texts().size(), false);
  std::vector<std::map<std::int64_t, Visit>> visits(seen.size());  // by core, by repetition
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const std::size_t core = cores.code(i);
    if (!seen[core]) {
      const std::string& name = cores.at(i);
      points.push_back({name, "core " + name, {}, {}, {}});
      core_of.push_back(core);
      seen[core] = true;
    }
    const auto latency = latencies.at(i);
    if (!rows.usable(i, source) || !latency || *latency <= 0) continue;
    Visit& visit = visits[core]
                       .try_emplace(rows.repetitions()[i], Visit{rows.orders()[i], {}, {}})
                       .first->second;
    visit.latencies.push_back(*latency * 1e-9);
    if (!visit.clock) visit.clock = clocks.at(i);
  }
  for (std::size_t p = 0; p < points.size(); ++p) {
    PointTimes& point = points[p];
    std::vector<const Visit*> in_order;
    for (const auto& [repetition, visit] : visits[core_of[p]]) in_order.push_back(&visit);
    std::stable_sort(in_order.begin(), in_order.end(),
                     [](const Visit* a, const Visit* b) { return a->order < b->order; });
    for (const Visit* visit : in_order) add(point, *median(visit->latencies), visit->clock);
  }
  return points;
}

/// Clocks that not every sample has say nothing.
std::vector<PointTimes> checked(std::vector<PointTimes> points) {
  for (PointTimes& point : points) {
    if (point.cycles.size() != point.time.size()) point.cycles.clear();
  }
  return points;
}

}  // namespace

std::vector<PointTimes> point_times(const GroupedRows& grouped) {
  std::vector<PointTimes> points;
  const UnitTime unit_time(*grouped.schema, *grouped.rows);
  const NumberColumn& clocks = grouped.rows->numbers(grouped.schema->index("clock_mhz"));
  for (const PointRows& rows : grouped.points) {
    PointTimes point;
    for (std::size_t i = 0; i < grouped.schema->axes.size(); ++i) {
      const std::string cell = format_cell(whole_cell(rows.first.cell(i)));
      point.key += cell + '\x1f';
      if (cell.empty()) continue;
      point.label += (point.label.empty() ? "" : ", ") + grouped.schema->axes[i].name + " " + cell;
    }
    for (std::uint32_t row : rows.ok) {
      if (const auto time = unit_time(row)) add(point, *time, clocks.at(row));
    }
    points.push_back(std::move(point));
  }
  return checked(std::move(points));
}

std::vector<PointTimes> point_times(const ProbeRows& probe, TimeSource source) {
  return probe.schema == &profile_schema() ? checked(profile_times(probe, source))
                                           : point_times(group_rows(probe, source));
}

}  // namespace sonde
