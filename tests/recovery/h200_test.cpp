// What the suite's own analysis finds in the run of an NVIDIA H200 that is kept in data/: no card
// is needed. What the card is, is known from elsewhere: 132 SMs, 66 on each partition of the L2,
// and (by probes of other tools) eight clusters, six of 16 SMs and two of 18.
#include <gtest/gtest.h>

#include <filesystem>
#include <map>
#include <set>

#include "report/findings.h"

namespace sonde {
namespace {

std::multiset<std::size_t> sizes_of(const TreeLevel& level) {
  std::multiset<std::size_t> sizes;
  for (const auto& group : level.groups) sizes.insert(group.size());
  return sizes;
}

TEST(H200, TheStoredRunShowsWhatTheCardIs) {
  const StoredRun run =
      load_run(std::filesystem::path(SONDE_SOURCE_DIR) / "data/measured/h200_sxm", {});
  EXPECT_TRUE(run.warnings.empty());
  EXPECT_FALSE(run.any_refused());
  ASSERT_EQ(run.manifest.device.cores.size(), 132U);
  const RunAnalysis analysis = analyse_run(run);

  ASSERT_TRUE(analysis.tree);
  ASSERT_EQ(analysis.tree->levels.size(), 4U) << analysis.tree->reason;
  EXPECT_EQ(sizes_of(analysis.tree->levels[0]), (std::multiset<std::size_t>{66, 66}));
  EXPECT_NE(analysis.tree->levels[0].basis.find("profile.csv"), std::string::npos);
  EXPECT_EQ(sizes_of(analysis.tree->levels[1]),
            (std::multiset<std::size_t>{16, 16, 16, 16, 16, 16, 18, 18}));
  EXPECT_NE(analysis.tree->levels[1].basis.find("interfere.csv"), std::string::npos);
  // Inside a GPC the profile shows its CPCs, first one against the two that are alike, then all
  // three: of six SMs, or of four where a TPC is switched off.
  EXPECT_EQ(analysis.tree->levels[2].groups.size(), 16U);
  std::multiset<std::size_t> cpcs = sizes_of(analysis.tree->levels[3]);
  EXPECT_EQ(cpcs.size(), 24U);
  EXPECT_EQ(cpcs.count(6), 18U);
  EXPECT_EQ(cpcs.count(4), 6U);
  EXPECT_NE(analysis.tree->levels[3].basis.find("profile.csv"), std::string::npos);
  for (const TreeLevel& level : analysis.tree->levels) EXPECT_GE(level.stability.value_or(0), 0.95);

  std::map<std::string, Finding> findings;
  for (const Finding& finding : find_findings(analysis)) {
    findings[finding.name] = finding;
    if (!finding.value || !finding.low) continue;  // the last level has no end that was seen
    EXPECT_LE(*finding.low, finding.value) << finding.name;
    EXPECT_GE(*finding.high, finding.value) << finding.name;
    // Nothing here but the cost of a switch can be below zero.
    if (finding.name.find("_cost_ns") == std::string::npos) {
      EXPECT_GT(*finding.low, 0) << finding.name;
    }
  }
  const auto value = [&](const std::string& name) {
    const auto found = findings.find(name);
    EXPECT_NE(found, findings.end()) << name;
    return found == findings.end() ? 0.0 : found->second.value.value_or(0.0);
  };
  // One block an SM is a wave.
  EXPECT_EQ(value("chase.wave_blocks"), 132);
  // L1, L2 and memory: other tools read 32.5 to 38 cycles, 280 to 282 and 651 to 802 at 1,980 MHz.
  EXPECT_NEAR(value("chase.level_1.latency_ns"), 34 / 1.98, 1);
  EXPECT_NEAR(value("chase.level_2.latency_ns"), 281 / 1.98, 3);
  EXPECT_NEAR(value("chase.level_3.latency_ns"), 680 / 1.98, 20);
  EXPECT_EQ(value("chase.level_1.capacity_bytes"), 196'608);     // of 256 KiB; 256 KiB is beyond it
  EXPECT_EQ(value("chase.level_2.capacity_bytes"), 25'165'824);  // of the near half of 60 MiB
  // Memory, and the links to the host: 4.2 to 4.6 TB/s and 55 GB/s by other tools.
  EXPECT_NEAR(value("stream.memory_bytes_per_s.read"), 4.6e12, 0.2e12);
  EXPECT_NEAR(value("stream.memory_bytes_per_s.triad"), 4.2e12, 0.2e12);
  EXPECT_NEAR(value("copy.peak_bytes_per_s.h2d"), 55.5e9, 1e9);
  EXPECT_NEAR(value("copy.peak_bytes_per_s.d2h"), 55.3e9, 1e9);
  // At 16 MiB a copy within the card stays in L2.
  EXPECT_NEAR(value("copy.peak_bytes_per_s"), 2.54e12, 0.05e12);
  // 1,055 shapes against 989.4 TFLOP/s and 4.8 TB/s.
  EXPECT_NEAR(value("gemm.fraction.mean.datasheet"), 0.622, 0.002);
  EXPECT_NEAR(value("gemm.fraction.median.datasheet"), 0.684, 0.002);
  EXPECT_NEAR(value("gemm.fraction.time_weighted.datasheet"), 0.725, 0.002);
  EXPECT_NEAR(value("gemm.below_236.median.datasheet"), 0.544, 0.002);
  EXPECT_NEAR(value("gemm.clock_mhz.median"), 1650, 5);
  EXPECT_NEAR(value("gemm.power_w.median"), 691.6, 1);
}

}  // namespace
}  // namespace sonde
