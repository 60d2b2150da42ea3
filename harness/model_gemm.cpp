#include "harness/model_gemm.h"

#include <algorithm>
#include <map>

#include "core/error.h"
#include "core/statistics.h"

namespace sonde {
namespace {

using Weighted = std::pair<double, double>;  ///< a value and its weight, the time of its shape

double statistic_of(const std::vector<Weighted>& values, const std::string& statistic) {
  if (values.empty()) throw NoValue("no shape to take the " + statistic + " of");
  std::vector<double> plain;
  double sum = 0, weights = 0, weighted = 0;
  for (const auto& [value, weight] : values) {
    plain.push_back(value);
    sum += value;
    weights += weight;
    weighted += value * weight;
  }
  if (statistic == "mean") return sum / static_cast<double>(values.size());
  if (statistic == "median") return *median(plain);
  if (statistic == "time_weighted") return weighted / weights;
  throw UsageError("comparisons.csv: '" + statistic + "' is none of mean, median, time_weighted");
}

double ridge_of(const ModelRuns& runs, const std::string& device) {
  return roof_of(runs, device, "", "bf16_flop_per_s") /
         roof_of(runs, device, "", "memory_bytes_per_s");
}

ModelValue busy_median(const ModelRuns& runs, const std::string& device,
                       std::optional<double> SweptShape::*metric, const std::string& unit) {
  const double ridge = ridge_of(runs, device);
  std::vector<double> values;
  for (const SweptShape& shape : swept_shapes(runs, device)) {
    if (shape.intensity >= ridge && shape.*metric) values.push_back(*(shape.*metric));
  }
  const auto value = median(values);
  if (!value) throw NoValue("no shape above the ridge of " + device + " has a value in " + unit);
  return {*value, unit};
}

}  // namespace

double roof_of(const ModelRuns& runs, const std::string& device, const std::string& command,
               const std::string& name) {
  const auto roof = runs.stored(device, command).manifest.device.roof(name);
  if (!roof) throw NoValue(device + " names no roof " + name);
  return *roof;
}

std::vector<SweptShape> swept_shapes(const ModelRuns& runs, const std::string& device) {
  const auto times = runs.medians(device, "", "gemm", "elapsed_s");
  // A point has the same first row in every call: its number tells which shape it is.
  std::map<std::size_t, double> clocks, powers;
  for (const auto& [metric, into] : {std::pair{"clock_mhz", &clocks}, {"power_w", &powers}}) {
    try {
      for (const auto& point : runs.medians(device, "", "gemm", metric)) {
        into->emplace(point.axes.index(), point.value);
      }
    } catch (const NoValue&) {  // a device without that sensor
    }
  }
  const auto known = [](const std::map<std::size_t, double>& values, const RowView& row) {
    const auto found = values.find(row.index());
    return found == values.end() ? std::nullopt : std::optional(found->second);
  };
  const Schema& schema = gemm_schema();
  std::vector<SweptShape> shapes;
  for (const auto& [row, seconds] : times) {
    if (!row.text(schema, "role").empty()) continue;  // a roof or an anchor
    SweptShape shape;
    shape.size = {row.integer(schema, "m").value(), row.integer(schema, "n").value(),
                  row.integer(schema, "k").value()};
    shape.flop = row.number(schema, "flop").value();
    shape.intensity = row.number(schema, "intensity_flop_per_byte").value();
    shape.seconds = seconds;
    shape.clock_mhz = known(clocks, row);
    shape.power_w = known(powers, row);
    shapes.push_back(shape);
  }
  return shapes;
}

double aggregate_rate(const std::vector<SweptShape>& shapes) {
  double flop = 0, seconds = 0;
  for (const SweptShape& shape : shapes) {
    flop += shape.flop;
    seconds += shape.seconds;
  }
  return flop / seconds;
}

double speed_ratio(const std::vector<SweptShape>& of, const std::vector<SweptShape>& over,
                   const std::string& statistic) {
  std::map<decltype(SweptShape::size), double> seconds;
  for (const SweptShape& shape : over) seconds.emplace(shape.size, shape.seconds);
  std::vector<Weighted> ratios;
  for (const SweptShape& shape : of) {
    const auto found = seconds.find(shape.size);
    if (found == seconds.end()) continue;
    // Weighted by the time of `of`, the mean ratio is the ratio of the times of all shapes.
    ratios.emplace_back(found->second / shape.seconds, shape.seconds);
  }
  return statistic_of(ratios, statistic);
}

double below_ridge_fraction(const ModelRuns& runs, const std::string& device,
                            const std::string& statistic, const std::string& roof) {
  const double peak = roof_of(runs, device, "", "bf16_flop_per_s");
  const double bandwidth = roof_of(runs, device, "", "memory_bytes_per_s");
  const std::vector<SweptShape> shapes = swept_shapes(runs, device);
  double fastest_mhz = 0;
  for (const SweptShape& shape : shapes) {
    fastest_mhz = std::max(fastest_mhz, shape.clock_mhz.value_or(0));
  }
  std::vector<Weighted> fractions;
  for (const SweptShape& shape : shapes) {
    if (shape.intensity >= peak / bandwidth) continue;
    double reached_peak = peak;
    if (roof != "reference_clock") {
      if (roof != "sampled_clock") {
        throw UsageError("comparisons.csv: '" + roof +
                         "' is none of reference_clock and sampled_clock");
      }
      if (!shape.clock_mhz) continue;
      reached_peak *= *shape.clock_mhz / fastest_mhz;
    }
    const double attainable = std::min(reached_peak, shape.intensity * bandwidth);
    fractions.emplace_back(shape.rate() / attainable, shape.seconds);
  }
  return statistic_of(fractions, statistic);
}

ModelValue busy_power(const ModelRuns& runs, const std::string& device) {
  return busy_median(runs, device, &SweptShape::power_w, "W");
}

ModelValue busy_clock(const ModelRuns& runs, const std::string& device) {
  return busy_median(runs, device, &SweptShape::clock_mhz, "MHz");
}

}  // namespace sonde
