#include "report/copy_series.h"

#include <algorithm>
#include <tuple>

namespace sonde {
bool CopySeries::same_but_tunables(const CopySeries& other) const {
  return direction == other.direction && method == other.method && alignment == other.alignment &&
         state == other.state && cores == other.cores;
}

CopyAnalysis analyse_copies(const GroupedRows& rows, const Manifest& manifest) {
  const Schema& schema = *rows.schema;
  const Sampling sampling = sampling_of(manifest, rows);
  const bool real = manifest.device.time_source != TimeSource::modelled;
  CopyAnalysis result;
  for (const PointRows& point : rows.points) {
    const RowView& row = point.first;
    const auto bytes = static_cast<double>(row.integer(schema, "bytes").value_or(0));
    auto at = curve_point(rows, point, bytes, "elapsed_s", sampling);
    if (!at) continue;
    const std::string direction = row.text(schema, "direction");
    const std::string method = row.text(schema, "method");
    const std::string alignment = row.text(schema, "alignment_bytes");
    CopySeries own{direction,
                   method,
                   alignment,
                   row.text(schema, "state"),
                   row.text(schema, "cores"),
                   row.text(schema, "tunables")};
    auto series =
        std::find_if(result.series.begin(), result.series.end(), [&](const CopySeries& s) {
          return s.same_but_tunables(own) && s.tunables == own.tunables;
        });
    if (series == result.series.end()) {
      result.series.push_back(std::move(own));
      series = result.series.end() - 1;
    }
    series->time.push_back(std::move(*at));
  }
  // Directions in the device's order, its own choice of method first.
  const auto rank = [&](const CopySeries& series) {
    std::size_t direction = 0;
    for (; direction < manifest.device.copies.size(); ++direction) {
      if (manifest.device.copies[direction].direction == series.direction) break;
    }
    return std::make_tuple(direction, series.direction, series.method != "auto", series.method);
  };
  std::stable_sort(result.series.begin(), result.series.end(),
                   [&](const CopySeries& a, const CopySeries& b) { return rank(a) < rank(b); });
  for (CopySeries& series : result.series) {
    sort_by_x(series.time);
    // All levels but the last, which is the memory itself; rotated buffers are in none of them.
    std::vector<double> capacities;
    // With a moved threshold the question is what moved, and it may have moved onto such a level.
    const bool apply = series.state == "warm" && series.tunables.empty();
    for (std::size_t i = 0; apply && i + 1 < manifest.device.memory.size(); ++i) {
      if (const auto bytes = manifest.device.memory[i].capacity_bytes) {
        capacities.push_back(static_cast<double>(*bytes));
      }
    }
    series.shape = analyse_copy(series.time, real, capacities);
  }
  for (CopySeries& usual : result.series) {
    if (!usual.tunables.empty()) continue;
    std::vector<TunedShape> tuned;
    for (const CopySeries& other : result.series) {
      if (other.tunables.empty() || !other.same_but_tunables(usual)) continue;
      tuned.push_back({other.tunables, other.time.front().x, other.time.back().x, &other.shape});
    }
    if (!tuned.empty()) usual.thresholds = judge_thresholds(usual.shape, tuned);
  }
  return result;
}

std::vector<const CopySeries*> CopyAnalysis::main_series() const {
  std::vector<const CopySeries*> chosen;
  for (const CopySeries& one : series) {
    if (one.method != "auto" || !one.tunables.empty()) continue;
    const auto same = std::find_if(chosen.begin(), chosen.end(), [&](const CopySeries* other) {
      return other->direction == one.direction;
    });
    if (same == chosen.end()) {
      chosen.push_back(&one);
    } else if (one.time.size() > (*same)->time.size()) {
      *same = &one;
    }
  }
  return chosen;
}

}  // namespace sonde
