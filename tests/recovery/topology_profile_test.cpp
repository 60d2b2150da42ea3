// Planted and absent structure in address profiles.
#include <gtest/gtest.h>

#include "tests/recovery/topology_truth.h"
#include "topology/levels.h"

namespace sonde {
namespace {

using truth::Blemish;
using truth::pair_accuracy;

std::vector<FoundLevel> levels_of(ProfileTable table, std::uint64_t seed) {
  keep_covered(table);
  return find_levels(*profile_evidence(table), seed);
}

/// Even cores on one die, odd ones on the other.
Partition interleaved(std::size_t cores) {
  Partition partition;
  for (std::size_t i = 0; i < cores; ++i) partition.push_back(static_cast<int>(i % 2));
  return partition;
}

TEST(TopologyProfile, FindsTwoDiesWhole) {
  const Partition dies = interleaved(84);
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    const auto levels = levels_of(truth::profile(84, 512, {{dies, 16}}, {}, seed), seed);
    ASSERT_EQ(levels.size(), 1U) << seed;
    EXPECT_EQ(group_count(levels[0].partition), 2);
    EXPECT_EQ(pair_accuracy(levels[0].partition, dies), 1) << seed;
    EXPECT_GT(levels[0].stability, 0.99);
  }
}

TEST(TopologyProfile, FindsDiesOfUnequalSize) {
  const Partition dies = truth::sizes({30, 12});
  for (bool hits_and_misses : {true, false}) {
    const auto levels = levels_of(
        truth::profile(42, 512, {{dies, 16}}, {.hits_and_misses = hits_and_misses}, 3), 3);
    ASSERT_EQ(levels.size(), 1U) << hits_and_misses;
    EXPECT_EQ(pair_accuracy(levels[0].partition, dies), 1);
  }
}

TEST(TopologyProfile, FindsTwoPairsAmongFourCores) {
  const Partition pairs = truth::sizes({2, 2});
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    const auto levels = levels_of(truth::profile(4, 512, {{pairs, 10}}, {}, seed), seed);
    ASSERT_EQ(levels.size(), 1U) << seed;
    EXPECT_EQ(pair_accuracy(levels[0].partition, pairs), 1);
  }
}

/// Memory in two groups of 66 far apart, eight clusters, pairs that are almost identical.
TEST(TopologyProfile, FindsATreeOfThreeLevels) {
  const Partition halves = truth::sizes({66, 66}), pairs = truth::blocks(132, 2),
                  clusters = truth::sizes({16, 16, 16, 18, 16, 16, 16, 18});
  for (std::uint64_t seed = 1; seed <= 2; ++seed) {
    const auto levels = levels_of(
        truth::profile(132, 1024, {{halves, 16}, {clusters, 6}, {pairs, 4}}, {}, seed), seed);
    ASSERT_EQ(levels.size(), 3U) << seed;
    EXPECT_EQ(pair_accuracy(levels[0].partition, halves), 1);
    EXPECT_EQ(pair_accuracy(levels[1].partition, clusters), 1);
    EXPECT_GE(pair_accuracy(levels[2].partition, pairs), 0.999);
    EXPECT_EQ(group_count(levels[2].partition), 66);
    for (const FoundLevel& level : levels) EXPECT_GT(level.stability, 0.9);
  }
}

/// Late loads, drift, own clocks, own offsets, noisy cores and holes, all at once.
TEST(TopologyProfile, FindsDiesThroughEveryBlemish) {
  const Partition dies = interleaved(40);
  const Blemish blemish{.offsets = 10,
                        .noisy_cores = 3,
                        .tails = 0.02,
                        .drift = 0.05,
                        .clocks = 0.03,
                        .missing = 0.2};
  for (std::uint64_t seed = 1; seed <= 3; ++seed) {
    const auto levels = levels_of(truth::profile(40, 1024, {{dies, 16}}, blemish, seed), seed);
    ASSERT_EQ(levels.size(), 1U) << seed;
    EXPECT_EQ(pair_accuracy(levels[0].partition, dies), 1) << seed;
  }
}

TEST(TopologyProfile, NoiseFreeProfilesGiveWhatIsPlantedAndNoMore) {
  const Partition dies = interleaved(12);
  const auto levels = levels_of(truth::profile(12, 256, {{dies, 16}}, {.noise = 0}, 1), 1);
  ASSERT_EQ(levels.size(), 1U);
  EXPECT_EQ(pair_accuracy(levels[0].partition, dies), 1);
  EXPECT_TRUE(levels_of(truth::profile(12, 256, {}, {.noise = 0}, 1), 1).empty());
}

/// What is said to be the smallest pattern that would have shown does show.
TEST(TopologyLimits, TheStatedPatternIsFound) {
  int found = 0;
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    const ProfileTable nothing = truth::profile(24, 512, {}, {}, seed);
    const double noise = pair_noise(*profile_evidence(nothing));
    const double size = profile_spread(nothing) * std::sqrt(kSureContrast * noise);
    const Partition groups = interleaved(24);
    const auto levels = levels_of(truth::profile(24, 512, {{groups, size}}, {}, seed), seed);
    found += levels.size() == 1 && pair_accuracy(levels[0].partition, groups) > 0.9 ? 1 : 0;
  }
  EXPECT_GE(found, 18);
}

struct Nothing {
  const char* name;
  Blemish blemish;
  std::size_t addresses;
};

class TopologyNoProfile : public ::testing::TestWithParam<Nothing> {};

TEST_P(TopologyNoProfile, FalseAlarmsAreRare) {
  int alarms = 0;
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    Rng rng(seed);
    // Few cores are the hard case: half of the cases have four to nine.
    const std::size_t cores = 4 + rng.below(seed % 2 == 1 ? 6 : 29);
    const ProfileTable table =
        truth::profile(cores, GetParam().addresses, {}, GetParam().blemish, seed);
    alarms += levels_of(table, seed).empty() ? 0 : 1;
  }
  EXPECT_LE(alarms, 10);
  RecordProperty("alarms", alarms);
}

INSTANTIATE_TEST_SUITE_P(
    Blemishes, TopologyNoProfile,
    ::testing::Values(Nothing{"plain", {}, 128}, Nothing{"offsets", {.offsets = 20}, 128},
                      Nothing{"noisy_cores", {.noisy_cores = 3}, 128},
                      Nothing{"tails", {.tails = 0.02}, 128},
                      Nothing{
                          "drift", {.noise = 0.005, .drift = 0.05, .hits_and_misses = false}, 512},
                      Nothing{"drift_of_hits_and_misses", {.drift = 0.05}, 512},
                      Nothing{"clocks", {.clocks = 0.05}, 128},
                      Nothing{"all",
                              {.offsets = 20,
                               .noisy_cores = 3,
                               .tails = 0.02,
                               .drift = 0.05,
                               .clocks = 0.05,
                               .missing = 0.2},
                              512}),
    [](const auto& test) { return std::string(test.param.name); });

}  // namespace
}  // namespace sonde
