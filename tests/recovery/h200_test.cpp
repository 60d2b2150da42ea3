// What the suite's own analysis finds in the run of an NVIDIA H200 that is kept in data/: no card is
// needed. What the card is, is known from elsewhere: 132 SMs, 66 on each partition of the L2, and
// (by probes of other tools) eight clusters, six of 16 SMs and two of 18.
#include <gtest/gtest.h>

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
  const StoredRun run = load_run(std::string(SONDE_SOURCE_DIR) + "/data/measured/h200_sxm", {});
  EXPECT_TRUE(run.warnings.empty());
  EXPECT_FALSE(run.any_refused());
  ASSERT_EQ(run.manifest.device.cores.size(), 132U);
  const RunAnalysis analysis = analyse_run(run);

  ASSERT_TRUE(analysis.tree);
  ASSERT_GE(analysis.tree->levels.size(), 2U) << analysis.tree->reason;
  EXPECT_EQ(sizes_of(analysis.tree->levels[0]), (std::multiset<std::size_t>{66, 66}));
  EXPECT_NE(analysis.tree->levels[0].basis.find("profile.csv"), std::string::npos);
  EXPECT_EQ(sizes_of(analysis.tree->levels[1]),
            (std::multiset<std::size_t>{16, 16, 16, 16, 16, 16, 18, 18}));
  EXPECT_NE(analysis.tree->levels[1].basis.find("interfere.csv"), std::string::npos);

  std::map<std::string, Finding> findings;
  for (const Finding& finding : find_findings(analysis)) findings[finding.name] = finding;
  const auto value = [&](const std::string& name) {
    const auto found = findings.find(name);
    EXPECT_NE(found, findings.end()) << name;
    return found == findings.end() ? 0.0 : found->second.value.value_or(0.0);
  };
@EXPECT@
}

}  // namespace
}  // namespace sonde
