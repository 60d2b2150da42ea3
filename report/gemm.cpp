#include "report/gemm.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "core/decide.h"
#include "core/error.h"
#include "core/rng.h"
#include "report/gemm_groups.h"
#include "report/gemm_judge.h"
#include "report/gemm_patterns.h"

namespace sonde {
namespace {

constexpr int kResamples = 1000;

/// Middle of values that may be reordered; the same as median() of core, without its copy.
double middle(std::vector<double>& values) {
  const auto half = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), half, values.end());
  if (values.size() % 2 == 1) return *half;
  return (*std::max_element(values.begin(), half) + *half) / 2;
}

struct Weighted {
  double fraction = 0;
  double time = 0;
};

double mean_of(const std::vector<Weighted>& shapes) {
  double sum = 0;
  for (const Weighted& shape : shapes) sum += shape.fraction;
  return sum / static_cast<double>(shapes.size());
}

double time_weighted_of(const std::vector<Weighted>& shapes) {
  double sum = 0, time = 0;
  for (const Weighted& shape : shapes) {
    sum += shape.fraction * shape.time;
    time += shape.time;
  }
  return sum / time;
}

double median_of(const std::vector<Weighted>& shapes) {
  std::vector<double> values;
  values.reserve(shapes.size());
  for (const Weighted& shape : shapes) values.push_back(shape.fraction);
  return middle(values);
}

/// Shapes of equal weight that a mean by these weights is worth.
double worth(const std::vector<double>& weights) {
  double sum = 0, squares = 0;
  for (const double weight : weights) {
    sum += weight;
    squares += weight * weight;
  }
  return sum * sum / squares;
}

/// A mean of few draws scatters more than its bootstrap does, which draws from those few, and its
/// scatter is known less well.
void widen_mean(Estimate& mean, double shapes) {
  if (!mean.interval) return;
  const double freedom = std::max(2.0, shapes - 1);
  constexpr double kTail = (1 - kConfidence) / 2;
  const double by =
      std::sqrt(1 + 1 / freedom) * student_above(kTail, freedom) / normal_above(kTail);
  mean.interval = Interval{*mean.value - by * (*mean.value - mean.interval->low),
                           *mean.value + by * (mean.interval->high - *mean.value)};
}

/// A statistic over the shapes with its percentile bootstrap over them.
Estimate over_shapes(const std::vector<Weighted>& shapes, std::uint64_t seed,
                     double (*statistic)(const std::vector<Weighted>&)) {
  Estimate result;
  result.n = static_cast<std::int64_t>(shapes.size());
  if (shapes.empty()) return result;
  result.value = statistic(shapes);
  if (result.n < kFewestSamples) return result;
  Rng rng(key_of({seed, shapes.size()}));
  std::vector<double> values(kResamples);
  std::vector<Weighted> drawn(shapes.size());
  for (double& value : values) {
    for (Weighted& one : drawn) one = shapes[static_cast<std::size_t>(rng.below(shapes.size()))];
    value = statistic(drawn);
  }
  const double tail = (1 - kConfidence) / 2;
  result.interval = Interval{*quantile(values, tail), *quantile(values, 1 - tail)};
  return result;
}

std::optional<double> median_at(const GroupedRows& rows, const PointRows& point,
                                const char* metric) {
  return median(values_of(rows, point, metric));
}

