// A fixed part of `make score`: random copy engines, measured and analysed.
#include <gtest/gtest.h>

#include "tests/score/random_copies.h"
#include "tests/support/sanitized.h"

namespace sonde::testing_copies {
namespace {

TEST(CopyScore, RandomEnginesAreSeenForWhatTheyAre) {
  CopyScore score;
  constexpr int kEngines = test::kSanitized ? 60 : 300;
  for (std::uint64_t seed = 0; seed < kEngines; ++seed) {
    const CopyEngine engine = random_engine(seed);
    score.add(engine, measure_engine(engine, seed));
  }
  EXPECT_GE(10 * score.clear, 3 * kEngines);
  EXPECT_GE(30 * score.without_switch, 8 * kEngines);
  EXPECT_GE(score.found, score.clear - 1);
  EXPECT_LE(score.claimed, 1);
  EXPECT_GE(score.brackets_hold, score.brackets - 1);
  // 95 % of about 100, less three standard deviations; the whole score knows it better.
  EXPECT_GE(score.jumps_hold * 100, score.jumps * 88);
  EXPECT_GE(score.classes_named, score.classes - 1);
}

TEST(CopyScore, AMissedTargetIsSaid) {
  CopyScore score;
  score.clear = score.brackets = score.jumps = score.without_switch = 1000;
  score.found = 990;
  score.claimed = 10;
  score.brackets_hold = 950;
  score.jumps_hold = 950;
  score.edges_seen = 1000;
  score.edges_hold = 950;
  EXPECT_TRUE(missed(score).empty());
  score.found = 989;
  score.claimed = 11;
  score.brackets_hold = 949;
  score.jumps_hold = 971;
  score.edges_seen = 1000;
  score.edges_hold = 949;
  EXPECT_EQ(missed(score).size(), 5u);
}

}  // namespace
}  // namespace sonde::testing_copies
