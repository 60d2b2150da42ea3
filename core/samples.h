#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/rows.h"
#include "core/statistics.h"
#include "core/stored_run.h"

namespace sonde {

/// What one metric came to at one value of the quantity that is varied.
struct CurvePoint {
  double x = 0;                 ///< blocks, bytes, ...
  Estimate y;                   ///< median with its interval
  std::vector<double> samples;  ///< in the order taken

  /// Robust relative standard deviation of one sample (1.4826 MAD over the median, corrected for
  /// few samples). nullopt below four samples or at a median that is not positive.
  std::optional<double> spread() const;
};
using Curve = std::vector<CurvePoint>;  ///< ascending in x
void sort_by_x(Curve& curve);

/// Rows of one file that never reach a statistic, by status, with their reasons.
struct RowCounts {
  std::int64_t ok = 0, throttled = 0, skipped = 0, failed = 0;
  std::int64_t held_up = 0;      ///< of the good ones: a core went to another program for a while
  std::int64_t other_clock = 0;  ///< time_source differs from the manifest's
  std::map<std::string, std::int64_t> reasons;  ///< "throttled: <reason>" and so on
  std::vector<std::string> empty_points;        ///< points left without a single usable sample
};

/// Rows of one point: same axes, status ok, in the order taken.
struct PointRows {
  RowView first;                  ///< for the axes
  std::vector<std::uint32_t> ok;  ///< positions among the rows
};

/// Whether measuring threads waited for their cores for more than kHeldUpShare of a sample's time.
inline constexpr double kHeldUpShare = 0.02;
/// By row of one file.
class HeldUp {
 public:
  HeldUp(const Schema& schema, const Rows& rows);
  bool operator()(std::size_t row) const;

 private:
  const Rows& rows_;
  const NumberColumn &waited_, &end_;
};

/// Rows grouped by their axes, in order of first appearance. Points into the rows.
struct GroupedRows {
  const Schema* schema = nullptr;
  const Rows* rows = nullptr;
  std::vector<PointRows> points;
  RowCounts counts;

  RowView row(std::uint32_t position) const { return {*rows, position}; }
};
/// `without`: an axis that makes no point of its own.
GroupedRows group_rows(const ProbeRows& probe, TimeSource source, const std::string& without = {});
/// Counts a row that no statistic may use, other than for its clock.
void count_unusable(const Rows& rows, std::size_t row, RowCounts& counts);

/// A metric of one point, in the order taken; rows without it left out.
std::vector<double> values_of(const GroupedRows& rows, const PointRows& point,
                              const std::string& metric);

/// Whether the points of a probe stopped by themselves, by the manifest; without a step to say so
/// they may have.
bool stopped_adaptively(const Manifest& manifest, const std::string& probe);
/// How the samples of a probe were collected: by the manifest, and by how its rows drift.
Sampling sampling_of(const Manifest& manifest, const GroupedRows& rows);

/// The metric at one point. nullopt when no row has it.
std::optional<CurvePoint> curve_point(const GroupedRows& rows, const PointRows& point, double x,
                                      const std::string& metric, const Sampling& sampling);

/// Median over points of each point's median (clock, power, temperature), so that a point sampled
/// more often weighs no more; n counts points, 0 when no cell is filled.
Estimate overall(const GroupedRows& rows, const std::string& metric);

}  // namespace sonde
