#include "report/grade.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/samples.h"
#include "report/differences.h"
#include "report/point_times.h"

namespace sonde {
namespace {

/// A share beyond which a rule gives B, C and D; the last two may be out of reach.
struct Bounds {
  double b = 0, c = 2, d = 2;
};

/// docs/grade.md gives the reasons for each.
constexpr double kNarrow = 0.05;  ///< width of an interval over its median: what --confidence-width
                                  ///< asks for when it is not given
constexpr Bounds kWide{0.1, 0.3, 0.6};
constexpr Bounds kFailed{0, 0.01, 0.1};
constexpr Bounds kThrottled{0.01, 0.1, 0.5};
constexpr Bounds kHeldUp{0.05, 0.25, 0.75};
constexpr Bounds kWithout{0.1, 0.5};
constexpr Bounds kClock{0.05, 0.2};
constexpr Bounds kDrift{2, 4, 8};

class Judge {
 public:
  explicit Judge(ProbeGrade& grade) : grade_(grade) {}

  void give(char grade, const std::string& why) {
    if (grade == 'A') return;
    grade_.grade = std::max(grade_.grade, grade);
    grade_.reasons.push_back(std::string(1, grade) + ": " + why);
  }
  void by(double value, const Bounds& bounds, const std::string& why) {
    give(value > bounds.d ? 'D' : value > bounds.c ? 'C' : value > bounds.b ? 'B' : 'A', why);
  }

  const std::string& probe() const { return grade_.probe; }

