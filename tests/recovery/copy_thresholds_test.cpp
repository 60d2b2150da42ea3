// Curves with moved thresholds: what moves along is a switch, what stays is an edge.
#include <gtest/gtest.h>

#include <cmath>

#include "report/analysis.h"
#include "tests/output/report_runs.h"

namespace sonde {
namespace {

using testing_runs::ladder;
using testing_runs::noisy;
using testing_runs::RunWriter;
using testing_runs::TempDir;

constexpr const char* kNt = "glibc.cpu.x86_non_temporal_threshold=";

/// A C library that stores past the caches from `threshold` on, on a machine with a cache edge at
/// 256 KiB.
double library_copy(double bytes, double threshold) {
  const double edge = 1 + std::clamp(std::log2(bytes / 262144), 0.0, 1.0);
  return 1e-7 + (bytes < threshold ? bytes * edge / 40e9 : bytes / 11e9);
}

/// A run in which `moves` says whether the settings move anything.
CopyAnalysis analyse(const TempDir& directory, bool moves) {
  const std::filesystem::path path = directory.path() / (moves ? "moves" : "stays");
  RunWriter run(path, false);
  std::uint64_t key = 1;
  for (const double threshold : {96e6, 16777216.0, 4194304.0}) {
    const bool usual = threshold == 96e6;
    const std::string tunables =
        usual ? "" : kNt + std::to_string(static_cast<std::int64_t>(threshold));
    for (const double bytes : ladder(1024, 512 << 20)) {
      const std::vector<double> seconds =
          noisy(library_copy(bytes, moves ? threshold : 96e6), 0.02, 12, ++key);
      for (std::size_t i = 0; i < seconds.size(); ++i) {
        run.row(copy_schema(),
                {"d2d", "auto", static_cast<std::int64_t>(bytes), std::int64_t{4096}, "warm",
                 Cell(), usual ? Cell() : Cell(tunables)},
                {{"elapsed_s", seconds[i]},
                 {"bandwidth_bytes_per_s", bytes / seconds[i]},
                 {"counting", "once"}},
                i);
      }
      run.next_point();
    }
  }
  run.finish();
  const StoredRun stored = load_run(path, {});
  return *analyse_run(stored).copy;
}

TEST(CopyThresholds, ASwitchMovesAlongAndAnEdgeStays) {
  const TempDir directory;
  const CopyAnalysis copy = analyse(directory, true);
  ASSERT_EQ(copy.series.size(), 3u);
  ASSERT_EQ(copy.main_series().size(), 1u);
  EXPECT_TRUE(copy.main_series()[0]->tunables.empty());
  const ThresholdJudgement& judged = copy.main_series()[0]->thresholds;
  ASSERT_EQ(judged.moved.size(), 2u);
  for (const MovedSwitch& one : judged.moved) {
    EXPECT_EQ(one.threshold, "x86_non_temporal_threshold");
    ASSERT_TRUE(one.found) << one.bytes;
    EXPECT_LE(one.off, 0.02) << one.bytes;
  }
  ASSERT_EQ(judged.causes.size(), 2u);
  EXPECT_FALSE(judged.causes[0].is_switch);
  EXPECT_TRUE(judged.causes[0].stays);
  EXPECT_TRUE(judged.causes[1].is_switch);
  EXPECT_EQ(judged.causes[1].moved_by, "x86_non_temporal_threshold");
}

TEST(CopyThresholds, WhatDoesNotMoveHasAnotherCause) {
  const TempDir directory;
  const CopyAnalysis copy = analyse(directory, false);
  const ThresholdJudgement& judged = copy.main_series()[0]->thresholds;
  for (const MovedSwitch& one : judged.moved) EXPECT_FALSE(one.found) << one.bytes;
  ASSERT_EQ(judged.causes.size(), 2u);
  EXPECT_TRUE(judged.causes[1].is_switch);
  EXPECT_TRUE(judged.causes[1].moved_by.empty());
  EXPECT_TRUE(judged.causes[1].stays);
}

}  // namespace
}  // namespace sonde
