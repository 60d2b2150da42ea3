// Rows to points: which rows count, what is said of the others, and what a point comes to.
#include "core/samples.h"

#include <gtest/gtest.h>

#include <csignal>
#include <cstdlib>

#include "core/error.h"
#include "core/signals.h"
#include "tests/unit/csv_file.h"

namespace sonde {
namespace {

using test::row_of;

ProbeRows probe_of(const std::vector<Row>& rows) {
  ProbeRows probe;
  probe.schema = &chase_schema();
  probe.file = "chase.csv";
  probe.table.emplace(chase_schema());
  for (const Row& row : rows) probe.table->rows.add(row);
  return probe;
}

void set(Row& row, const char* column, Cell value) {
  row.values[chase_schema().index(column)] = std::move(value);
}

TEST(CurvePoint, HasASpreadFromFourSamplesOnAndAboveZero) {
  CurvePoint point;
  point.samples = {9, 10, 11};
  point.y.value = 10;
  EXPECT_FALSE(point.spread());
  point.samples = {8, 9, 10, 11, 12};
  ASSERT_TRUE(point.spread());
  EXPECT_NEAR(*point.spread(), 1.4826 * 5 / 4.2 / 10, 1e-12);
  point.y.value = 0;
  EXPECT_FALSE(point.spread());
  point.y.value = -10;
  EXPECT_FALSE(point.spread());
  point.y.value.reset();
  EXPECT_FALSE(point.spread());
}

TEST(CurvePoint, OfEqualXKeepTheirOrder) {
  Curve curve(4);
  const double x[] = {2, 1, 2, 1};
  for (std::size_t i = 0; i < 4; ++i) {
    curve[i].x = x[i];
    curve[i].y.n = static_cast<std::int64_t>(i);
  }
  sort_by_x(curve);
  std::vector<std::int64_t> order;
  for (const CurvePoint& point : curve) order.push_back(point.y.n);
  EXPECT_EQ(order, (std::vector<std::int64_t>{1, 3, 0, 2}));
}

TEST(GroupRows, PointsAreTheirAxesAndSamplesComeInTheOrderTaken) {
  std::vector<Row> rows;
  for (int i = 0; i < 6; ++i) {
    Row row = row_of(i % 2, i / 2, 100 + i);
    row.order = 10 - i;
    set(row, "blocks", std::int64_t{1 + i % 2});
    set(row, "power_w", i < 2 ? Cell() : Cell(double(i)));
    rows.push_back(row);
  }
  const ProbeRows probe = probe_of(rows);
  const GroupedRows grouped = group_rows(probe, TimeSource::modelled);
  ASSERT_EQ(grouped.points.size(), 2U);
  EXPECT_EQ(values_of(grouped, grouped.points[0], "latency_ns"),
            (std::vector<double>{104, 102, 100}));
  EXPECT_EQ(values_of(grouped, grouped.points[1], "latency_ns"),
            (std::vector<double>{105, 103, 101}));
  EXPECT_EQ(values_of(grouped, grouped.points[0], "power_w"), (std::vector<double>{4, 2}));
  EXPECT_EQ(values_of(grouped, grouped.points[0], "loads"), (std::vector<double>{256, 256, 256}));
  EXPECT_TRUE(values_of(grouped, grouped.points[0], "note").empty());
  EXPECT_EQ(grouped.counts.ok, 6);
  EXPECT_TRUE(grouped.counts.empty_points.empty());

  const GroupedRows one = group_rows(probe, TimeSource::modelled, "blocks");
  ASSERT_EQ(one.points.size(), 1U);
  EXPECT_EQ(one.points[0].ok.size(), 6U);
  EXPECT_TRUE(group_rows(probe_of({}), TimeSource::modelled).points.empty());
}

TEST(GroupRows, WhatNoStatisticMayUseIsCountedWithItsReason) {
  std::vector<Row> rows(6, row_of(0, 0, 100));
  rows[0].status = Status::throttled;
  rows[0].reason = "hot";
  rows[1].status = Status::skipped;
  rows[1].reason = "too small";
  rows[2].status = Status::failed;
  rows[3].time_source = TimeSource::host_clock;
  rows[4].status = Status::throttled;
  rows[4].reason = "hot";
  set(rows[1], "blocks", std::int64_t{7});
  const ProbeRows probe = probe_of(rows);
  const GroupedRows grouped = group_rows(probe, TimeSource::modelled);
  EXPECT_EQ(grouped.counts.throttled, 2);
  EXPECT_EQ(grouped.counts.skipped, 1);
  EXPECT_EQ(grouped.counts.failed, 1);
  EXPECT_EQ(grouped.counts.other_clock, 1);
  EXPECT_EQ(grouped.counts.ok, 1);
  EXPECT_EQ(grouped.counts.reasons,
            (std::map<std::string, std::int64_t>{
                {"throttled: hot", 2}, {"skipped: too small", 1}, {"failed: no reason given", 1}}));
  ASSERT_EQ(grouped.counts.empty_points.size(), 1U);
  EXPECT_EQ(grouped.counts.empty_points[0],
            "core vector0, blocks 7, footprint_bytes 16384, state cold");
}

TEST(GroupRows, ARowIsHeldUpWhenItWaitedForMoreThanAFiftiethOfItsTime) {
  std::vector<Row> rows(4, row_of(0, 0, 100));
  const double waited[] = {0.0199, 0.02, 0.0201, 0};
  for (std::size_t i = 0; i < 4; ++i) {
    rows[i].start_s = 3;
    set(rows[i], "end_s", 4.0);
    set(rows[i], "waited_s", waited[i]);
  }
  set(rows[3], "waited_s", 1.0);
  set(rows[3], "end_s", Cell());  // how long it took is not known
  const ProbeRows probe = probe_of(rows);
  EXPECT_EQ(group_rows(probe, TimeSource::modelled).counts.held_up, 1);
}

TEST(CurvePoint, IsTheMedianOfWhatIsThere) {
  std::vector<Row> rows;
  for (int i = 0; i < 9; ++i) rows.push_back(row_of(0, i, 100 + i));
  const ProbeRows probe = probe_of(rows);
  const GroupedRows grouped = group_rows(probe, TimeSource::modelled);
  const auto point = curve_point(grouped, grouped.points[0], 5, "latency_ns", {});
  ASSERT_TRUE(point);
  EXPECT_EQ(point->x, 5);
  EXPECT_EQ(point->y.value, 104);
  EXPECT_TRUE(point->y.interval);
  EXPECT_FALSE(curve_point(grouped, grouped.points[0], 5, "power_w", {}));
}

TEST(Overall, WeighsEachPointAlike) {
  std::vector<Row> rows;
  for (int point = 0; point < 3; ++point) {
    for (int i = 0; i < (point == 0 ? 20 : 2); ++i) {
      Row row = row_of(point, i, 100);
      set(row, "blocks", std::int64_t{point + 1});
      set(row, "power_w", 100.0 * (point + 1));
      rows.push_back(row);
    }
  }
  const ProbeRows probe = probe_of(rows);
  const GroupedRows grouped = group_rows(probe, TimeSource::modelled);
  const Estimate power = overall(grouped, "power_w");
  EXPECT_EQ(power.value, 200);
  EXPECT_EQ(power.n, 3);
  EXPECT_FALSE(power.interval);
  const Estimate clock = overall(grouped, "clock_mhz");
  EXPECT_FALSE(clock.value);
  EXPECT_EQ(clock.n, 0);
}

TEST(SamplingOf, IsAdaptiveUnlessTheManifestSaysNot) {
  Manifest manifest;
  EXPECT_TRUE(stopped_adaptively(manifest, "chase"));
  manifest.steps = {{"chase", {}, "complete", false, ""}, {"copy", {}, "complete", true, ""}};
  EXPECT_FALSE(stopped_adaptively(manifest, "chase"));
  EXPECT_TRUE(stopped_adaptively(manifest, "copy"));
  // Samples that all drift alike are seen to.
  std::vector<Row> rows;
  rows.reserve(40);
  for (int i = 0; i < 40; ++i) rows.push_back(row_of(0, i, 100 + i));
  const ProbeRows probe = probe_of(rows);
  const Sampling sampling = sampling_of(manifest, group_rows(probe, TimeSource::modelled));
  EXPECT_FALSE(sampling.adaptive);
  EXPECT_EQ(sampling.drift.neighbour, 0.9);
}

TEST(Signals, AreCaughtButWhatNohupIgnoresStaysIgnored) {
  EXPECT_EXIT(
      {
        std::signal(SIGHUP, SIG_IGN);
        catch_signals();
        std::raise(SIGHUP);
        std::raise(SIGPIPE);
        if (caught_signal() != 0) std::exit(1);
        stop_if_interrupted();
        std::raise(SIGTERM);
        if (caught_signal() != SIGTERM) std::exit(2);
        try {
          stop_if_interrupted();
        } catch (const Error& error) {
          if (error.code() != ExitCode::interrupted) std::exit(3);
          if (std::string(error.what()) != "interrupted by signal 15") std::exit(4);
          std::exit(0);
        }
        std::exit(5);
      },
      ::testing::ExitedWithCode(0), "");
  // The second one ends the program.
  EXPECT_EXIT(
      {
        catch_signals();
        std::raise(SIGINT);
        std::raise(SIGINT);
        std::exit(0);
      },
      ::testing::KilledBySignal(SIGINT), "");
}

}  // namespace
}  // namespace sonde
