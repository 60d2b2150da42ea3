// Planted latency curves: waves, memory levels and outlier cores.
#include <gtest/gtest.h>

#include <cmath>

#include "report/cores.h"
#include "report/levels.h"
#include "report/wave.h"
#include "tests/output/report_runs.h"

namespace sonde {
namespace {

using testing_runs::noisy;

CurvePoint point(double x, double value, double noise, std::uint64_t key, int n = 8) {
  CurvePoint result{.x = x, .y = {}, .samples = noisy(value, noise, n, key)};
  result.y = estimate_median(result.samples, {.adaptive = true, .drift = {}});
  return result;
}

/// Queueing of the study: 134 ns to 18 blocks, 182 at 56; a second wave above that.
double npu_blocks(int blocks) {
  if (blocks <= 18) return 134;
  if (blocks <= 56) return 134 + 48.0 * (blocks - 18) / 38;
  return 340 + 51.0 * std::min(blocks - 56, 8) / 8;
}

Curve blocks_curve(const std::vector<int>& counts, double (*latency)(int), double noise,
                   std::uint64_t seed) {
  Curve curve;
  for (int count : counts) {
    curve.push_back(
        point(count, latency(count), noise, key_of({seed, static_cast<std::uint64_t>(count)})));
  }
  return curve;
}

std::vector<int> every(int last, int step = 1) {
  std::vector<int> counts;
  for (int b = 1; b <= last; b += step) counts.push_back(b);
  return counts;
}

TEST(AnalysisWave, FindsTheFirstWave) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    for (double noise : {0.0, 0.01, 0.05}) {
      const Wave dense = find_wave(blocks_curve(every(64), npu_blocks, noise, seed));
      ASSERT_TRUE(dense.found) << seed << ' ' << noise;
      EXPECT_EQ(dense.last_in, 56);
      EXPECT_EQ(dense.first_beyond, 57);
      const Wave sparse =
          find_wave(blocks_curve({1, 8, 18, 32, 48, 56, 64}, npu_blocks, noise, seed));
      ASSERT_TRUE(sparse.found) << seed << ' ' << noise;
      EXPECT_EQ(sparse.last_in, 56);
      EXPECT_EQ(sparse.first_beyond, 64);
    }
  }
}

TEST(AnalysisWave, PrefersTheFirstOfSeveralWaves) {
  const auto waves = [](int blocks) {
    return blocks <= 132 ? 153.6 : blocks <= 264 ? 280.0 : 420.0;
  };
  const Wave wave =
      find_wave(blocks_curve({1, 33, 66, 99, 132, 133, 198, 264, 265, 300}, waves, 0.01, 3));
  ASSERT_TRUE(wave.found);
  EXPECT_EQ(wave.last_in, 132);
  EXPECT_EQ(wave.first_beyond, 133);
}

TEST(AnalysisWave, DoesNotTakeQueueingForAWave) {
  using Latency = double (*)(int);
  const Latency smooth[] = {
      [](int) { return 134.0; }, [](int b) { return b <= 18 ? 134 : 134 + 48.0 * (b - 18) / 38; },
      [](int b) { return 134 / (1 - b / 80.0); },      // a queue that nears its limit
      [](int b) { return std::max(134.0, 6.0 * b); },  // a saturated queue
      [](int b) { return 134 + 200 / (1 + std::exp(-(b - 40) / 5.0)); }};
  for (std::size_t i = 0; i < std::size(smooth); ++i) {
    for (std::uint64_t seed = 1; seed <= 40; ++seed) {
      EXPECT_FALSE(find_wave(blocks_curve(every(64), smooth[i], 0.03, seed)).found)
          << i << ' ' << seed;
      EXPECT_FALSE(find_wave(blocks_curve(every(64, 3), smooth[i], 0.03, seed)).found)
          << i << ' ' << seed;
    }
  }
}

TEST(AnalysisWave, CannotTellFromTwoCounts) {
  EXPECT_TRUE(find_wave(blocks_curve({1, 64}, npu_blocks, 0.01, 1)).cannot_tell);
  EXPECT_TRUE(find_wave({}).cannot_tell);
}

MemoryLevels levels_of(double (*latency)(double), double noise, std::uint64_t seed, bool halves) {
  Curve curve;
  for (double bytes = 4096; bytes <= 0x1p30; bytes *= 2) {
    curve.push_back(
        point(bytes, latency(bytes), noise, key_of({seed, static_cast<std::uint64_t>(bytes)})));
    if (halves)
      curve.push_back(point(1.5 * bytes, latency(1.5 * bytes), noise,
                            key_of({seed, static_cast<std::uint64_t>(bytes), 1})));
  }
  return find_levels(curve);
}

