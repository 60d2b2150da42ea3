#include "core/samples.h"

#include <algorithm>
#include <unordered_map>

namespace sonde {
namespace {

std::string point_label(const Schema& schema, const Row& row) {
  std::string label;
  for (std::size_t i = 0; i < schema.axes.size(); ++i) {
    if (i > 0) label += ", ";
    label += schema.axes[i].name + " " + format_cell(row.values[i]);
  }
  return label;
}

/// A metric of one point, in the order taken; rows without it left out.
std::vector<double> values_of(const GroupedRows& rows, const PointRows& point,
                              const std::string& metric) {
  std::vector<double> values;
  for (const Row* row : point.ok) {
    if (const auto value = row->number(*rows.schema, metric)) values.push_back(*value);
  }
  return values;
}

}  // namespace

std::optional<double> CurvePoint::spread() const {
  const std::optional<double> deviation = robust_deviation(samples);
  if (!deviation || !y.value || *y.value <= 0) return std::nullopt;
  return *deviation / *y.value;
}

void sort_by_x(Curve& curve) {
  std::stable_sort(curve.begin(), curve.end(),
                   [](const CurvePoint& a, const CurvePoint& b) { return a.x < b.x; });
}

bool held_up(const Schema& schema, const Row& row) {
  const auto waited = row.number(schema, "waited_s"), end = row.number(schema, "end_s");
  return waited && end && row.start_s && *end > *row.start_s &&
         *waited > kHeldUpShare * (*end - *row.start_s);
}

GroupedRows group_rows(const ProbeRows& probe, TimeSource source) {
  const Schema& schema = *probe.schema;
  GroupedRows grouped{&schema, {}, {}};
  std::unordered_map<std::string, std::size_t> position;
  std::string key;
  for (const Row& row : probe.table->rows) {
    key.clear();
    for (std::size_t i = 0; i < schema.axes.size(); ++i) {
      key += format_cell(row.values[i]);
      key += '\x1f';
    }
    const auto [entry, fresh] = position.try_emplace(key, grouped.points.size());
    if (fresh) grouped.points.push_back({&row, {}});
    RowCounts& counts = grouped.counts;
    const auto give_reason = [&] {
      ++counts.reasons[std::string(to_string(row.status)) + ": " +
                       (row.reason.empty() ? "no reason given" : row.reason)];
    };
    switch (row.status) {
      case Status::ok:
        if (row.time_source != source) {
          ++counts.other_clock;
        } else {
          ++counts.ok;
          counts.held_up += held_up(schema, row);
          grouped.points[entry->second].ok.push_back(&row);
        }
        break;
      case Status::throttled:
        ++counts.throttled;
        give_reason();
        break;
      case Status::skipped:
        ++counts.skipped;
        give_reason();
        break;
      case Status::failed:
        ++counts.failed;
        give_reason();
        break;
    }
  }
  for (PointRows& point : grouped.points) {
    std::stable_sort(point.ok.begin(), point.ok.end(),
                     [](const Row* a, const Row* b) { return a->order < b->order; });
    if (point.ok.empty()) grouped.counts.empty_points.push_back(point_label(schema, *point.first));
  }
  return grouped;
}

bool stopped_adaptively(const Manifest& manifest, const std::string& probe) {
  const Step* step = manifest.step(probe);
  return step == nullptr || step->adaptive;
}

Sampling sampling_of(const Manifest& manifest, const GroupedRows& rows) {
  std::vector<std::vector<double>> times;
  for (const PointRows& point : rows.points) times.push_back(values_of(rows, point, "elapsed_s"));
  return {.adaptive = stopped_adaptively(manifest, rows.schema->probe),
          .drift = measure_drift(times)};
}

std::optional<CurvePoint> curve_point(const GroupedRows& rows, const PointRows& point, double x,
                                      const std::string& metric, const Sampling& sampling) {
  CurvePoint result{.x = x, .y = {}, .samples = values_of(rows, point, metric)};
  if (result.samples.empty()) return std::nullopt;
  result.y = estimate_median(result.samples, sampling);
  return result;
}

Estimate overall(const GroupedRows& rows, const std::string& metric) {
  std::vector<double> middles;
  Estimate result;
  for (const PointRows& point : rows.points) {
    if (const auto middle = median(values_of(rows, point, metric))) middles.push_back(*middle);
  }
  result.n = static_cast<std::int64_t>(middles.size());
  result.value = median(middles);
  result.interval = median_interval(middles);
  return result;
}

}  // namespace sonde
