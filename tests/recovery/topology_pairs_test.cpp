// Planted and absent sharing in matrices of pairs: slow-down and hand-off.
#include <gtest/gtest.h>

#include "tests/recovery/topology_truth.h"
#include "topology/levels.h"

namespace sonde {
namespace {

using truth::pair_accuracy;

/// 28 subsystems of three cores in groups of up to three subsystems, five groups a die.
struct Chip {
  Partition dies, groups, subsystems;
  Chip() {
    int group = 0, subsystem = 0;
    for (int die = 0; die < 2; ++die) {
      for (int size : {3, 3, 3, 3, 2}) {
        for (int s = 0; s < size; ++s, ++subsystem) {
          for (int core = 0; core < 3; ++core) {
            dies.push_back(die);
            groups.push_back(group);
            subsystems.push_back(subsystem);
          }
        }
        ++group;
      }
    }
  }
};

std::vector<FoundLevel> levels_of(const CoreMatrix& matrix, std::uint64_t seed,
                                  double least_noise = 0) {
  return find_levels(*pair_evidence(matrix, least_noise), seed);
}

TEST(TopologyPairs, FindsGroupsAndSubsystems) {
  const Chip chip;
  for (double noise : {0.005, 0.02, 0.03}) {
    for (std::uint64_t seed = 1; seed <= 3; ++seed) {
      const auto levels = levels_of(
          truth::pairs(84, {{chip.groups, 0.1}, {chip.subsystems, 0.4}}, noise, 0.03, seed), seed);
      ASSERT_EQ(levels.size(), 2U) << noise << ' ' << seed;
      EXPECT_GE(pair_accuracy(levels[0].partition, chip.groups), 0.999);
      EXPECT_EQ(pair_accuracy(levels[1].partition, chip.subsystems), 1);
      EXPECT_GT(levels[1].stability, 0.99);
    }
  }
}

TEST(TopologyPairs, FindsADieThatCostsThreePercent) {
  const Chip chip;
  const auto levels =
      levels_of(truth::pairs(84, {{chip.dies, 0.03}, {chip.groups, 0.1}, {chip.subsystems, 0.4}},
                             0.005, 0.01, 1),
                1);
  ASSERT_EQ(levels.size(), 3U);
  EXPECT_EQ(pair_accuracy(levels[0].partition, chip.dies), 1);
  EXPECT_EQ(pair_accuracy(levels[1].partition, chip.groups), 1);
  EXPECT_EQ(pair_accuracy(levels[2].partition, chip.subsystems), 1);
}

TEST(TopologyPairs, FindsSiblingsAmongFewCores) {
  for (std::size_t cores : {4U, 6U, 8U, 16U}) {
    for (std::uint64_t seed = 1; seed <= 5; ++seed) {
      const Partition siblings = truth::blocks(cores, 2);
      const auto levels = levels_of(truth::pairs(cores, {{siblings, 0.5}}, 0.01, 0.03, seed), seed);
      ASSERT_EQ(levels.size(), 1U) << cores << ' ' << seed;
      EXPECT_EQ(pair_accuracy(levels[0].partition, siblings), 1);
    }
  }
}

TEST(TopologyPairs, HalfOfThePairsAreEnough) {
  const Chip chip;
  for (std::uint64_t seed = 1; seed <= 3; ++seed) {
    const auto levels = levels_of(
        truth::pairs(84, {{chip.groups, 0.1}, {chip.subsystems, 0.4}}, 0.02, 0.03, seed, 0, 0.5),
        seed);
    ASSERT_EQ(levels.size(), 2U) << seed;
    EXPECT_GE(pair_accuracy(levels[0].partition, chip.groups), 0.98);
    EXPECT_GE(pair_accuracy(levels[1].partition, chip.subsystems), 0.98);
  }
}

/// Groups below the spread of the control are not believed.
TEST(TopologyPairs, TheControlSetsTheFloor) {
  const Partition groups = truth::blocks(24, 4);
  const CoreMatrix matrix = truth::pairs(24, {{groups, 0.02}}, 0.002, 0, 1);
  EXPECT_EQ(levels_of(matrix, 1).size(), 1U);
  EXPECT_TRUE(levels_of(matrix, 1, 0.2).empty());
}

TEST(TopologyLimits, TheStatedSlowDownIsFound) {
  int found = 0;
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    const double noise = pair_noise(*pair_evidence(truth::pairs(24, {}, 0.02, 0.02, seed), 0));
    const Partition groups = truth::blocks(24, 4);
    const auto levels =
        levels_of(truth::pairs(24, {{groups, kSureContrast * noise}}, 0.02, 0.02, seed), seed);
    found += levels.size() == 1 && pair_accuracy(levels[0].partition, groups) > 0.9 ? 1 : 0;
  }
  EXPECT_GE(found, 18);
}

struct Nothing {
  const char* name;
  double own_strength, tails, missing;
};

class TopologyNoSharing : public ::testing::TestWithParam<Nothing> {};

TEST_P(TopologyNoSharing, FalseAlarmsAreRare) {
  int alarms = 0;
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    Rng rng(seed);
    const std::size_t cores = 4 + rng.below(seed % 2 == 1 ? 6 : 60);
    const CoreMatrix matrix = truth::pairs(cores, {}, 0.02, GetParam().own_strength, seed,
                                           GetParam().tails, GetParam().missing);
    alarms += levels_of(matrix, seed).empty() ? 0 : 1;
  }
  EXPECT_LE(alarms, 10);
  RecordProperty("alarms", alarms);
}

INSTANTIATE_TEST_SUITE_P(Blemishes, TopologyNoSharing,
                         ::testing::Values(Nothing{"plain", 0, 0, 0},
                                           Nothing{"own_strength", 0.1, 0, 0},
                                           Nothing{"tails", 0.02, 0.02, 0},
                                           Nothing{"missing", 0.02, 0, 0.4}),
                         [](const auto& test) { return std::string(test.param.name); });

}  // namespace
}  // namespace sonde
