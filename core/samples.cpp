#include "core/samples.h"

#include <algorithm>

#include "core/key_index.h"

namespace sonde {
namespace {

std::string point_label(const Schema& schema, const RowView& row) {
  std::string label;
  for (std::size_t i = 0; i < schema.axes.size(); ++i) {
    if (i > 0) label += ", ";
    label += schema.axes[i].name + " " + format_cell(whole_cell(row.cell(i)));
  }
  return label;
}

/// Calls `use` with the number in each filled cell of a column of numbers or whole numbers.
void each_number(const Rows& rows, std::size_t column, CellType type,
                 const std::vector<std::uint32_t>& positions, const auto& use) {
  if (type == CellType::integer) {
    const IntegerColumn& cells = rows.integers(column);
    for (std::uint32_t row : positions) {
      if (cells.filled(row)) use(static_cast<double>(cells.value(row)));
    }
  } else if (type == CellType::number) {
    const NumberColumn& cells = rows.numbers(column);
    for (std::uint32_t row : positions) {
      if (const auto number = cells.at(row)) use(*number);
    }
  }
}

}  // namespace

std::vector<double> values_of(const GroupedRows& rows, const PointRows& point,
                              const std::string& metric) {
  const std::size_t column = rows.schema->index(metric);
  std::vector<double> values;
  values.reserve(point.ok.size());
  each_number(*rows.rows, column, rows.schema->column(column).type, point.ok,
              [&](double value) { values.push_back(value); });
  return values;
}

std::optional<double> CurvePoint::spread() const {
  const std::optional<double> deviation = robust_deviation(samples);
  if (!deviation || !y.value || *y.value <= 0) return std::nullopt;
  return *deviation / *y.value;
}

void sort_by_x(Curve& curve) {
  std::stable_sort(curve.begin(), curve.end(),
                   [](const CurvePoint& a, const CurvePoint& b) { return a.x < b.x; });
}

HeldUp::HeldUp(const Schema& schema, const Rows& rows)
    : rows_(rows),
      waited_(rows.numbers(schema.index("waited_s"))),
      end_(rows.numbers(schema.index("end_s"))) {}

bool HeldUp::operator()(std::size_t row) const {
  // A cell that is empty is NaN and compares as false.
  const double took = end_.value(row) - rows_.starts().value(row);
  return took > 0 && waited_.value(row) > kHeldUpShare * took;
}

void count_unusable(const Rows& rows, std::size_t row, RowCounts& counts) {
  const Status status = rows.status(row);
  ++(status == Status::throttled ? counts.throttled
     : status == Status::skipped ? counts.skipped
                                 : counts.failed);
  const std::string& reason = rows.reasons().at(row);
  ++counts.reasons[std::string(to_string(status)) + ": " +
                   (reason.empty() ? "no reason given" : reason)];
}

GroupedRows group_rows(const ProbeRows& probe, TimeSource source, const std::string& without) {
  const Schema& schema = *probe.schema;
  const Rows& rows = probe.table->rows;
  GroupedRows grouped{&schema, &rows, {}, {}};
  std::vector<std::size_t> axes;  // those that tell points apart
  for (std::size_t i = 0; i < schema.axes.size() && !rows.empty(); ++i) {
    if (schema.axes[i].name != without && !rows.all_equal(i)) axes.push_back(i);
  }
  std::vector<std::int64_t> key;
  const auto key_of_row = [&](std::size_t row, std::vector<std::int64_t>& into) {
    into.clear();
    for (std::size_t i : axes) {
      const auto [value, filled] = rows.key(i, row);
      into.push_back(value);
      into.push_back(filled);
    }
  };
  const auto key_of_point = [&](std::size_t point, std::vector<std::int64_t>& into) {
    key_of_row(grouped.points[point].first.index(), into);
  };
  KeyIndex<decltype(key_of_point)> index(key_of_point);
  const HeldUp held_up(schema, rows);
  RowCounts& counts = grouped.counts;
  for (std::size_t row = 0; row < rows.size(); ++row) {
    key_of_row(row, key);
    const std::optional<std::size_t> known = index.find_or_add(key, grouped.points.size());
    if (!known) grouped.points.push_back({rows[row], {}});
    PointRows& point = known ? grouped.points[*known] : grouped.points.back();
    if (rows.status(row) != Status::ok) {
      count_unusable(rows, row, counts);
    } else if (rows.time_source(row) != source) {
      ++counts.other_clock;
    } else {
      ++counts.ok;
      counts.held_up += held_up(row);
      point.ok.push_back(static_cast<std::uint32_t>(row));
    }
  }
  const Integers& orders = rows.orders();
  for (PointRows& point : grouped.points) {
    std::stable_sort(point.ok.begin(), point.ok.end(),
                     [&](std::uint32_t a, std::uint32_t b) { return orders[a] < orders[b]; });
    if (point.ok.empty()) counts.empty_points.push_back(point_label(schema, point.first));
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
