// Parts of the inference alone, on the cases at their edges.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "tests/recovery/made_probe.h"
#include "tests/recovery/topology_truth.h"
#include "topology/gram.h"
#include "topology/levels.h"
#include "topology/profile_fit.h"
#include "topology/sources.h"

namespace sonde {
namespace {

using truth::probe_of;

/// Similar by 1 within a group, by 0.1 beside it, everywhere the same weight.
Similarity alike(const Partition& groups) {
  Similarity table(groups.size(), groups.size());
  for (std::size_t i = 0; i < groups.size(); ++i) {
    for (std::size_t j = 0; j < groups.size(); ++j) table(i, j) = groups[i] == groups[j] ? 1 : 0.1;
  }
  return table;
}

TEST(Dendrogram, CutsIntoAsManyGroupsAsAnotherPartitionHas) {
  for (const Partition& groups :
       {Partition{0, 1, 1, 2, 2}, Partition{0, 0, 1, 1, 2}, Partition{0, 1, 1, 1, 1}}) {
    const Dendrogram tree(alike(groups), Matrix(5, 5, 1), one_group(5));
    EXPECT_EQ(tree.cut_like(groups), groups);
    EXPECT_EQ(tree.cut_above(0.5), groups);
    EXPECT_EQ(tree.cut_above(0.05), one_group(5));
    EXPECT_EQ(tree.cut_above(1), single_groups(5));
    ASSERT_EQ(tree.joins().size(), 4U);
    EXPECT_EQ(tree.joins().front(), 1);
    EXPECT_NEAR(tree.joins().back(), 0.1, 1e-12);
  }
  EXPECT_EQ(Dendrogram(alike({0}), Matrix(1, 1, 1), {0}).cut_like({0}), Partition{0});
}

TEST(Dendrogram, NeverJoinsAcrossParents) {
  const Partition parents{0, 0, 0, 1, 1, 1};
  const Dendrogram tree(Matrix(6, 6, 1), Matrix(6, 6, 1), parents);
  EXPECT_EQ(tree.cut_above(0), parents);
  EXPECT_EQ(tree.cut_like({0, 1, 1, 2, 2, 2}), (Partition{0, 0, 1, 2, 2, 2}));
  EXPECT_EQ(tree.joins().size(), 4U);
}

TEST(Dendrogram, WeighsPairsByHowManyTheyStandFor) {
  // 0 and 1 join first; with 2 they then share (9 * 0.4 + 1 * 0.9) / 10.
  Similarity table(3, 3);
  Matrix weight(3, 3, 1);
  table(0, 1) = table(1, 0) = 1;
  table(0, 2) = table(2, 0) = 0.4;
  table(1, 2) = table(2, 1) = 0.9;
  weight(0, 2) = weight(2, 0) = 9;
  const Dendrogram tree(table, weight, one_group(3));
  ASSERT_EQ(tree.joins().size(), 2U);
  EXPECT_NEAR(tree.joins()[1], 0.45, 1e-12);
}

TEST(AdjustedRand, IsOneForTheSameAndNoneForChance) {
  const Partition one = one_group(6), single = single_groups(6);
  const Partition pairs = truth::blocks(6, 2), halves = truth::blocks(6, 3);
  EXPECT_EQ(adjusted_rand(pairs, pairs, one), 1);
  EXPECT_EQ(adjusted_rand(one, one, one), 1);
  EXPECT_EQ(adjusted_rand(single, single, one), 1);
  EXPECT_EQ(adjusted_rand(single, pairs, one), 0);
  // Two of the three pairs lie in one half: (2 - 3 * 6 / 15) / (4.5 - 1.2).
  EXPECT_NEAR(adjusted_rand(pairs, halves, one), 0.8 / 3.3, 1e-12);
  EXPECT_EQ(adjusted_rand(pairs, pairs, halves), 1);
  EXPECT_EQ(adjusted_rand(one, one, single), 1);
}

TEST(Gram, IsTheMeanProductOfColumnsOverTheRowsAsked) {
  Matrix columns(4, 2);
  for (std::size_t r = 0; r < 4; ++r) {
    columns(r, 0) = static_cast<double>(r + 1);
    columns(r, 1) = 2;
  }
  columns(1, 1) = std::nan("");
  const Matrix products = mean_products(columns, 1, 4);
  EXPECT_NEAR(products(0, 0), (4 + 9 + 16) / 3.0, 1e-12);
  EXPECT_NEAR(products(1, 1), (4 + 4) / 3.0, 1e-12);
  EXPECT_NEAR(products(0, 1), (6 + 8) / 3.0, 1e-12);
  EXPECT_EQ(products(0, 1), products(1, 0));
}

TEST(ProfileFit, WhatFewAddressesShowIsKeptWhereAllElseIsEqual) {
  Profiles profiles(64, 8, 100);
  for (std::size_t c = 0; c < 8; ++c) {
    for (std::size_t a = c < 4 ? 0 : 4; a < 64; a += 8) profiles(a, c) = 150;
  }
  const ProfileFit fit = fit_profiles(profiles);
  const auto [least, most] = std::minmax_element(fit.rest.cells().begin(), fit.rest.cells().end());
  EXPECT_LT(*least, -1);
  EXPECT_GT(*most, 1);
  EXPECT_NEAR(fit.rounding, 1e-7, 1e-12);
}

std::vector<FoundLevel> levels_of(const std::vector<int>& sizes) {
  const Partition groups = truth::sizes(sizes);
  return find_levels(
      *pair_evidence(truth::pairs(groups.size(), {{groups, 0.3}}, 0.005, 0.01, 5), 0.005), 1);
}

TEST(FindLevels, AFewThatShareAmongStrangersAreALevelOneOddCoreIsNot) {
  const std::vector<FoundLevel> few = levels_of({4, 1, 1, 1, 1, 1, 1, 1, 1});
  ASSERT_EQ(few.size(), 1U);
  EXPECT_EQ(few[0].partition, truth::sizes({4, 1, 1, 1, 1, 1, 1, 1, 1}));
  EXPECT_TRUE(levels_of({11, 1}).empty());
  EXPECT_EQ(levels_of({6, 6}).size(), 1U);
  EXPECT_TRUE(levels_of({2, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1}).empty());
  EXPECT_TRUE(levels_of({12}).empty());
  EXPECT_EQ(levels_of({3, 2, 1, 1, 1, 1, 1, 1, 1}).size(), 1U);  // rests on four pairs
  EXPECT_EQ(levels_of({10, 1, 1}).size(), 1U);                   // two odd ones
  EXPECT_TRUE(levels_of({1, 2}).empty());                        // fewer than four cores
}

TEST(ReadProfile, IsTheMedianOfEachCoreAndAddressInTheOrderVisited) {
  std::vector<std::vector<Cell>> rows;
  const auto add = [&](const char* core, int index, int bytes, double ns) {
    rows.push_back({core, std::int64_t{index}, std::int64_t{bytes}, ns, 1e-6});
  };
  add("sm7", 1, 64, 30);  // 10, 20, 30: 20
  add("sm2", 0, 128, 5);
  add("sm7", 0, 128, 9);
  add("sm7", 1, 64, 10);
  add("sm2", 1, 64, 4);  // 1, 4: 2.5
  add("sm7", 1, 64, 20);
  add("sm2", 1, 64, 1);
  add("none", 0, 128, 7);  // no core
  const ProfileTable table = read_profile(probe_of(profile_schema(), rows), TimeSource::modelled);
  EXPECT_EQ(table.cores, (std::vector<CoreName>{{"sm", 2}, {"sm", 7}}));
  EXPECT_EQ(table.addresses, (std::vector<std::int64_t>{128, 64}));
  EXPECT_EQ(table.latency_ns(0, 0), 5);
  EXPECT_EQ(table.latency_ns(1, 0), 2.5);
  EXPECT_EQ(table.latency_ns(0, 1), 9);
  EXPECT_EQ(table.latency_ns(1, 1), 20);
  EXPECT_EQ(table.without_row, std::vector<std::string>{"none"});
  EXPECT_TRUE(read_profile(probe_of(profile_schema(), rows), TimeSource::host_clock).cores.empty());
}

TEST(JudgeHandoff, LeavesOutACoreThatWasMeasuredWithHardlyAnyOther) {
  std::vector<std::vector<Cell>> rows;
  for (int from = 0; from < 12; ++from) {
    for (int to = 0; to < 12; ++to) {
      // The last one was measured with the first alone, of eleven others.
      if (from == to || (from == 11 && to > 0) || to == 11) continue;
      const double ns = from / 4 == to / 4 ? 50 : 200;
      rows.push_back({"cpu" + std::to_string(from), "cpu" + std::to_string(to), "write",
                      std::int64_t{0}, std::int64_t{100}, ns * 2e-7, ns});
    }
  }
  const auto all = judge_handoff(probe_of(handoff_schema(), rows), TimeSource::modelled, 1);
  ASSERT_EQ(all.size(), 1U);
  EXPECT_TRUE(all[0].verdict.find("(left out: cpu11, too few pairs)") != std::string::npos)
      << all[0].verdict;
  EXPECT_EQ(all[0].seen.size(), 12U);
  ASSERT_EQ(all[0].levels.size(), 1U) << all[0].verdict;
  EXPECT_EQ(all[0].levels[0].groups.size(), 3U);
}

}  // namespace
}  // namespace sonde
