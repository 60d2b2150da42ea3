#include "gemm_sweep/order.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

namespace sonde {
namespace {

std::vector<Shape> many(std::int64_t count) {
  std::vector<Shape> shapes;
  for (std::int64_t i = 0; i < count; ++i) shapes.push_back({i + 1, 256, 128, ""});
  return shapes;
}

SweepWish wish(std::uint64_t seed = 1) {
  SweepWish all;
  all.seed = seed;
  all.estimate_s = [](const Shape& shape) { return work_of(shape).flop() / 1e12; };
  return all;
}

std::vector<Visit> by_turn(std::vector<Visit> visits) {
  std::sort(visits.begin(), visits.end(),
            [](const Visit& a, const Visit& b) { return a.turn < b.turn; });
  return visits;
}

TEST(GemmWorkArithmetic, ProductsBeyond31And53And63BitsAreRight) {
  const std::int64_t large = std::int64_t{1} << 30;
  const GemmWork most = work_of({large, large, large, ""});
  EXPECT_EQ(most.flop(), 0x1p91);
  EXPECT_EQ(most.least_bytes(), 2.0 * 3 * 0x1p60);
  EXPECT_NEAR(most.intensity(), 0x1p91 / (6 * 0x1p60), 1);
  const GemmWork above_31 = work_of({46341, 46341, 3, ""});  // m n is 2^31 + 4,633
  EXPECT_EQ(above_31.flop(), 6.0 * 2147488281.0);
  EXPECT_EQ(above_31.least_bytes(), 2.0 * (2 * 3 * 46341.0 + 2147488281.0));
  // 2 m n k is 2^53 + 2^28 + 2: a double holds it.
  const GemmWork above_53 = work_of({(1 << 26) + 1, (1 << 26) + 1, 1, ""});
  EXPECT_EQ(above_53.flop(), 0x1p53 + 0x1p28 + 2);
  // fp32 and types of a byte count their own elements.
  GemmWork wide = above_31;
  wide.dtype = "fp32";
  EXPECT_EQ(wide.least_bytes(), 4.0 * (2 * 3 * 46341.0 + 2147488281.0));
  wide.dtype = "fp8";
  EXPECT_EQ(wide.least_bytes(), 2 * 3 * 46341.0 + 2.0 * 2147488281.0);
}

TEST(GemmOrder, FewShapesComeAloneEachInATurnOfItsOwn) {
  const std::vector<Visit> visits = visits_of(many(50), wish());
  ASSERT_EQ(visits.size(), 50u);
  std::set<std::int64_t> turns;
  for (std::size_t i = 0; i < visits.size(); ++i) {
    EXPECT_EQ(visits[i].shape.m, static_cast<std::int64_t>(i) + 1) << "listed order";
    EXPECT_EQ(visits[i].role, "");
    turns.insert(visits[i].turn);
  }
  EXPECT_EQ(turns.size(), 50u);
  EXPECT_TRUE(visits_of({}, wish()).empty());
}

TEST(GemmOrder, ASweepHasRoofsFirstAndAnAnchorBeforeEvery50thShapeAndAtTheEnd) {
  const std::vector<Visit> visits = by_turn(visits_of(many(120), wish()));
  ASSERT_EQ(visits.size(), 120u + 4 + 4);
  for (std::size_t i = 0; i < visits.size(); ++i) {
    EXPECT_EQ(visits[i].turn, static_cast<std::int64_t>(i)) << "no turn twice, none left out";
  }
  EXPECT_EQ(visits[0].role, kRegisterRole);
  EXPECT_EQ(visits[0].shape.m * visits[0].shape.n * visits[0].shape.k, 1LL << 30);
  std::set<std::int64_t> roofs;
  for (std::size_t i : {1UL, 2UL, 3UL}) {
    const Shape& roof = visits[i].shape;
    EXPECT_EQ(visits[i].role, kRoofRole);
    EXPECT_TRUE(roof.m == roof.n && roof.n == roof.k) << roof.m;
    roofs.insert(roof.m);
  }
  EXPECT_EQ(roofs, (std::set<std::int64_t>{2048, 4096, 8192}));
  const std::size_t anchors[] = {4, 4 + 51, 4 + 102, 4 + 120 + 3};
  for (std::size_t i = 0; i < std::size(anchors); ++i) {
    const Visit& anchor = visits[anchors[i]];
    EXPECT_EQ(anchor.role, kAnchorRole + std::to_string(i));
    EXPECT_TRUE(anchor.shape.m == 512 && anchor.shape.n == 4096 && anchor.shape.k == 4096);
  }
  std::set<std::int64_t> seen;
  for (const Visit& visit : visits) {
    if (visit.role.empty()) seen.insert(visit.shape.m);
  }
  EXPECT_EQ(seen.size(), 120u);
}

TEST(GemmOrder, TheSeedDrawsTheOrderUnlessItIsListed) {
  const auto order = [](const SweepWish& wanted) {
    std::vector<std::int64_t> ms;
    for (const Visit& visit : by_turn(visits_of(many(60), wanted))) {
      if (visit.role.empty()) ms.push_back(visit.shape.m);
    }
    return ms;
  };
  EXPECT_EQ(order(wish(1)), order(wish(1)));
  EXPECT_NE(order(wish(1)), order(wish(2)));
  EXPECT_FALSE(std::is_sorted(order(wish(1)).begin(), order(wish(1)).end()));
  SweepWish listed = wish();
  listed.listed = true;
  const std::vector<std::int64_t> ms = order(listed);
  EXPECT_TRUE(std::is_sorted(ms.begin(), ms.end()));
}

TEST(GemmOrder, ABudgetSkipsWhatIsTooLongWithTheReason) {
  std::vector<Shape> shapes = many(100);
  shapes.push_back({4096, 65536, 65536, ""});  // 35 s
  SweepWish wanted = wish();
  wanted.budget_s = 10;
  int skipped = 0;
  for (const Visit& visit : visits_of(shapes, wanted)) {
    if (visit.skip.empty()) continue;
    ++skipped;
    EXPECT_NE(visit.skip.find("budget of 10 s"), std::string::npos) << visit.skip;
    EXPECT_TRUE(visit.shape.m == 4096 || visit.role == kRoofRole) << visit.shape.m;
  }
  EXPECT_EQ(skipped, 3) << "the long shape and the two larger roofs";
}

TEST(GemmOrder, MoreThanFiftyAreASweep) {
  SweepWish listed = wish();
  listed.listed = true;
  const auto turns = [&](std::int64_t count) {
    std::vector<std::int64_t> all;
    for (const Visit& visit : visits_of(many(count), listed)) all.push_back(visit.turn);
    return all;
  };
  EXPECT_EQ(turns(0), std::vector<std::int64_t>{});
  EXPECT_EQ(turns(1), std::vector<std::int64_t>{0});
  EXPECT_EQ(turns(50).size(), 50U);
  EXPECT_EQ(turns(50).back(), 49);
  // The register loop and three roofs, an anchor, 50 shapes, an anchor, the rest, an anchor.
  std::vector<std::int64_t> of_51;
  for (std::int64_t i = 0; i < 50; ++i) of_51.push_back(5 + i);
  for (const std::int64_t turn : {56, 0, 1, 2, 3, 4, 55, 57}) of_51.push_back(turn);
  EXPECT_EQ(turns(51), of_51);
  const auto of_100 = turns(100);
  EXPECT_EQ(of_100.size(), 100U + 4 + 3) << "no anchor twice at the end";
  EXPECT_EQ(of_100[49], 54);
  EXPECT_EQ(of_100[50], 56);
  EXPECT_EQ(of_100.back(), 106);
}

TEST(GemmOrder, AShapeMayTakeItsPartOfTheBudgetAndNoMore) {
  SweepWish wanted = wish();
  wanted.budget_s = 12;
  const auto skips = [&](const std::vector<double>& seconds) {
    std::vector<Shape> shapes;
    for (std::size_t i = 0; i < seconds.size(); ++i)
      shapes.push_back({static_cast<std::int64_t>(i), 1, 1, ""});
    wanted.estimate_s = [&](const Shape& shape) {
      return seconds.at(static_cast<std::size_t>(shape.m));
    };
    std::vector<std::string> all;
    for (const Visit& visit : visits_of(shapes, wanted)) all.push_back(visit.skip);
    return all;
  };
  // Eight repetitions each; alone it may take all.
  EXPECT_EQ(skips({1.5}), std::vector<std::string>{""});
  EXPECT_EQ(skips({1.501}), std::vector<std::string>{"eight repetitions would take about 12.01 s, "
                                                     "more than 1/1 of the budget of 12 s"});
  EXPECT_EQ(skips({0.75, 0.76}),
            (std::vector<std::string>{"",
                                      "eight repetitions would take about 6.08 s, more than "
                                      "1/2 of the budget of 12 s"}));
  std::vector<double> thirty(30, 0.0625);
  EXPECT_EQ(skips(thirty), std::vector<std::string>(30)) << "1/24, not 1/30";
  thirty[7] = 0.0626;
  EXPECT_EQ(skips(thirty)[7],
            "eight repetitions would take about 0.51 s, more than 1/24 of the budget of 12 s");
  wanted.budget_s.reset();
  EXPECT_EQ(skips({1e9}), std::vector<std::string>{""});
}

TEST(GemmOrder, WhatIsSkippedHasNoTurnOfItsOwn) {
  SweepWish wanted = wish();
  wanted.budget_s = 8;
  wanted.estimate_s = [](const Shape& shape) { return shape.m == 2 ? 9.0 : 0.01; };
  for (std::uint64_t seed = 1; seed <= 8; ++seed) {
    wanted.seed = seed;
    std::set<std::int64_t> turns;
    for (const Visit& visit : visits_of(many(4), wanted)) {
      if (visit.skip.empty()) turns.insert(visit.turn);
      EXPECT_TRUE(visit.skip.empty() || visit.turn == 0);
      EXPECT_EQ(visit.skip.empty(), visit.shape.m != 2);
    }
    EXPECT_EQ(turns, (std::set<std::int64_t>{0, 1, 2}));
  }
}

}  // namespace
}  // namespace sonde