void fill(GemmRoofline& line, const std::vector<GemmShape>& shapes, std::optional<double> clock,
          std::uint64_t seed) {
  std::vector<Weighted> all, below, above, near, study;
  std::vector<Estimate> each;
  for (const GemmShape& shape : shapes) {
    line.fractions.emplace_back();
    double peak = line.peak;
    if (clock) {
      if (!shape.clock_mhz) continue;
      peak *= *shape.clock_mhz / *clock;
    }
    const double attainable = std::min(peak, shape.intensity * line.bandwidth);
    const Weighted one{shape.rate() / attainable, *shape.time.value};
    line.fractions.back() = one.fraction;
    each.push_back(rate_of(shape.flop / attainable, shape.time));
    // The best shape of a measured peak is 1 by definition; only rounding could put it above.
    if (one.fraction > 1 + 1e-9) ++line.above_roof;
    all.push_back(one);
    (shape.intensity < line.ridge() ? below : above).push_back(one);
    if (shape.intensity < kStudyRidge) study.push_back(one);
    if (shape.intensity * kNearRidge >= line.ridge() &&
        shape.intensity <= line.ridge() * kNearRidge) {
      near.push_back(one);
    }
  }
  line.mean = over_shapes(all, seed, mean_of);
  line.median = over_shapes(all, seed, median_of);
  line.time_weighted = over_shapes(all, seed, time_weighted_of);
  std::vector<double> times;
  times.reserve(all.size());
  for (const Weighted& one : all) times.push_back(one.time);
  widen_mean(line.mean, static_cast<double>(all.size()));
  widen_mean(line.time_weighted, worth(times));
  line.below_ridge = over_shapes(below, seed, median_of);
  line.above_ridge = over_shapes(above, seed, median_of);
  line.near_ridge = over_shapes(near, seed, median_of);
  line.below_236 = over_shapes(study, seed, median_of);
  line.best = largest_of(each);
}

std::int64_t cores_of(const std::string& placement) {
  try {
    return static_cast<std::int64_t>(parse_core_set(placement).size());
  } catch (const UsageError&) {
    return 0;  // a row that names none
  }
}

}  // namespace

double GemmShape::rate() const { return flop / *time.value; }

std::string GemmShape::name() const { return std::to_string(m) + "x" + weight(); }

std::string GemmShape::weight() const { return std::to_string(n) + "x" + std::to_string(k); }

std::string GemmShape::layer() const {
  const std::size_t degree = label.rfind(" tp");
  if (degree == std::string::npos || degree == 0) return "";
  const std::size_t before = label.rfind(' ', degree - 1);
  return before == std::string::npos ? "" : label.substr(before + 1, degree - before - 1);
}

std::string GemmShape::model() const {
  const std::string kind = layer();
  return kind.empty() ? "" : label.substr(0, label.rfind(" " + kind + " tp"));
}

const GemmRoofline* GemmAnalysis::roofline(const std::string& suffix) const {
  for (const GemmRoofline& line : rooflines) {
    if (line.suffix == suffix) return &line;
  }
  return nullptr;
}

const GemmRoofline* GemmAnalysis::main_roofline() const {
  const GemmRoofline* measured = roofline("");
  return measured != nullptr ? measured : roofline(".datasheet");
}

