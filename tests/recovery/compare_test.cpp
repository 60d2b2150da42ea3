// `sonde compare` on simulated rows whose truth is known: what is found, what is claimed in vain.
#include <gtest/gtest.h>

#include <cmath>

#include "core/error.h"
#include "report/compare.h"
#include "report/differences.h"
#include "tests/support/simulated_pair.h"

namespace sonde {
namespace {

using test::Noise;
using test::PairPlan;

struct Tally {
  int planted = 0, found = 0, clean = 0, alarms = 0;
};

Tally play(PairPlan plan, int pairs) {
  Tally tally;
  for (int k = 0; k < pairs; ++k) {
    plan.seed = key_of({77, static_cast<std::uint64_t>(k)});
    const StoredRun a = simulated_side(plan, false), b = simulated_side(plan, true);
    for (const PointComparison& point : compare_runs(a, b, {}).points) {
      const int bytes = std::stoi(point.label.substr(point.label.find("bytes ") + 6));
      const bool called = point.verdict == Verdict::slower || point.verdict == Verdict::faster;
      if (is_planted(plan, bytes - 1)) {
        ++tally.planted;
        tally.found += point.verdict == Verdict::slower;
      } else {
        ++tally.clean;
        tally.alarms += called;
      }
    }
  }
  return tally;
}

PointComparison only(const Comparison& comparison) {
  EXPECT_EQ(comparison.points.size(), 1u);
  return comparison.points.at(0);
}

/// A run of chase points, made row by row.
struct MadeRows {
  explicit MadeRows(TimeSource source = TimeSource::host_clock) {
    run.name = "r";
    run.manifest.device.name = "d";
    run.manifest.device.time_source = source;
    run.probes.push_back({&chase_schema(), "chase.csv", Table(chase_schema()), {}});
    run.probes.push_back({&profile_schema(), "profile.csv", Table(profile_schema()), {}});
  }
  Row row_of(const Schema& schema, std::vector<Cell> axes, std::int64_t repetition) {
    Row row;
    row.device = "d";
    row.time_source = run.manifest.device.time_source;
    row.repetition = repetition;
    row.order = order++;
    row.values = std::move(axes);
    row.values.resize(schema.size());
    return row;
  }
  void keep(const Schema& schema, const Row& row) {
    run.probes[&schema == &chase_schema() ? 0 : 1].table->rows.add(row);
  }
  void chase(const std::string& core, const std::vector<double>& ns, double clock_mhz = 0,
             std::int64_t loads = 100) {
    for (std::size_t i = 0; i < ns.size(); ++i) {
      Row row = row_of(chase_schema(), {core, std::int64_t{1}, std::int64_t{4096}, "warm"},
                       static_cast<std::int64_t>(i));
      row.values[chase_schema().index("loads")] = loads;
      row.values[chase_schema().index("elapsed_s")] = ns[i] * 1e-9 * static_cast<double>(loads);
      if (clock_mhz > 0) row.values[chase_schema().index("clock_mhz")] = clock_mhz;
      keep(chase_schema(), row);
    }
  }
  void profile(const std::string& core, double factor, std::int64_t repetition) {
    for (std::int64_t a = 0; a < 9; ++a) {
      Row row = row_of(profile_schema(), {core, a}, repetition);
      row.values[profile_schema().index("latency_ns")] =
          factor * (100 + 50 * static_cast<double>(a % 3));
      keep(profile_schema(), row);
    }
  }
  StoredRun run;
  std::int64_t order = 0;
};

std::vector<double> about(double value, int n = 8, std::uint64_t key = 1) {
  Rng rng(key);
  std::vector<double> samples;
  samples.reserve(static_cast<std::size_t>(n));
  for (int i = 0; i < n; ++i) samples.push_back(value * (1 + 0.001 * test::normal(rng)));
  return samples;
}

TEST(Compare, FindsThreePercentAtOnePercentNoise) {
  for (Noise noise : {Noise::normal, Noise::heavy, Noise::skewed, Noise::outliers}) {
    // Of eight samples two may be outliers; of twelve three hardly are.
    const int samples = noise == Noise::outliers ? 12 : 8;
    const Tally tally = play({200, samples, noise, 0.01, 20, 1.03, 0}, 10);
    EXPECT_EQ(tally.planted, 200);
    EXPECT_GE(tally.found, 190) << static_cast<int>(noise);
    EXPECT_LT(tally.alarms, tally.clean / 100) << static_cast<int>(noise);
  }
}

TEST(Compare, ASlowdownOfEveryPointIsNoNoise) {
  const Tally tally = play({100, 8, Noise::normal, 0.01, 100, 1.03, 0}, 4);
  EXPECT_GE(tally.found, 380);
}

TEST(Compare, ClaimsNothingWhereNothingChanged) {
  // Drift that all points share is a difference between two runs: it is tried on halves of one.
  for (Noise noise : {Noise::normal, Noise::heavy, Noise::skewed, Noise::outliers, Noise::mixed}) {
    for (int samples : {8, 18}) {
      const Tally tally = play({100, samples, noise, 0.01, 0, 1, 0}, 15);
      EXPECT_EQ(tally.clean, 1500);
      EXPECT_LT(tally.alarms, 15) << static_cast<int>(noise) << " " << samples;
    }
  }
}

TEST(Compare, HalvesOfOneRunRaiseNoAlarm) {
  for (Noise noise : {Noise::normal, Noise::heavy, Noise::drift, Noise::mixed}) {
    std::int64_t judged = 0, alarms = 0;
    for (std::uint64_t k = 0; k < 10; ++k) {
      const Comparison halves =
          compare_halves(test::simulated_side({100, 8, noise, 0.01, 0, 1, k}, false), {});
      judged += halves.judged();
      alarms += halves.count(Verdict::slower) + halves.count(Verdict::faster);
    }
    EXPECT_EQ(judged, 1000);
    EXPECT_LT(alarms, 10) << static_cast<int>(noise);
  }
}

TEST(Compare, IntervalsHoldTheTruth) {
  int inside = 0, all = 0;
  for (std::uint64_t k = 0; k < 20; ++k) {
    const PairPlan plan{100, 12, Noise::normal, 0.02, 100, 1.1, k};
    for (const auto& point :
         compare_runs(simulated_side(plan, false), simulated_side(plan, true), {}).points) {
      ++all;
      inside += point.time->interval->contains(1.1);
    }
  }
  // 95 % of 2,000, four standard deviations either way.
  EXPECT_GT(inside, all * 93 / 100);
  EXPECT_LT(inside, all * 97 / 100);
}

TEST(Compare, SameNeedsTheWholeIntervalInTheMargin) {
  MadeRows a, b;
  a.chase("cpu0", about(100, 8, 1));
  b.chase("cpu0", about(100.4, 8, 2));
  CompareOptions options;
  EXPECT_EQ(only(compare_runs(a.run, b.run, options)).verdict, Verdict::same);
  options.margin = 0.001;
  EXPECT_EQ(only(compare_runs(a.run, b.run, options)).verdict, Verdict::slower);
  EXPECT_EQ(only(compare_runs(b.run, a.run, options)).verdict, Verdict::faster);
}

TEST(Compare, TimeIsThatOfAUnitOfWork) {
  MadeRows a, b;
  a.chase("cpu0", about(100, 8, 1), 0, 100);
  b.chase("cpu0", about(100, 8, 2), 0, 800);
  EXPECT_EQ(only(compare_runs(a.run, b.run, {})).verdict, Verdict::same);
}

TEST(Compare, FewSamplesAndClockStepsAreNoProof) {
  MadeRows a, b;
  a.chase("cpu0", about(100, 7));
  b.chase("cpu0", about(150, 7));
  const PointComparison few = only(compare_runs(a.run, b.run, {}));
  EXPECT_EQ(few.verdict, Verdict::cannot_tell);
  EXPECT_EQ(few.reason, "fewer than 8 samples");
  EXPECT_FALSE(few.time->interval);
  MadeRows c, d;
  c.chase("cpu0", std::vector<double>(8, 100));
  d.chase("cpu0", std::vector<double>(8, 120));
  EXPECT_EQ(only(compare_runs(c.run, d.run, {})).verdict, Verdict::cannot_tell);
}

TEST(Compare, AModelMayRepeatExactly) {
  MadeRows a(TimeSource::modelled), b(TimeSource::modelled), c(TimeSource::modelled);
  a.chase("v0", {100, 100});
  b.chase("v0", {100, 100});
  c.chase("v0", {102, 102});
  EXPECT_EQ(only(compare_runs(a.run, b.run, {})).verdict, Verdict::same);
  CompareOptions options;
  options.fail_on = parse_fail_on("slower:1.9%");
  const Comparison slower = compare_runs(a.run, c.run, options);
  EXPECT_EQ(only(slower).verdict, Verdict::slower);
  EXPECT_NEAR(only(slower).time->value, 1.02, 1e-12);
  EXPECT_TRUE(slower.fails());
  options.fail_on = parse_fail_on("slower:2.1%");
  EXPECT_FALSE(compare_runs(a.run, c.run, options).fails());
  options.fail_on = parse_fail_on("faster:1.9%");
  EXPECT_FALSE(compare_runs(a.run, c.run, options).fails());
  EXPECT_TRUE(compare_runs(c.run, a.run, options).fails());
}

TEST(Compare, FailsOnlyBeyondDoubt) {
  CompareOptions options;
  options.fail_on = parse_fail_on("slower:5%");
  int at_bound = 0, beyond = 0;
  for (std::uint64_t k = 0; k < 100; ++k) {
    PairPlan plan{100, 12, Noise::normal, 0.01, 100, 1.05, k};
    const StoredRun a = simulated_side(plan, false);
    at_bound += compare_runs(a, simulated_side(plan, true), options).fails();
    plan.slowdown = 1.08;
    plan.planted = 1;
    beyond += compare_runs(a, simulated_side(plan, true), options).fails();
  }
  EXPECT_LE(at_bound, 4);  // at most 1 of 100 on average
  EXPECT_GE(beyond, 95);
}

TEST(Compare, SaysWhenTheClockExplainsIt) {
  MadeRows a, b, c;
  for (int core = 0; core < 10; ++core) {
    const auto key = static_cast<std::uint64_t>(core);
    const std::string name = "cpu" + std::to_string(core);
    a.chase(name, about(100, 8, key), 2000);
    b.chase(name, about(125, 8, key + 100), 1600);
    c.chase(name, about(125, 8, key + 100), 2000);
  }
  for (const PointComparison& point : compare_runs(a.run, b.run, {}).points) {
    EXPECT_EQ(point.verdict, Verdict::slower);
    EXPECT_TRUE(point.clock_explains);
    EXPECT_NEAR(point.cycles->value, 1, 0.003);
  }
  for (const PointComparison& point : compare_runs(a.run, c.run, {}).points) {
    EXPECT_FALSE(point.clock_explains);
    EXPECT_NEAR(point.cycles->value, 1.25, 0.004);
  }
}

TEST(Compare, NamesMissingPointsAndWhatDiffers) {
  MadeRows a, b;
  a.chase("cpu0", about(100));
  a.chase("cpu1", about(100));
  b.chase("cpu0", about(100));
  b.chase("cpu2", about(100));
  b.chase("cpu3", about(100));
  b.run.manifest.seed = 9;
  b.run.manifest.device.conditions = {{"governor", "powersave"}};
  a.run.manifest.steps = {{"chase", {{"order", "random"}}, "complete", true, ""}};
  b.run.manifest.steps = {{"chase", {{"order", "listed"}}, "complete", true, ""}};
  const Comparison comparison = compare_runs(a.run, b.run, {});
  EXPECT_EQ(comparison.probes.at(0).only_a.size(), 1u);
  EXPECT_EQ(comparison.probes.at(0).only_b.size(), 2u);
  EXPECT_NE(comparison.probes.at(0).only_a.at(0).find("cpu1"), std::string::npos);
  EXPECT_EQ(
      comparison.differences,
      (std::vector<std::string>{"seed: 1, then 9", "condition governor: not stated, then powersave",
                                "chase option order: random, then listed"}));
  MadeRows other;
  other.chase("cpu9", about(100));
  EXPECT_THROW(compare_runs(a.run, other.run, {}), UsageError);
}

TEST(Compare, AProfileIsOnePointACore) {
  MadeRows a(TimeSource::modelled), b(TimeSource::modelled);
  for (std::int64_t repetition : {0, 1}) {
    a.profile("v0", 1, repetition);
    a.profile("v1", 1, repetition);
    b.profile("v0", 1, repetition);
    b.profile("v1", 1.2, repetition);
  }
  const Comparison comparison = compare_runs(a.run, b.run, {});
  ASSERT_EQ(comparison.points.size(), 2u);
  EXPECT_EQ(comparison.points[0].label, "core v1");
  EXPECT_EQ(comparison.points[0].verdict, Verdict::slower);
  EXPECT_EQ(comparison.points[0].n_a, 2);
  EXPECT_NEAR(comparison.points[0].time_a, 150e-9, 1e-15);
  EXPECT_NEAR(comparison.points[0].time->value, 1.2, 1e-9);
  EXPECT_EQ(comparison.points[1].verdict, Verdict::same);
}

TEST(Compare, AWildPointIsJudgedByItsOwnScatter) {
  MadeRows a, b;
  for (int core = 0; core < 30; ++core) {
    const auto key = static_cast<std::uint64_t>(core);
    a.chase("cpu" + std::to_string(core), about(100, 8, key));
    b.chase("cpu" + std::to_string(core), about(100, 8, key + 100));
  }
  a.chase("cpu99", {90, 110, 95, 120, 85, 100, 105, 92});
  b.chase("cpu99", {99, 125, 108, 130, 90, 112, 101, 97});
  for (const PointComparison& point : compare_runs(a.run, b.run, {}).points) {
    EXPECT_EQ(point.verdict,
              point.label.find("cpu99") == std::string::npos ? Verdict::same : Verdict::cannot_tell)
        << point.label;
  }
}

TEST(Compare, BenjaminiAndHochbergStepsUp) {
  const std::vector<double> p = {0.04, 0.9, 0.011, 0.02, 0.2};
  // Bounds at 5 %: 0.01, 0.02, 0.03, 0.04, 0.05; the third smallest, 0.04, passes none but 0.02
  // does.
  EXPECT_EQ(discoveries(p, 0.05), (std::vector<bool>{false, false, true, true, false}));
  EXPECT_EQ(discoveries(std::vector<double>{0.06, 0.9}, 0.05), (std::vector<bool>{false, false}));
  EXPECT_TRUE(discoveries({}, 0.05).empty());
}

TEST(Compare, FailOnIsReadWhole) {
  EXPECT_EQ(parse_fail_on("faster:2.5%").verdict, Verdict::faster);
  EXPECT_DOUBLE_EQ(parse_fail_on("faster:2.5%").by, 0.025);
  for (const char* text : {"slower", "slower:5", "slow:5%", "slower:x%", "slower:-1%", ":5%", ""}) {
    EXPECT_THROW(parse_fail_on(text), UsageError) << text;
  }
}

}  // namespace
}  // namespace sonde