 private:
  ProbeGrade& grade_;
};

double share(std::size_t part, std::size_t all) {
  return all == 0 ? 0 : static_cast<double>(part) / static_cast<double>(all);
}

std::string of(std::size_t part, std::size_t all, const char* what) {
  return fmt::format("{} of {} {}", part, all, what);
}

void judge_file(const StoredRun& run, const ProbeRows& probe, Judge& judge) {
  const Manifest& manifest = run.manifest;
  const bool real = manifest.device.time_source != TimeSource::modelled;
  if (real && manifest.build_preset != "measure") {
    judge.give('D', "built with preset " + manifest.build_preset + ", not measure");
  }
  const Step* step = manifest.step(probe.schema->probe);
  if (step == nullptr || step->state != "complete") {
    judge.give('C',
               step == nullptr ? "the manifest knows no such step" : "the step is " + step->state);
  }
  const Table& table = *probe.table;
  if (table.skipped > 0) judge.give('C', fmt::format("{} bad rows are left out", table.skipped));
  if (table.unprotected > 0) {
    judge.give('B', fmt::format("{} rows carry no check", table.unprotected));
  }
}

void judge_rows(const ProbeRows& probe, TimeSource source, Judge& judge) {
  std::size_t good = 0, throttled = 0, failed = 0, late = 0, foreign = 0;
  const Rows& rows = probe.table->rows;
  const HeldUp held_up(*probe.schema, rows);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    throttled += rows.status(i) == Status::throttled;
    failed += rows.status(i) == Status::failed;
    if (rows.status(i) != Status::ok) continue;
    ++good;
    foreign += rows.time_source(i) != source;
    late += held_up(i);
  }
  const std::size_t taken = good + throttled + failed;
  if (foreign > 0) judge.give('C', of(foreign, good, "rows are of another clock"));
  judge.by(share(failed, taken), kFailed, of(failed, taken, "rows failed, verification among it"));
  judge.by(share(throttled, taken), kThrottled, of(throttled, taken, "rows are throttled"));
  judge.by(share(late, good), kHeldUp, of(late, good, "rows waited for their cores"));
}

void judge_points(const std::vector<PointTimes>& points, const Manifest& manifest, Judge& judge) {
  std::vector<std::vector<double>> times;
  times.reserve(points.size());
  for (const PointTimes& point : points) times.push_back(point.time);
  const Sampling sampling{.adaptive = stopped_adaptively(manifest, judge.probe()),
                          .drift = measure_drift(times)};
  std::size_t without = 0, wide = 0, single = 0;
  std::vector<LogCentre> centres;
  std::vector<double> clocks;
  for (const PointTimes& point : points) {
    without += point.time.empty();
    single += point.time.size() == 1;
    const Estimate time = estimate_median(point.time, sampling);
    wide += !time.interval || time.interval->width() > kNarrow * *time.value;
    if (point.time.size() > 1) centres.push_back(log_centre(point.time));
    if (const auto clock = median(point.clock_mhz)) clocks.push_back(*clock);
  }
  const std::size_t measured = points.size() - without;
  judge.by(share(without, points.size()), kWithout,
           of(without, points.size(), "points have no row"));
  if (measured == 0) return judge.give('D', "nothing was measured");
  if (2 * single > measured) {
    judge.give('B', "one sample a point: no interval");
  } else {
    judge.by(share(wide - without, measured), kWide,
             of(wide - without, measured, "points have an interval above 5 %, or none"));
  }
  const SharedNoise noise = shared_noise(centres);
  judge.by(noise.stretch, kDrift,
           fmt::format("drift: the variance of a point is {:.1f} times what samples in any order "
                       "would have",
                       noise.stretch));
  if (clocks.empty()) {
    if (manifest.device.time_source != TimeSource::modelled)
      judge.give('B', "the clock is not known");
    return;
  }
  const double spread = (*quantile(clocks, 0.95) - *quantile(clocks, 0.05)) / *median(clocks);
  judge.by(spread, kClock,
           fmt::format("the clock of the points spreads over {:.0f} %", spread * 100));
}

/// A product faster than the datasheet's peak at the clock it is meant at was not computed, or not
/// timed; turbo may add a little.
void judge_peak(const StoredRun& run, const ProbeRows& probe, Judge& judge) {
  if (probe.schema != &gemm_schema()) return;
  constexpr double kTurbo = 1.1;
  const Rows& rows = probe.table->rows;
  const TextColumn& types = rows.texts(probe.schema->index("dtype"));
  const NumberColumn& speeds = rows.numbers(probe.schema->index("flop_per_s"));
  std::vector<std::optional<double>> roofs;  // by code of the type
  for (const std::string& type : types.texts()) {
    roofs.push_back(run.manifest.device.roof(type + "_flop_per_s"));
  }
  std::size_t above = 0, all = 0;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const auto& roof = roofs[types.code(i)];
    const auto speed = speeds.at(i);
    if (rows.status(i) != Status::ok || !roof || !speed) continue;
    ++all;
    above += *speed > kTurbo * *roof;
  }
  if (above > 0) judge.give('D', of(above, all, "rows are beyond the datasheet's peak"));
}

}  // namespace

std::vector<ProbeGrade> grade_run(const StoredRun& run,
                                  const std::map<std::string, GroupedRows>& grouped) {
  std::vector<ProbeGrade> grades;
  for (const ProbeRows& probe : run.probes) {
    if (probe.file.empty()) continue;
    ProbeGrade grade{probe.schema->probe, 'A', {}};
    Judge judge(grade);
    if (probe.table) {
      const TimeSource source = run.manifest.device.time_source;
      judge_file(run, probe, judge);
      judge_rows(probe, source, judge);
      const auto points = grouped.find(probe.schema->probe);
      judge_points(
          points == grouped.end() ? point_times(probe, source) : point_times(points->second),
          run.manifest, judge);
      judge_peak(run, probe, judge);
    } else {
      judge.give('D', "its file is refused");
    }
    std::stable_sort(grade.reasons.begin(), grade.reasons.end(),
                     [](const std::string& a, const std::string& b) { return a[0] > b[0]; });
    grades.push_back(std::move(grade));
  }
  return grades;
}

std::optional<char> overall_grade(const std::vector<ProbeGrade>& grades) {
  if (grades.empty()) return std::nullopt;
  return std::ranges::max(grades, {}, &ProbeGrade::grade).grade;
}

}  // namespace sonde