double npu_levels(double bytes) { return bytes <= 32768 ? 4.8 : bytes <= 0x1p27 ? 134 : 316; }

double host_levels(double b) {
  const auto rise = [&](double at, double step, double steep) {
    return step / (1 + std::exp(-std::log2(b / at) * steep));
  };
  return 1.75 + rise(60e3, 6.2, 6) + rise(3.2e6, 132, 3.5) + rise(300e6, 60, 4);
}

TEST(AnalysisLevels, FindsTheThreeLevelsOfTheModelledChip) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    for (bool halves : {false, true}) {
      const MemoryLevels levels = levels_of(npu_levels, 0.02, seed, halves);
      ASSERT_EQ(levels.plateaus.size(), 3u);
      EXPECT_EQ(levels.plateaus[0].last, 32768);
      EXPECT_EQ(levels.plateaus[0].next.value_or(0), halves ? 49152 : 65536);
      EXPECT_EQ(levels.plateaus[1].last, 0x1p27);
      EXPECT_FALSE(levels.plateaus[2].next);
      EXPECT_NEAR(levels.plateaus[0].latency.value.value_or(0), 4.8, 0.1);
      EXPECT_NEAR(levels.plateaus[1].latency.value.value_or(0), 134, 2);
      EXPECT_NEAR(levels.plateaus[2].latency.value.value_or(0), 316, 5);
    }
  }
}

TEST(AnalysisLevels, AnIntervalHoldsThatOfEveryFootprintOnItsPlateau) {
  // Footprints that differ by 4 % each way: samples pooled as one would give a far narrower
  // interval.
  Curve curve;
  for (int i = 0; i < 8; ++i) {
    curve.push_back(
        point(4096 << i, i % 2 == 0 ? 96 : 104, 0.01, key_of({5, static_cast<std::uint64_t>(i)})));
  }
  const MemoryLevels levels = find_levels(curve);
  ASSERT_EQ(levels.plateaus.size(), 1u);
  const Interval whole = levels.plateaus[0].latency.interval.value();
  for (const CurvePoint& one : curve) {
    EXPECT_LE(whole.low, one.y.interval.value().low);
    EXPECT_GE(whole.high, one.y.interval.value().high);
  }
  EXPECT_NEAR(levels.plateaus[0].latency.value.value(), 100, 2);
}

TEST(AnalysisLevels, FindsHostLevelsWithSlopedEdges) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    const MemoryLevels levels = levels_of(host_levels, 0.03, seed, true);
    ASSERT_EQ(levels.plateaus.size(), 4u) << seed;
    EXPECT_NEAR(levels.plateaus[0].latency.value.value_or(0), 1.75, 0.1);
    EXPECT_NEAR(levels.plateaus[1].latency.value.value_or(0), 8, 0.5);
    EXPECT_NEAR(levels.plateaus[2].latency.value.value_or(0), 140, 6);
    EXPECT_NEAR(levels.plateaus[3].latency.value.value_or(0), 198, 10);
  }
}

TEST(AnalysisLevels, FlatIsOneLevelAndARampIsNone) {
  EXPECT_EQ(levels_of([](double) { return 100.0; }, 0.03, 1, true).plateaus.size(), 1u);
  EXPECT_TRUE(levels_of([](double b) { return std::sqrt(b); }, 0.01, 1, true).plateaus.empty());
  EXPECT_TRUE(find_levels({}).cannot_tell);
}

TEST(AnalysisCores, FlagsOnlyWhatStandsOutBeyondItsInterval) {
  std::vector<CoreLatency> cores;
  for (int i = 0; i < 56; ++i) {
    const double value = i == 17 ? 180 : i % 2 == 0 ? 134 : 137;
    cores.push_back({{"vector", i}, point(i, value, 0.01, static_cast<std::uint64_t>(i)), false});
  }
  const CoreLatencies judged = judge_cores(cores);
  EXPECT_FALSE(judged.cannot_tell);
  for (const CoreLatency& core : judged.cores)
    EXPECT_EQ(core.outlier, core.core.number == 17) << core.core.str();
  cores.resize(2);
  EXPECT_TRUE(judge_cores(cores).cannot_tell);
}

}  // namespace
}  // namespace sonde
