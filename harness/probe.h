#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/command_line.h"
#include "core/error.h"
#include "core/schema.h"
#include "device/device.h"

namespace sonde {

/// What the common command line chose, for a probe that makes its plan.
struct Selection {
  const DeviceDescription& device;
  std::optional<std::vector<CoreName>> cores;  ///< --cores; none: the probe's default
  bool quick = false;                          ///< the fewest points that still find every finding
  std::uint64_t seed = 1;                      ///< of the campaign
  std::optional<double> budget_s;              ///< --budget: not all points may fit
  bool listed = false;                         ///< --order listed, for a plan with batches
};

/// One point of a plan. Its index in the plan is the `point` of its rows.
struct Point {
  std::vector<Cell> axes;  ///< schema().axes.size() cells; an axis that a row fills is empty
  std::string label;       ///< for progress and Google Benchmark names: "vector3/16384"
  std::string skip;        ///< not empty: the point is skipped with this reason
  double estimate_s = 0;   ///< rough wall time of one repetition, for --dry-run and a budget
  /// Points of a lower batch are finished first, so that a budget leaves a sample of the plan that
  /// the probe chose instead of a little of everything.
  std::int64_t batch = 0;
};

/// What is known of a point when a plan may grow.
struct PointSamples {
  std::vector<double> elapsed_s;  ///< of its good samples, in order; empty: it has none
};

/// An independent measurement: its schema, its points, and how one sample of a point is taken.
/// The harness owns the command line, order, repetitions, rows, resume and errors.
class Probe {
 public:
  virtual ~Probe() = default;
  virtual const Schema& schema() const = 0;
  virtual std::string about() const = 0;  ///< for --help
  virtual void add_options(CommandLine& line) = 0;
  /// The points in listed order. Throws UsageError for options that do not fit the device.
  virtual std::vector<Point> plan(const Selection& selection) = 0;
  /// Further points, which follow from what was measured: sizes between two neighbours that differ,
  /// pairs that are not decided yet. Asked when every point so far is finished, until it gives
  /// none; `samples` goes with `points`. Points that ask what is there already are left out. A pure
  /// function of its arguments, so that a resume comes to the same plan.
  virtual std::vector<Point> extend(const Selection&, const std::vector<Point>& /*points*/,
                                    const std::vector<PointSamples>& /*samples*/) {
    return {};
  }
  /// The probe's own options that decide its rows, for the manifest. Valid after plan().
  virtual std::map<std::string, std::string> options() const = 0;
  /// Samples a point takes when --repetitions does not say; nullopt: the stopping rule decides.
  virtual std::optional<std::int64_t> usual_repetitions() const { return std::nullopt; }
  /// Rows that one good sample becomes: one, unless it is a series (the address profile).
  virtual std::int64_t rows_per_sample() const { return 1; }
  /// Those rows; `row` holds all that they share. Called with good samples only.
  virtual std::vector<Row> rows(const Sample&, Row row) const { return {std::move(row)}; }
  /// Takes one verified sample and fills the probe's own metrics of `row` (by set()); placement,
  /// telemetry and times are filled by the harness. Throws Skip or PointFailure.
  virtual Sample measure(Device& device, const Point& point, const Trial& trial, Row& row) = 0;
};

/// Defined once by each probe's file.
std::unique_ptr<Probe> make_probe();

/// Stores one cell by column name.
inline void set(const Schema& schema, Row& row, std::string_view column, Cell value) {
  row.values[schema.index(column)] = std::move(value);
}

/// Axis of a point by name.
template <class T>
const T& axis(const Schema& schema, const Point& point, std::string_view name) {
  return std::get<T>(point.axes[schema.index(name)]);
}

/// prepare, run, verify: no number is seen before the work it stands for was checked. Telemetry is
/// read on both sides of run(): filling and checking have their own power.
/// A null engine (the device does not offer this kind of work) is a Skip.
template <class Work>
Sample run_verified(Device& device, Engine<Work>* engine, const char* kind, const Work& work,
                    const Trial& trial) {
  if (engine == nullptr) throw Skip(std::string("this device has no ") + kind + " engine");
  engine->prepare(work);
  const Telemetry before = device.telemetry();
  Sample sample = engine->run(trial);
  sample.before = before;
  sample.after = device.telemetry();
  const Check check = engine->verify();
  if (!check.ok) throw PointFailure("verify: " + check.problem);
  if (!(sample.elapsed.value() > 0)) throw PointFailure("elapsed time is not above zero");
  return sample;
}

}  // namespace sonde