GemmAnalysis analyse_gemm(const GroupedRows& rows, const Manifest& manifest,
                          const std::optional<Estimate>& read_bandwidth) {
  const Schema& schema = *rows.schema;
  const Sampling sampling = sampling_of(manifest, rows);
  GemmAnalysis result;
  // Most points, the earlier on a tie: a second type or a forced kernel is a sweep of its own. So
  // is a sweep on other cores or with warm operands. Roofs and anchors are no shapes of it.
  constexpr const char* kWay[] = {"dtype", "blocks", "cores", "state", "kernel"};
  using Way = std::array<std::string, std::size(kWay)>;
  const auto way_of = [&](const PointRows& point) {
    Way way;
    for (std::size_t i = 0; i < way.size(); ++i) way[i] = point.first.text(schema, kWay[i]);
    return way;
  };
  const auto role_of = [&](const PointRows& point) { return point.first.text(schema, "role"); };
  Way chosen;
  std::map<Way, std::size_t> points;
  for (const PointRows& point : rows.points) points[way_of(point)] += role_of(point).empty();
  for (const PointRows& point : rows.points) {
    const Way way = way_of(point);
    if (points[way] <= result.planned) continue;
    result.planned = points[way];
    chosen = way;
  }
  result.dtype = chosen[0];
  result.state = chosen[3];
  result.kernel = chosen[4];

  std::vector<Estimate> rates;  // of the type, whatever kernel and role
  for (const PointRows& point : rows.points) {
    const Way way = way_of(point);
    if (way[1] != chosen[1] || way[2] != chosen[2]) continue;
    const auto whole = [&](const char* name) {
      return point.first.integer(schema, name).value_or(0);
    };
    GemmShape shape;
    shape.m = whole("m");
    shape.n = whole("n");
    shape.k = whole("k");
    shape.label = point.first.text(schema, "label");
    const auto time = curve_point(rows, point, 0, "elapsed_s", sampling);
    if (!time || !(*time->y.value > 0)) continue;
    const RowView sample = rows.row(point.ok.front());
    shape.flop = sample.number(schema, "flop").value_or(0);
    shape.intensity = sample.number(schema, "intensity_flop_per_byte").value_or(0);
    if (!(shape.flop > 0) || !(shape.intensity > 0)) continue;
    shape.time = time->y;
    const std::string role = role_of(point);
    if (role == "register") {
      const std::string note = sample.text(schema, "note");
      result.registers.push_back(
          {way[0], way[4], note.substr(0, note.find(',')), rate_of(shape.flop, shape.time)});
    }
    if (way[0] != result.dtype) continue;
    if (!result.peak.value || shape.rate() > *result.peak.value) {
      result.peak.value = shape.rate();
      result.peak_shape = shape.name() + (way[4] == "auto" ? "" : ", kernel " + way[4]);
    }
    rates.push_back(rate_of(shape.flop, shape.time));
    if (way != chosen) continue;
    if (role.rfind("anchor", 0) == 0) result.anchors.push_back(shape.time);
    if (!role.empty()) continue;
    shape.clock_mhz = median_at(rows, point, "clock_mhz");
    shape.power_w = median_at(rows, point, "power_w");
    for (double clock : values_of(rows, point, "clock_mhz")) {
      shape.highest_clock_mhz = std::max(clock, shape.highest_clock_mhz.value_or(0));
    }
    shape.cores = cores_of(sample.text(schema, "placement"));
    result.shapes.push_back(std::move(shape));
  }
  result.peak = largest_of(rates);
  if (result.shapes.empty()) return result;

  result.read_bandwidth = read_bandwidth;
  result.datasheet_peak = manifest.device.roof(result.dtype + "_flop_per_s");
  result.datasheet_bandwidth = manifest.device.roof("memory_bytes_per_s");
  if (const auto hertz = manifest.device.reference_clock_hz) {
    result.reference_clock_mhz = *hertz * 1e-6;
  }
  // What a modelled device shows was not measured.
  const bool modelled = manifest.device.time_source == TimeSource::modelled;
  const char* const found = modelled ? "modelled" : "measured";
  const auto add = [&](const char* name, const char* suffix, double peak, double bandwidth,
                       std::optional<double> clock) {
    if (!(peak > 0) || !(bandwidth > 0)) return;
    GemmRoofline line;
    line.name = name;
    line.suffix = suffix;
    line.peak = peak;
    line.bandwidth = bandwidth;
    fill(line, result.shapes, clock, manifest.seed);
    result.rooflines.push_back(std::move(line));
  };
  if (read_bandwidth && read_bandwidth->value) {
    add(found, "", *result.peak.value, *read_bandwidth->value, std::nullopt);
  } else {
    result.notes.push_back(
        std::string("No read bandwidth of the memory itself is known (stream, kind read, beyond "
                    "twice the last declared cache), so there is no ") +
        found + " roofline.");
  }
  if (result.datasheet_peak && result.datasheet_bandwidth) {
    add("datasheet", ".datasheet", *result.datasheet_peak, *result.datasheet_bandwidth,
        std::nullopt);
    const bool clocks = std::any_of(result.shapes.begin(), result.shapes.end(),
                                    [](const GemmShape& shape) { return shape.clock_mhz; });
    if (clocks && result.reference_clock_mhz && *result.reference_clock_mhz > 0) {
      add("datasheet at the sampled clock", ".sampled_clock", *result.datasheet_peak,
          *result.datasheet_bandwidth, result.reference_clock_mhz);
    }
  } else {
    result.notes.push_back("The manifest names no datasheet roof for " + result.dtype +
                           " and memory, so there is no datasheet roofline.");
  }
  judge_gemm(result, modelled);
  if (const GemmRoofline* line = result.main_roofline()) {
    result.groups = group_gemm(result.shapes, *line);
    result.patterns = find_gemm_patterns(result.shapes, *line, manifest.seed);
    result.worst = worst_gemm(result.shapes, *line, result.patterns);
  }
  return result;
}

}  // namespace sonde
