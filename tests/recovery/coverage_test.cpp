// A fixed part of `make score`: intervals and brackets of a report hold the truth as often as said.
#include <gtest/gtest.h>

#include <cmath>

#include "core/rng.h"
#include "tests/support/planted_rows.h"
#include "tests/support/sanitized.h"

namespace sonde::test {
namespace {

struct Tally {
  int all = 0, held = 0;
  double share() const { return static_cast<double>(held) / all; }
};

/// By kind of finding, "point" taking those of single points together.
std::map<std::string, Tally> cover(Scatter scatter, int samples, int runs, bool gemms) {
  std::map<std::string, Tally> tallies;
  Rng rng(key_of({static_cast<std::uint64_t>(scatter), static_cast<std::uint64_t>(samples), 3}));
  for (int r = 0; r < runs; ++r) {
    RowsPlan plan;
    plan.scatter = scatter;
    plan.samples = samples;
    plan.deviation = 0.005 * std::pow(16, rng.uniform());
    plan.gemms = gemms;
    plan.seed = rng();
    const PlantedRun planted = planted_run(plan);
    for (const Finding& finding : find_findings(analyse_run(planted.run))) {
      const auto truth = planted.truth.find(finding.name);
      if (truth == planted.truth.end() || !finding.low || !finding.high) continue;
      std::string kind = kind_of_finding(finding.name);
      if (kind == "chase.latency_ns.core" || kind == "chase.latency_ns.blocks") kind = "point";
      Tally& tally = tallies[kind];
      ++tally.all;
      tally.held += *finding.low <= truth->second && truth->second <= *finding.high ? 1 : 0;
    }
  }
  return tallies;
}

/// 93 to 97 %, and three standard deviations of so many trials.
void expect_covers(const Tally& tally, const char* what) {
  ASSERT_GT(tally.all, 0) << what;
  const double slack = 3 * std::sqrt(0.95 * 0.05 / tally.all);
  EXPECT_GE(tally.share(), 0.93 - slack) << what << ", " << tally.all;
  EXPECT_LE(tally.share(), 0.97 + slack) << what << ", " << tally.all;
}

TEST(Coverage, PointsHoldTheirTruthWhateverTheScatter) {
  for (const Scatter scatter : {Scatter::normal, Scatter::heavy, Scatter::skewed, Scatter::outliers,
                                Scatter::drift, Scatter::episodes}) {
    for (const int samples : {0, 27}) {
      constexpr int kRuns = kSanitized ? 12 : 60;
      const std::map<std::string, Tally> tallies = cover(scatter, samples, kRuns, false);
      const Tally& points = tallies.at("point");
      EXPECT_GE(points.all, 33 * kRuns);
      // Of 2,160 trials a standard deviation is 0.5 %; runs share their scatter.
      expect_covers(points, to_string(scatter));
      // Brackets, and the hull of a level, hold at least 95 %.
      for (const char* kind : {"chase.level.capacity_bytes", "chase.level.latency_ns"}) {
        const Tally& tally = tallies.at(kind);
        EXPECT_GE(tally.share(), 0.95 - 3 * std::sqrt(0.95 * 0.05 / tally.all))
            << kind << ' ' << to_string(scatter);
      }
    }
  }
}

TEST(Coverage, WhatIsFoundOverManyPointsHoldsItsTruth) {
  const std::map<std::string, Tally> tallies =
      cover(Scatter::normal, 8, kSanitized ? 40 : 160, true);
  for (const char* kind :
       {"gemm.fraction.mean.datasheet", "gemm.fraction.median.datasheet",
        "gemm.fraction.time_weighted.datasheet", "gemm.by_m", "handoff.latency_ns.read.median",
        "chase.clock_mhz.median", "gemm.power_w.median", "stream.peak_bytes_per_s"}) {
    ASSERT_TRUE(tallies.contains(kind)) << kind;
    expect_covers(tallies.at(kind), kind);
  }
}

TEST(Coverage, ThrottledRowsAreLeftOutAndCounted) {
  const RowsPlan plan{
      .scatter = Scatter::episodes, .deviation = 0.01, .samples = 27, .gemms = true, .seed = 5};
  std::int64_t throttled = 0;
  const PlantedRun planted = planted_run(plan);
  for (const ProbeRows& probe : planted.run.probes) {
    for (const Row& row : probe.table->rows.whole())
      throttled += row.status == Status::throttled ? 1 : 0;
  }
  EXPECT_GT(throttled, 100);
  const RunAnalysis analysis = analyse_run(planted.run);
  std::int64_t counted = 0;
  for (const auto& [probe, counts] : analysis.counts) counted += counts.throttled;
  EXPECT_EQ(counted, throttled);
}

}  // namespace
}  // namespace sonde::test
