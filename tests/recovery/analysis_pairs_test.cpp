// Findings of interference, hand-off, streaming and the tree against values computed by hand.
#include <gtest/gtest.h>

#include <cmath>

#include "report/findings.h"
#include "report/stream.h"
#include "tests/output/report_runs.h"

namespace sonde {
namespace {

using testing_runs::RunWriter;
using testing_runs::TempDir;

const Finding* find(const std::vector<Finding>& findings, const std::string& name) {
  for (const Finding& finding : findings) {
    if (finding.name == name) return &finding;
  }
  return nullptr;
}

TEST(AnalysisPairs, SlowDownsAreCountedAgainstTheControl) {
  TempDir temp;
  RunWriter run(temp.path() / "r");
  const auto name = [](int i) { return "vector" + std::to_string(i); };
  for (int v = 0; v < 4; ++v) {
    run.interfere(name(v), "none", "none", std::vector<double>(8, 100.0));
    for (int a = 0; a < 4; ++a) {
      if (a == v) continue;
      run.interfere(name(v), name(a), "register", std::vector<double>(8, 101.0));
      // Pairs 0-1 and 2-3 share something; 3 beside 2 suffers most.
      const double shared = v / 2 != a / 2 ? 100.5 : v == 3 ? 180 : 150;
      run.interfere(name(v), name(a), "load", std::vector<double>(8, shared));
    }
  }
  run.interfere(name(0), name(9), "load", {900}, Status::failed, "aggressor stood still");
  run.finish();
  const StoredRun stored = load_run(temp.path() / "r", {});
  const RunAnalysis analysis = analyse_run(stored);
  const std::vector<Finding> findings = find_findings(analysis);
  const Finding* largest = find(findings, "interfere.slow_down.load.max");
  ASSERT_NE(largest, nullptr);
  EXPECT_NEAR(largest->value.value_or(0), 1.8, 1e-9);
  EXPECT_EQ(largest->n, 12);
  EXPECT_NE(largest->basis.find("victim vector3, aggressor vector2"), std::string::npos);
  const Finding* above = find(findings, "interfere.above_register.load");
  ASSERT_NE(above, nullptr);
  EXPECT_NEAR(above->value.value_or(0), 4.0 / 12, 1e-9);
  EXPECT_NEAR(find(findings, "interfere.slow_down.register.max")->value.value_or(0), 1.01, 1e-9);
  EXPECT_EQ(find(findings, "interfere.above_register.register"), nullptr);
  EXPECT_EQ(analysis.counts.at("interfere").failed, 1);
}

TEST(AnalysisPairs, HandoffSpeaksOfPairsNotOfSamples) {
  TempDir temp;
  RunWriter run(temp.path() / "r");
  const double ns[3][3] = {{0, 60, 140}, {61, 0, 141}, {142, 143, 0}};
  for (int f = 0; f < 3; ++f) {
    for (int t = 0; t < 3; ++t) {
      if (f == t) continue;
      // A slow line among them does not move the median of a pair.
      run.handoff("vector" + std::to_string(f), "vector" + std::to_string(t), "read",
                  {ns[f][t], ns[f][t], 900, ns[f][t], ns[f][t]});
    }
  }
  run.finish();
  const StoredRun stored = load_run(temp.path() / "r", {});
  const std::vector<Finding> findings = find_findings(analyse_run(stored));
  EXPECT_NEAR(find(findings, "handoff.latency_ns.read.median")->value.value_or(0), 140.5, 1e-9);
  EXPECT_EQ(find(findings, "handoff.latency_ns.read.median")->n, 6);
  EXPECT_NEAR(find(findings, "handoff.latency_ns.read.min")->value.value_or(0), 60, 1e-9);
  EXPECT_NEAR(find(findings, "handoff.latency_ns.read.max")->value.value_or(0), 143, 1e-9);
  EXPECT_EQ(find(findings, "handoff.latency_ns.write.median"), nullptr);
}

TEST(AnalysisPairs, TheTreeGivesGroupsAndStabilityCoarsestFirst) {
  StoredRun run;
  run.name = "r";
  RunAnalysis analysis;
  analysis.run = &run;
  analysis.tree.emplace();
  const std::vector<CoreName> all = {{"sm", 0}, {"sm", 1}, {"sm", 2}, {"sm", 3}};
  analysis.tree->levels = {
      {"level_1", {{all[0], all[1], all[2]}, {all[3]}}, 0.97, "profile.csv"},
      {"level_2", {{all[0]}, {all[1], all[2]}, {all[3]}}, std::nullopt, "interfere.csv load"}};
  const std::vector<Finding> findings = find_findings(analysis);
  ASSERT_EQ(findings.size(), 3u);  // an unknown stability is no finding
  EXPECT_EQ(findings[0].name, "topology.level_1.groups");
  EXPECT_EQ(findings[0].value, 2);
  EXPECT_EQ(findings[0].n, 4);
  EXPECT_EQ(findings[1].name, "topology.level_1.stability");
  EXPECT_EQ(findings[1].value, 0.97);
  EXPECT_EQ(findings[2].name, "topology.level_2.groups");
  EXPECT_EQ(findings[2].value, 3);
}

TEST(AnalysisStream, MemoryIsBeyondTwiceTheLastDeclaredCache) {
  DeviceDescription device;
  EXPECT_FALSE(device.memory_from_bytes());
  device.memory = {{"DRAM", std::int64_t{1} << 40, std::nullopt}};
  EXPECT_FALSE(device.memory_from_bytes());
  device.memory.insert(device.memory.begin(), {"L3", std::int64_t{1} << 25, 64});
  EXPECT_EQ(device.memory_from_bytes(), 1 << 26);
  device.memory[0].instances = 8;  // eight such caches hold eight times as much
  EXPECT_EQ(device.memory_from_bytes(), 1 << 29);
  device.memory[0].capacity_bytes.reset();
  EXPECT_FALSE(device.memory_from_bytes());
}

TEST(AnalysisStream, CountsTheArraysOfAllCores) {
  TempDir temp;
  RunWriter run(temp.path() / "r");
  run.manifest.device.memory = {{"L2", 1 << 20, 64}, {"HBM", 1 << 30, std::nullopt}};
  const std::vector<double> rate(8, 1e12);
  run.stream("vector0-3", "triad", 1 << 18, rate);  // 4 cores x 3 arrays x 256 KiB = 3 MiB
  run.stream("vector0-3", "read", 1 << 18, rate);   // 1 MiB
  run.stream("vector0-3", "read", (1 << 19) + 4096, std::vector<double>(8, 2e12), 4096, 8);
  run.finish();
  const StoredRun stored = load_run(temp.path() / "r", {});
  const RunAnalysis analysis = analyse_run(stored);
  ASSERT_EQ(analysis.stream->points.size(), 3u);
  EXPECT_EQ(analysis.stream->points[0].total_bytes(), 3 << 20);
  EXPECT_TRUE(analysis.stream->points[0].memory);
  EXPECT_FALSE(analysis.stream->points[1].memory);
  EXPECT_TRUE(analysis.stream->points[2].memory);
  const std::vector<Finding> findings = find_findings(analysis);
  EXPECT_NEAR(find(findings, "stream.memory_bytes_per_s.read")->value.value_or(0), 2e12, 1);
  EXPECT_EQ(find(findings, "stream.memory_bytes_per_s.read")->n, 8);
}

TEST(AnalysisProfile, RowsAreCountedAndConditionsKept) {
  TempDir temp;
  RunWriter run(temp.path() / "r");
  for (int core = 0; core < 3; ++core)
    run.profile("vector" + std::to_string(core), {100, 110, 120, 130}, 0, 1500.0 + 100 * core);
  run.row(profile_schema(), {"vector3", Cell()}, {}, 0, Status::failed, "the chain is broken");
  run.finish();
  const StoredRun stored = load_run(temp.path() / "r", {});
  ASSERT_TRUE(stored.probe("profile")->table) << stored.probe("profile")->problems.front();
  const RunAnalysis analysis = analyse_run(stored);
  const RowCounts& counts = analysis.counts.at("profile");
  EXPECT_EQ(counts.ok, 12);
  EXPECT_EQ(counts.failed, 1);
  EXPECT_EQ(counts.reasons.at("failed: the chain is broken"), 1);
  ASSERT_EQ(counts.empty_points.size(), 1u);
  EXPECT_EQ(counts.empty_points[0], "core vector3");
  const std::vector<Finding> findings = find_findings(analysis);
  const Finding* clock = find(findings, "profile.clock_mhz.median");
  ASSERT_NE(clock, nullptr);
  EXPECT_EQ(clock->value, 1600);
  EXPECT_EQ(clock->n, 3);
}

/// A core whose first visit failed and whose second did not has been measured.
TEST(AnalysisProfile, ACoreThatFailedOnceIsNotWithoutSamples) {
  TempDir temp;
  RunWriter run(temp.path() / "r");
  run.row(profile_schema(), {"vector0", Cell()}, {}, 0, Status::failed, "the chain is broken");
  run.profile("vector0", {100, 110, 120, 130}, 1);
  run.profile("vector1", {100, 110, 120, 130});
  run.finish();
  const StoredRun stored = load_run(temp.path() / "r", {});
  const RowCounts counts = analyse_run(stored).counts.at("profile");
  EXPECT_EQ(counts.ok, 8);
  EXPECT_EQ(counts.failed, 1);
  EXPECT_TRUE(counts.empty_points.empty()) << counts.empty_points.front();
}

}  // namespace
}  // namespace sonde
