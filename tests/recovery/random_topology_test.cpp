// Chips drawn by seed through the engines, rows and inference: what is planted comes out, and what
// is not planted does not. The inference sees rows and manifest alone. A fixed sample of what
// tests/score/topology_score.cpp proves at length.
#include <gtest/gtest.h>

#include <algorithm>
#include <iostream>

#include "tests/support/chip_outcome.h"
#include "tests/support/sanitized.h"

namespace sonde {
namespace {

using Kind = sim::Selector::Structure;

constexpr std::size_t kMostCores = 96;
constexpr int kChips = test::kSanitized ? 10 : 60;

std::vector<ChipOutcome> sweep(Kind kind) {
  std::vector<ChipOutcome> all;
  for (std::uint64_t seed = 1; static_cast<int>(all.size()) < kChips; ++seed) {
    const sim::Topology topology(sim::random_chip(seed, kind));
    if (topology.cores().size() > kMostCores) continue;
    all.push_back(measure_chip(seed, kind, {}));
    std::cout << text_of(all.back()) << '\n';
  }
  return all;
}

TEST(RandomTopology, WhatIsPlantedComesOut) {
  int whole = 0, decidable = 0, planted = 0, found = 0, others = 0, sure = 0, sure_right = 0;
  for (const ChipOutcome& o : sweep(Kind::planted)) {
    EXPECT_FALSE(o.levels.empty()) << o.seed;
    whole += o.every_decidable() ? 1 : 0;
    others += o.made_up();
    for (std::size_t l = 0; l < o.levels.size(); ++l) {
      decidable += o.levels[l].decidable() ? 1 : 0;
      ++planted;
      found += o.found[l] ? 1 : 0;
    }
    for (std::size_t l = 0; l < o.right.size(); ++l) {
      if (o.tree.levels[l].stability.value_or(0) < 0.95) continue;
      ++sure;
      sure_right += o.right[l] ? 1 : 0;
    }
  }
  std::cout << whole << " of " << kChips << " chips with every decidable level; " << found << " of "
            << planted << " levels found, " << decidable << " were decidable, " << others
            << " made up; " << sure_right << " of " << sure << " stable ones are right\n";
  EXPECT_GE(2 * decidable, 3 * kChips);
  EXPECT_GE(whole, kChips - 2);
  EXPECT_GE(found, decidable - 2);
  EXPECT_LE(20 * others, planted);
  EXPECT_GE(20 * sure_right, 19 * sure);
}

TEST(RandomTopology, NothingPlantedIsNoneFound) {
  int alarms = 0;
  for (const ChipOutcome& o : sweep(Kind::none)) {
    EXPECT_TRUE(o.levels.empty()) << o.seed;
    alarms += o.tree.none_found ? 0 : 1;
  }
  std::cout << alarms << " of " << kChips << " chips without structure seem to have one\n";
  EXPECT_LE(alarms, 1);
}

/// The chip of the study: dies, sharing groups and subsystems, from less than half of the launches
/// that every ordered pair would take.
TEST(RandomTopology, TheStudysChipComesOutFromASparseDesign) {
  const auto device = open_device("sim:950pr_9579");
  ChipRows rows(device->description());
  measure_profiles(*device, 1024, rows);
  const ChipDesign design;
  const std::int64_t launches = measure_pairs(*device, design.launches, rows);
  EXPECT_LE(2 * launches, std::int64_t{84} * 83 * design.launches);
  const CoreTree tree = infer_core_tree(rows.run());
  const auto planted = sim::planted_structure(sim::load_chip("950pr_9579"));
  ASSERT_EQ(planted.size(), 3u);
  ASSERT_EQ(tree.levels.size(), 3u) << tree.reason;
  for (std::size_t l = 0; l < planted.size(); ++l) {
    EXPECT_EQ(sets_of(tree.levels[l]), planted[l].groups) << planted[l].name;
  }
  // Two dies of 14 subsystems, each of one Cube and two Vectors.
  EXPECT_EQ(tree.levels[0].groups.size(), 2u);
  EXPECT_EQ(tree.levels[2].groups.size(), 28u);
  for (const auto& subsystem : tree.levels[2].groups) {
    ASSERT_EQ(subsystem.size(), 3u);
    EXPECT_EQ(std::count_if(subsystem.begin(), subsystem.end(),
                            [](const CoreName& core) { return core.kind == "cube"; }),
              1);
  }
}

}  // namespace
}  // namespace sonde
