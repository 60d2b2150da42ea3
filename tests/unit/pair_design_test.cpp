#include "probes/pair_design.h"

#include <gtest/gtest.h>

#include <cmath>
#include <set>

#include "core/decide.h"
#include "core/rng.h"

namespace sonde {
namespace {

using Key = std::pair<std::size_t, std::size_t>;

Key key_of_pair(const Directed& pair) { return std::minmax(pair.victim, pair.aggressor); }

TEST(Decide, ThresholdsAreThoseOfTheNormalDistribution) {
  EXPECT_NEAR(normal_above(0.025), 1.959964, 1e-5);
  EXPECT_NEAR(normal_above(0.01), 2.326348, 1e-5);
  EXPECT_NEAR(normal_above(2.866516e-7), 5, 1e-5);
  EXPECT_NEAR(student_above(0.025, 2), 4.3027,
              0.04 * 4.3027);  // an expansion, least true for few degrees
  EXPECT_NEAR(student_above(0.025, 7), 2.3646, 0.003);
  EXPECT_NEAR(student_above(0.00125, 19), 3.492, 0.02);
  EXPECT_NEAR(student_above(0.025, 1e9), 1.959964, 1e-5);
  EXPECT_EQ(decide(2.3, 1, 1000), Decision::unaffected);
  EXPECT_EQ(decide(2.4, 1, 1000), Decision::undecided);
  EXPECT_EQ(decide(3.8, 1, 1000), Decision::undecided);
  EXPECT_EQ(decide(3.95, 1, 1000), Decision::affected);  // 3.89 of 1,000
  EXPECT_EQ(decide(2.4, 1, 1), Decision::affected);
  EXPECT_EQ(decide(1e-9, 0, 10), Decision::affected);  // without noise anything is certain
  EXPECT_EQ(decide(0, 0, 10), Decision::unaffected);
}

TEST(PairDesign, BeginsWithEachPairInOneDirection) {
  const std::vector<Directed> pairs = first_pairs(84, 1);
  std::set<Key> seen;
  int upwards = 0;
  for (const Directed& pair : pairs) {
    EXPECT_TRUE(seen.insert(key_of_pair(pair)).second);
    upwards += pair.victim < pair.aggressor ? 1 : 0;
  }
  EXPECT_NEAR(static_cast<double>(seen.size()), 0.8 * 84 * 83 / 2, 120);  // five deviations
  EXPECT_NEAR(upwards, static_cast<double>(seen.size()) / 2, 140);
  EXPECT_EQ(first_pairs(10, 1).size(), 90u);  // few: both directions
  EXPECT_TRUE(first_pairs(1, 1).empty());
  // Many: a sample of about 192 partners each.
  EXPECT_NEAR(static_cast<double>(first_pairs(1024, 1).size()), 0.8 * 1024 * 192 / 2.0, 2000);
}

/// Measures a machine whose cores of one group (core / size) slow each other.
PairLog measured(const std::vector<Directed>& pairs, std::size_t cores, std::size_t size,
                 double effect, double noise, PairLog log, Rng& rng) {
  const auto gauss = [&] { return static_cast<double>(rng.gaussian_q16()) / 65536; };
  if (log.alone.empty()) {
    for (std::size_t v = 0; v < cores; ++v) {
      log.alone[v] = noise * gauss();
      for (std::size_t c = 1; c <= kControls; ++c) {
        log.controls.push_back({{v, (v + c) % cores}, noise * gauss()});
      }
    }
  }
  for (const Directed& pair : pairs) {
    const bool same = pair.victim / size == pair.aggressor / size;
    log.beside.push_back({pair, (same ? effect : 0) + noise * gauss()});
  }
  return log;
}

TEST(PairDesign, GrowsWhereCoresShareAndThenEnds) {
  Rng rng(7);
  const std::size_t cores = 60, size = 4;
  PairLog log = measured(first_pairs(cores, 3), cores, size, 0.3, 0.01, {}, rng);
  int rounds = 0;
  while (true) {
    const std::vector<Directed> more = further_pairs(cores, 3, log);
    if (more.empty()) break;
    ASSERT_LT(++rounds, 20);
    log = measured(more, cores, size, 0.3, 0.01, std::move(log), rng);
  }
  std::set<Key> directions;
  std::size_t same = 0, other = 0;
  for (const MeasuredPair& one : log.beside) {
    EXPECT_TRUE(directions.insert({one.pair.victim, one.pair.aggressor}).second);
    (one.pair.victim / size == one.pair.aggressor / size ? same : other) += 1;
  }
  EXPECT_EQ(same, cores * (size - 1));  // both directions of each
  // The others once, but for the one in a hundred that look like more by chance.
  const double once = 60 * 59 / 2.0 - 60 * 3 / 2.0;
  EXPECT_LT(static_cast<double>(other), once * 1.1);
  EXPECT_GE(static_cast<double>(other), once * 0.95);
}

TEST(PairDesign, ASampleOfManyCoresFindsAllPartners) {
  Rng rng(7);
  const std::size_t cores = 400, size = 5;
  PairLog log = measured(first_pairs(cores, 3), cores, size, 0.3, 0.01, {}, rng);
  for (int round = 0;; ++round) {
    const std::vector<Directed> more = further_pairs(cores, 3, log);
    if (more.empty()) break;
    ASSERT_LT(round, 20);
    log = measured(more, cores, size, 0.3, 0.01, std::move(log), rng);
  }
  std::set<Key> found;
  for (const MeasuredPair& one : log.beside) {
    if (one.pair.victim / size == one.pair.aggressor / size) found.insert(key_of_pair(one.pair));
  }
  // A group of which no two halves met stays in halves.
  EXPECT_GE(found.size(), cores * (size - 1) / 2 * 88 / 100);
}

TEST(PairDesign, IsAFunctionOfItsArguments) {
  Rng a(7), b(7);
  const PairLog one = measured(first_pairs(30, 3), 30, 3, 0.05, 0.02, {}, a);
  const PairLog two = measured(first_pairs(30, 3), 30, 3, 0.05, 0.02, {}, b);
  const auto first = further_pairs(30, 3, one), second = further_pairs(30, 3, two);
  ASSERT_EQ(first.size(), second.size());
  ASSERT_FALSE(first.empty());
  for (std::size_t i = 0; i < first.size(); ++i) {
    EXPECT_EQ(first[i].victim, second[i].victim);
    EXPECT_EQ(first[i].aggressor, second[i].aggressor);
  }
}

}  // namespace
}  // namespace sonde
