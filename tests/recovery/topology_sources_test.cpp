// What each source of a tree says of small inputs made by hand, on both sides of its limits.
#include "topology/sources.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "tests/recovery/made_probe.h"
#include "tests/recovery/topology_truth.h"

namespace sonde {
namespace {

using truth::probe_of;
constexpr double kNone = std::numeric_limits<double>::quiet_NaN();

bool ends_with(const std::string& text, const std::string& end) {
  return text.size() >= end.size() && text.substr(text.size() - end.size()) == end;
}

/// A column a core.
ProfileTable table_of(const std::vector<std::vector<double>>& columns) {
  ProfileTable table;
  table.cores = truth::names(columns.size());
  table.latency_ns = Matrix(columns.front().size(), columns.size());
  for (std::size_t a = 0; a < columns.front().size(); ++a) {
    table.addresses.push_back(static_cast<std::int64_t>(64 * a));
    for (std::size_t c = 0; c < columns.size(); ++c) table.latency_ns(a, c) = columns[c][a];
  }
  return table;
}

TEST(KeepCovered, LeavesOutCoresWithLessThanHalfAndThoseThatNeverVary) {
  ProfileTable table = table_of({{1, 2, 3, 4},
                                 {kNone, 5, 6, kNone},
                                 {7, kNone, kNone, kNone},
                                 {8, 8, 8, 8},
                                 {kNone, kNone, kNone, kNone},
                                 {9, 9, 9, 10}});
  table.without_row = {"cpu9"};
  keep_covered(table);
  EXPECT_EQ(table.cores, (std::vector<CoreName>{{"sm", 0}, {"sm", 1}, {"sm", 5}}));
  EXPECT_EQ(table.without_row, (std::vector<std::string>{"cpu9", "sm2", "sm3", "sm4"}));
  EXPECT_EQ(table.addresses, (std::vector<std::int64_t>{0, 64, 128, 192})) << "two of three";
  ASSERT_EQ(table.latency_ns.cols(), 3U);
  ASSERT_EQ(table.latency_ns.rows(), 4U);
  EXPECT_TRUE(std::isnan(table.latency_ns(0, 1)));
  EXPECT_EQ(table.latency_ns(2, 1), 6);
  EXPECT_EQ(table.latency_ns(3, 2), 10);
}

TEST(KeepCovered, LeavesOutAddressesOfLessThanHalfOfTheCores) {
  ProfileTable table = table_of({{1, 2, 3, kNone}, {4, kNone, 5, 6}, {7, kNone, 8, kNone}});
  keep_covered(table);
  EXPECT_EQ(table.addresses, (std::vector<std::int64_t>{0, 128})) << "one of three is less";
  EXPECT_EQ(table.latency_ns(1, 1), 5);
  EXPECT_EQ(table.latency_ns(1, 2), 8);
  ProfileTable even = table_of({{1, 2, 3}, {4, kNone, 5}});
  keep_covered(even);
  EXPECT_EQ(even.addresses.size(), 3U) << "one of two is not";
  ProfileTable none = table_of({{1, 1}, {kNone, 3}});
  keep_covered(none);
  EXPECT_TRUE(none.cores.empty());
  EXPECT_EQ(none.latency_ns.cols(), 0U);
}

TEST(JudgeProfile, NeedsFourCoresAnd64Addresses) {
  const auto verdict = [](int cores, int addresses) {
    std::vector<std::vector<Cell>> rows;
    for (int c = 0; c < cores; ++c) {
      for (int a = 0; a < addresses; ++a) {
        rows.push_back({"cpu" + std::to_string(c), std::int64_t{a}, std::int64_t{64} * a,
                        100 + static_cast<double>((a * a * 7 + a * c * 3) % 11), 1e-6});
      }
    }
    return judge_profile(probe_of(profile_schema(), rows), TimeSource::modelled, 1);
  };
  EXPECT_EQ(verdict(3, 64).verdict, "profile.csv: 3 cores and 64 addresses, fewer than 4 and 64");
  EXPECT_EQ(verdict(4, 63).verdict, "profile.csv: 4 cores and 63 addresses, fewer than 4 and 64");
  EXPECT_FALSE(verdict(4, 63).judged);
  EXPECT_FALSE(verdict(4, 63).evidence);
  EXPECT_EQ(verdict(4, 63).seen.size(), 4U);
  const SourceResult enough = verdict(4, 64);
  EXPECT_TRUE(enough.judged);
  ASSERT_TRUE(enough.evidence);
  EXPECT_EQ(enough.basis, "profile.csv");
}

/// Hand-offs within `groups` take 50, others 200 ns; `there` says which ways were measured.
template <class There>
SourceResult handoffs(const Partition& groups, There there) {
  std::vector<std::vector<Cell>> rows;
  for (std::size_t from = 0; from < groups.size(); ++from) {
    for (std::size_t to = 0; to < groups.size(); ++to) {
      if (from == to || !there(from, to)) continue;
      const double ns = groups[from] == groups[to] ? 50 : 200;
      rows.push_back({"cpu" + std::to_string(from), "cpu" + std::to_string(to), "write",
                      std::int64_t{0}, std::int64_t{100}, ns * 2e-7, ns});
    }
  }
  const auto all = judge_handoff(probe_of(handoff_schema(), rows), TimeSource::modelled, 1);
  return all.size() == 1 ? all[0] : SourceResult{};
}

TEST(JudgeHandoff, NeedsFourCores) {
  const auto all = [](std::size_t, std::size_t) { return true; };
  const SourceResult three = handoffs({0, 0, 1}, all);
  EXPECT_FALSE(three.judged);
  EXPECT_EQ(three.verdict, "handoff.csv write: pairs among 3 cores, fewer than 4");
  EXPECT_EQ(three.seen.size(), 3U);
  EXPECT_TRUE(handoffs({0, 0, 1, 1}, all).judged);
  const SourceResult eight = handoffs(truth::blocks(8, 4), all);
  EXPECT_EQ(eight.verdict, "handoff.csv write: 2 groups among 8 cores");
  ASSERT_EQ(eight.levels.size(), 1U);
  EXPECT_EQ(eight.levels[0].basis, "handoff.csv write");
  EXPECT_EQ(eight.levels[0].groups,
            (std::vector<std::vector<CoreName>>{{{"cpu", 0}, {"cpu", 1}, {"cpu", 2}, {"cpu", 3}},
                                                {{"cpu", 4}, {"cpu", 5}, {"cpu", 6}, {"cpu", 7}}}));
}

TEST(JudgeHandoff, NeedsAQuarterOfThePairsTwice) {
  // Of 28 pairs those of the first cores with the last both ways.
  const auto twice = [](std::size_t many) {
    return handoffs(truth::blocks(8, 4), [many](std::size_t from, std::size_t to) {
      return from < to || (from == 7 && to < many);
    });
  };
  EXPECT_EQ(twice(0).verdict,
            "handoff.csv write: 0 of 28 pairs measured twice, fewer than a quarter");
  EXPECT_EQ(twice(6).verdict,
            "handoff.csv write: 6 of 28 pairs measured twice, fewer than a quarter");
  EXPECT_FALSE(twice(6).judged);
  EXPECT_TRUE(twice(7).judged);
}

TEST(JudgeHandoff, ACoreNeedsATenthOfTheOthers) {
  const auto with_one = [](std::size_t cores) {
    Partition groups = truth::blocks(cores, 5);
    return handoffs(groups, [&](std::size_t from, std::size_t to) {
      return (from + 1 < cores || to == 0) && (to + 1 < cores || from == 0);
    });
  };
  EXPECT_EQ(with_one(11).verdict.find("left out"), std::string::npos) << "one of ten";
  EXPECT_NE(with_one(12).verdict.find(" among 11 cores (left out: cpu11, too few pairs)"),
            std::string::npos)
      << with_one(12).verdict;
  EXPECT_EQ(with_one(12).seen.size(), 12U);
}

PairSamples samples_of(std::size_t cores) {
  PairSamples samples{truth::names(cores, "cpu"), {}};
  samples.cells.resize(cores * cores);
  return samples;
}

/// Slow-downs whose logarithms lie 0.01 above and below none: a control that scatters by 0.0148.
std::pair<Contention, PairSamples> control_of(std::size_t cores) {
  PairSamples samples = samples_of(cores);
  for (std::size_t i = 0; i < cores; ++i) {
    for (std::size_t j = 0; j < cores; ++j)
      if (i != j) samples.at(i, j) = {std::exp(i < j ? 0.01 : -0.01)};
  }
  return {{"load", "register"}, samples};
}

std::string verdict_of(const PairSamples& loads, bool controlled = true) {
  ContentionSamples all;
  if (controlled) all.push_back(control_of(loads.cores.size()));
  all.emplace_back(Contention{"load", "load"}, loads);
  const auto results = judge_interference(all, "interfere.csv", 1);
  return results.size() == 1 ? results[0].verdict : "";
}

PairSamples no_slow_down(std::size_t cores) {
  PairSamples samples = samples_of(cores);
  for (std::size_t i = 0; i < cores; ++i) {
    for (std::size_t j = 0; j < cores; ++j)
      if (i != j) samples.at(i, j) = {1.0};
  }
  return samples;
}

TEST(JudgeInterference, CountsPairsThatAreOpen) {
  PairSamples loads = no_slow_down(4);
  EXPECT_EQ(verdict_of(loads).find(';'), verdict_of(loads).rfind(';')) << verdict_of(loads);
  EXPECT_TRUE(ends_with(verdict_of(loads, false), " (no register control)"));
  // Of two ways the error is 0.01048: 2.326 of it is no slow-down, 2.394 is one of six pairs.
  const auto with = [&](double there, double back) {
    loads.at(0, 1) = {std::exp(there)};
    loads.at(1, 0) = {std::exp(back)};
    return verdict_of(loads);
  };
  const std::string open = "; 1 of 6 pairs are undecided";
  EXPECT_FALSE(ends_with(with(0.0242, 0.0242), open));
  EXPECT_TRUE(ends_with(with(0.0247, 0.0247), open)) << with(0.0247, 0.0247);
  EXPECT_TRUE(ends_with(with(0.0347, 0.0147), open)) << "the mean of both ways";
  EXPECT_FALSE(ends_with(with(0.0253, 0.0253), open));
  // One way alone is known less well by a factor of the root of two.
  loads.at(1, 0).clear();
  loads.at(0, 1) = {std::exp(0.0350)};
  EXPECT_TRUE(ends_with(verdict_of(loads), open)) << verdict_of(loads);
  loads.at(0, 1).swap(loads.at(1, 0));
  EXPECT_TRUE(ends_with(verdict_of(loads), open)) << verdict_of(loads);
  loads.at(1, 0).clear();
  EXPECT_TRUE(ends_with(verdict_of(loads), "; 1 pairs were not measured")) << verdict_of(loads);
}

TEST(JudgeInterference, JudgesEachWorkButTheControl) {
  ContentionSamples all;
  all.push_back(control_of(4));
  EXPECT_TRUE(judge_interference(all, "interfere.csv", 1).empty());
  all.emplace_back(Contention{"store", "load"}, no_slow_down(4));
  all.emplace_back(Contention{"load", "store"}, no_slow_down(4));
  const auto results = judge_interference(all, "interfere.csv", 1);
  ASSERT_EQ(results.size(), 2U);
  EXPECT_EQ(results[0].basis, "interfere.csv load_on_store");
  EXPECT_TRUE(ends_with(results[0].verdict, " (no register control)")) << "of another victim";
  EXPECT_EQ(results[1].basis, "interfere.csv store");
  EXPECT_FALSE(ends_with(results[1].verdict, " (no register control)"));
}

TEST(LevelsInside, AreThoseOfTheSourceInEachGroup) {
  EXPECT_TRUE(levels_inside({}, {{{"vector", 0}}}, 1).empty()) << "nothing was judged";
  SourceResult source;
  const Partition pairs = truth::blocks(16, 4);
  source.evidence = pair_evidence(truth::pairs(16, {{pairs, 0.3}}, 0.005, 0.01, 5), 0.005);
  source.basis = "made up";
  std::vector<std::vector<CoreName>> halves(2);
  for (int i = 0; i < 16; ++i) halves[static_cast<std::size_t>(i / 8)].push_back({"vector", i});
  const auto inside = levels_inside(source, halves, 1);
  ASSERT_EQ(inside.size(), 1U);
  EXPECT_EQ(inside[0].groups.size(), 4U);
  EXPECT_EQ(inside[0].basis, "made up");
  // Cores that no group has stay alone, each a group of its own.
  const auto half = levels_inside(source, {halves[0]}, 1);
  ASSERT_EQ(half.size(), 1U);
  EXPECT_EQ(half[0].groups.size(), 2U + 8);
  EXPECT_EQ(half[0].groups[9], (std::vector<CoreName>{{"vector", 15}}));
}

/// As a whole, in halves, and how many pairs of cores it stands for.
Look look_at(const PairSamples& samples, const Partition& units) {
  const std::size_t n = samples.cores.size();
  return pair_evidence(samples, 0.25)->look(one_group(n), units, units, {}, Own::none);
}

TEST(PairEvidence, HalvesAreTheTwoWaysOrTheRepetitionsOfOne) {
  PairSamples samples = samples_of(4);
  samples.at(0, 1) = {3, 1};
  samples.at(1, 0) = {8, 6, 7};
  samples.at(2, 3) = {5, 4, 7};
  samples.at(0, 3) = {2};
  samples.at(3, 3) = {77};  // beside itself: not used
  const Look look = look_at(samples, single_groups(4));
  const auto halves = [&](std::size_t i, std::size_t j) {
    return std::minmax({look.half_a(i, j), look.half_b(i, j)});
  };
  EXPECT_EQ(look.all(0, 1), 6) << "the middle of five";
  EXPECT_EQ(look.all(1, 0), 6);
  EXPECT_EQ(halves(0, 1), (std::pair<double, double>{2, 7}));
  EXPECT_EQ(look.all(2, 3), 5);
  EXPECT_EQ(halves(2, 3), (std::pair<double, double>{4, 6})) << "every other one";
  EXPECT_EQ(look.all(0, 3), 2);
  EXPECT_NE(std::isnan(look.half_a(0, 3)), std::isnan(look.half_b(0, 3)));
  EXPECT_TRUE(std::isnan(look.all(0, 2)));
  EXPECT_TRUE(std::isnan(look.all(3, 3)));
  EXPECT_EQ(look.weight(0, 1), 1);
  EXPECT_EQ(look.weight(0, 2), 0);
  EXPECT_EQ(look.least_noise, 0.25);
  EXPECT_FALSE(look.places);
}

TEST(PairEvidence, OfUnitsItIsTheMeanOfThePairsBetweenThem) {
  PairSamples samples = samples_of(4);
  for (std::size_t i = 0; i < 4; ++i) {
    for (std::size_t j = 0; j < 4; ++j)
      if (i != j) samples.at(i, j) = {static_cast<double>(10 * (i + j) + i * j)};
  }
  samples.at(1, 2).clear();
  samples.at(2, 1).clear();
  const Look look = look_at(samples, {0, 0, 1, 1});
  ASSERT_EQ(look.all.rows(), 2U);
  EXPECT_DOUBLE_EQ(look.all(0, 1), (20 + 30 + 43) / 3.0);
  EXPECT_EQ(look.weight(0, 1), 3);
  EXPECT_EQ(look.weight(1, 0), 3);
  EXPECT_TRUE(std::isnan(look.all(0, 0))) << "inside a unit nothing is compared";
}

TEST(PairEvidence, ALateSampleCountsAsTwoSpreads) {
  PairSamples samples = samples_of(4);
  for (std::size_t i = 0; i < 4; ++i) {
    for (std::size_t j = 0; j < 4; ++j)
      if (i != j) samples.at(i, j) = {10, 9, 11};
  }
  samples.at(0, 1) = {10, 9, 1000};
  samples.at(1, 0) = {10};  // one sample has no median to stand beside
  const Look look = look_at(samples, single_groups(4));
  // All that are off their median are by 1: cut at 2 * 1.4826. The pool is 9 10 10 12.9652.
  EXPECT_DOUBLE_EQ(look.all(0, 1), 10);
  samples.at(1, 0) = {2000};
  const Look late = look_at(samples, single_groups(4));
  EXPECT_DOUBLE_EQ(late.all(0, 1), (10 + 10 + 2 * 1.4826) / 2) << "9 10 12.97 2000";
}

}  // namespace
}  // namespace sonde
