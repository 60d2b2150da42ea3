#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/statistics.h"
#include "core/stored_run.h"

namespace sonde {

enum class Verdict { slower, faster, same, cannot_tell };
const char* to_string(Verdict verdict);

/// Largest expected share of false ones among the points called slower or faster.
inline constexpr double kFalseDiscoveries = 0.05;
/// Fewest samples of one side that are judged; halves of one run may be smaller.
inline constexpr std::int64_t kFewestInHalf = 4;

struct CompareOptions {
  double margin = 0.01;  ///< "same": the whole interval of the effect within this of none
  /// What fails a build: a verdict (slower or faster) of more than `by`.
  struct FailOn {
    Verdict verdict = Verdict::slower;
    double by = 0;
  };
  std::optional<FailOn> fail_on;
};

/// "slower:5%" or "faster:2.5%". Throws UsageError naming --fail-on.
CompareOptions::FailOn parse_fail_on(const std::string& text);

/// Second over first, with its 95 % interval.
struct Ratio {
  double value = 1;
  std::optional<Interval> interval;
};

/// One point in two runs. Times are of one unit of work (a load, a byte, a copy, a product).
struct PointComparison {
  std::string probe, label;
  std::int64_t n_a = 0, n_b = 0;
  double time_a = 0, time_b = 0;  ///< medians, seconds
  std::optional<Ratio> time;
  std::optional<Ratio> cycles;             ///< where every sample has its clock
  std::optional<double> clock_a, clock_b;  ///< medians, MHz
  std::optional<double> p;                 ///< of no difference; absent where none was tested
  Verdict verdict = Verdict::cannot_tell;
  std::string reason;           ///< why it cannot be told, or "identical samples"
  bool clock_explains = false;  ///< slower or faster, but not in cycles
  bool fails = false;           ///< beyond fail_on at 99 % over all points together
};

struct ProbeComparison {
  std::string probe;
  std::map<Verdict, std::int64_t> verdicts;
  std::vector<std::string> only_a, only_b;  ///< points that have good rows on one side alone
  std::optional<double> middle;             ///< median ratio of the points on both sides
};

struct RunSide {
  std::string dir, device, product, started, revision;
};

struct Comparison {
  RunSide a, b;
  std::vector<std::string> differences;  ///< of device, seed, schema, options, conditions: one line
  std::vector<std::string> notes;        ///< what else a reader should know, one line each
  std::vector<PointComparison> points;   ///< largest effect first
  std::vector<ProbeComparison> probes;   ///< in the order of a page; those with rows
  double margin = 0;

  std::int64_t count(Verdict verdict) const;
  std::int64_t judged() const;  ///< points of which a difference was tested or is exact
  bool fails() const;
  /// Share of the judged points that are called slower or faster: of two halves of one run, false.
  std::optional<double> alarm_rate() const;
};

/// Points are matched by probe and axes; rows must be good and timed by their manifest's clock.
/// Throws UsageError when no point has good rows in both. docs/compare.md has the method.
Comparison compare_runs(const StoredRun& a, const StoredRun& b, const CompareOptions& options);

/// The samples of each point dealt in turn to two halves: what is called slower or faster is a
/// false alarm.
Comparison compare_halves(const StoredRun& run, const CompareOptions& options);

}  // namespace sonde
