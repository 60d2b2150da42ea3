#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "core/csv_reader.h"
#include "harness/options.h"
#include "harness/probe.h"
#include "harness/progress.h"

namespace sonde {

/// How a step ended.
struct Outcome {
  std::int64_t ok = 0;        ///< points that ended with samples
  std::int64_t skipped = 0;   ///< points
  std::int64_t failed = 0;    ///< points
  std::int64_t measured = 0;  ///< new rows
  bool interrupted = false;
};

/// Rows at the end of `stored` that belong to a sample of which not every row was written before
/// the run died: it is measured anew, so they have to go. Throws UsageError when a sample further
/// up is not whole (its file was changed).
std::size_t incomplete_tail(const Probe& probe, const std::vector<Row>& stored);

/// The plan without points that ask the same again: series overlap where their axes agree.
std::vector<Point> without_repeats(std::vector<Point> points);

/// Takes the samples of every point: batch by batch, rounds over all points that still need one,
/// each round in its own seeded order, so that drift hits all alike. A point stops at a fixed look,
/// at its cap, when it is skipped, or when it fails; the budget skips what is left, and what would
/// not fit into it. On a real device a resume tries a failed point again.
class Runner {
 public:
  using Emit = std::function<void(const Row&)>;
  /// `stored`: rows of an earlier run of the same plan, taken as they are; the first missing
  /// (point, repetition) is measured next. `emit` gets each new row, in order. `points` is what
  /// probe.plan(selection) gave.
  Runner(Probe& probe, Device& device, const Selection& selection, std::vector<Point> points,
         const CommonOptions& options, const std::vector<Row>& stored, Emit emit);

  Outcome run();

 private:
  struct State {
    std::vector<double> samples;       ///< elapsed_s of good rows, in order
    std::vector<std::int64_t> orders;  ///< of those rows
    std::int64_t rows = 0;
    std::int64_t forgiven = 0;  ///< failed rows of an earlier run: the point is tried again
    double spent_s = 0;         ///< device time of its rows, preparing and checking included
    double owed_s = 0;          ///< for its samples that an interval still needs
    bool done = false;
    Status last = Status::ok;
  };

  /// Rows of one sample (one row unless it is a series); never none.
  std::vector<Row> measure(std::size_t point, std::int64_t repetition);
  Row blank(std::size_t point, std::int64_t repetition) const;
  void take(std::size_t point, const Row& row, bool stored);
  /// Why the budget leaves out the next sample of the point; empty: it fits.
  std::string beyond_budget(std::size_t point) const;
  std::int64_t fewest() const;  ///< samples that a point needs for an interval, if it may have them
  double share() const;
  bool run_batch(std::int64_t batch, Outcome& outcome, Progress& progress);
  /// Throws UsageError when a stored row of a point in [from, end) is not one of that point.
  void match_stored(std::size_t from) const;
  [[noreturn]] void refuse_unplanned() const;
  /// Adds what the probe asks for next; false: nothing.
  bool grow();

  Probe& probe_;
  Device& device_;
  const Selection& selection_;
  std::vector<Point> points_;
  const CommonOptions& options_;
  Emit emit_;
  std::map<std::pair<std::int64_t, std::int64_t>, const Row*> stored_;
  bool out_of_budget_ = false;
  std::vector<State> states_;
  std::int64_t order_ = 0;
  std::int64_t taken_ = 0;     ///< samples taken or no longer needed
  std::int64_t done_ = 0;      ///< points
  std::int64_t failures_ = 0;  ///< rows
  std::function<double()> spent_s_;
  double owed_s_ = 0;       ///< of all points that were begun
  double measured_s_ = 0;   ///< device time of all samples so far
  double estimated_s_ = 0;  ///< what the plan had estimated for them
};

}  // namespace sonde
