// The parts of the analysis of copies on curves made by hand: what comes out follows from the
// sizes and times alone, on both sides of each limit.
#include <gtest/gtest.h>

#include <cmath>
#include <functional>

#include "report/copy_classes.h"
#include "report/copy_edges.h"
#include "report/copy_nodes.h"
#include "report/copy_pieces.h"

namespace sonde {
namespace {

/// Four sizes an octave, whole numbers: 1024, 1280, 1536, 1792, 2048, ...
double quarter(std::size_t i) { return std::ldexp(static_cast<double>(4 + i % 4), 8 + int(i / 4)); }

/// Nodes without scatter at the quarters, seconds a byte by index.
std::vector<CopyNode> nodes_of(const std::vector<double>& costs, double error = 0) {
  std::vector<CopyNode> nodes;
  for (std::size_t i = 0; i < costs.size(); ++i)
    nodes.push_back({.bytes = quarter(i), .time = costs[i] * quarter(i), .error = error});
  return nodes;
}

/// `before` sizes at cost 1, then `after` at `cost`.
std::vector<double> step_of(std::size_t before, std::size_t after, double cost) {
  std::vector<double> costs(before, 1);
  costs.insert(costs.end(), after, cost);
  return costs;
}

TEST(CopyNodes, AreThePointsWithASizeAndATime) {
  const auto point = [](double x, std::optional<double> y, std::vector<double> samples = {}) {
    return CurvePoint{x, {y, std::nullopt, 1}, std::move(samples)};
  };
  const Curve curve = {point(-1, 1),           point(0, 1),
                       point(1, 1e-12),        point(2, 0.99e-12),
                       point(3, std::nan("")), point(4, std::nullopt),
                       point(5, -1),           point(6, 2.5, {1, 2, 3, 4}),
                       point(7, 2, {1, 2, 3})};
  const std::vector<CopyNode> nodes = copy_nodes(curve);
  ASSERT_EQ(nodes.size(), 3U);
  EXPECT_EQ(nodes[0].bytes, 1);
  EXPECT_EQ(nodes[0].time, 1e-12);
  EXPECT_EQ(nodes[0].spread, 0) << "no samples, no spread";
  EXPECT_EQ(nodes[1].bytes, 6);
  EXPECT_EQ(nodes[1].point, &curve[7]);
  // 1.4826 of the MAD, 1, by the median, 2.5, and by 4 / 3.2 for so few.
  EXPECT_NEAR(nodes[1].spread, 1.4826 / 2.5 * 4 / 3.2, 1e-12);
  EXPECT_NEAR(nodes[1].error, nodes[1].spread * median_deviation(4), 1e-15);
  EXPECT_EQ(nodes[2].spread, 0) << "three samples have none";
}

TEST(CopyNodes, ScatterIsTheMedianOfWhatSizesAreOffTheirNeighbours) {
  std::vector<CopyNode> three = {
      {.bytes = 1000, .time = 1}, {.bytes = 2000, .time = 2.2}, {.bytes = 4000, .time = 4}};
  measure_scatter(three);
  // A third of the way: 2 expected, with a variance of 1 + 1/9 + 4/9 points.
  for (const CopyNode& node : three)
    EXPECT_NEAR(node.scatter, 1.4826 * 0.2 / 2.2 / std::sqrt(14.0 / 9), 1e-12);
  std::vector<CopyNode> two = {{.bytes = 1000, .time = 1}, {.bytes = 2000, .time = 9}};
  measure_scatter(two);
  EXPECT_EQ(two[0].scatter, 0);

  // On a parabola each size is off by the same time; twelve sizes to both sides count.
  std::vector<CopyNode> nodes;
  const auto time = [](std::size_t i) { return 1000 + static_cast<double>(i * i); };
  for (std::size_t i = 0; i < 60; ++i)
    nodes.push_back({.bytes = 64.0 * static_cast<double>(i + 1), .time = time(i)});
  measure_scatter(nodes);
  const auto off = [&](std::size_t i) { return 1.4826 / time(i) / std::sqrt(1.5); };
  EXPECT_NEAR(nodes[0].scatter, (off(6) + off(7)) / 2, 1e-12);
  EXPECT_NEAR(nodes[1].scatter, off(7), 1e-12);
  EXPECT_NEAR(nodes[12].scatter, (off(12) + off(13)) / 2, 1e-12);
  EXPECT_NEAR(nodes[13].scatter, off(13), 1e-12);
  EXPECT_NEAR(nodes[30].scatter, off(30), 1e-12);
  EXPECT_NEAR(nodes[46].scatter, off(46), 1e-12);
  EXPECT_NEAR(nodes[47].scatter, (off(46) + off(47)) / 2, 1e-12);
  EXPECT_NEAR(nodes[59].scatter, (off(52) + off(53)) / 2, 1e-12);
}

TEST(CopyNodes, StepsOfTheLadderAreASixteenthOfAnOctaveApart) {
  const auto steps = [](const std::vector<double>& sizes) {
    std::vector<CopyNode> nodes;
    for (const double bytes : sizes) nodes.push_back({.bytes = bytes, .time = 1});
    return ladder_steps(nodes);
  };
  EXPECT_EQ(steps({}), 0U);
  EXPECT_EQ(steps({64}), 1U);
  EXPECT_EQ(steps({1000, 1044}), 1U);  // 2^(1/16) is 1.0443
  EXPECT_EQ(steps({1000, 1045}), 2U);
  EXPECT_EQ(steps({1000, 1030, 1060, 1090, 1120}), 3U) << "from the last that counted";
}

TEST(CopyNodes, ACurveIsContinuousWhereALineABendOrARampFits) {
  const auto residual = [](const std::function<double(double)>& time, double least_rise = 0.5) {
    std::vector<CopyNode> nodes;
    for (std::size_t i = 0; i < 17; ++i)
      nodes.push_back({.bytes = quarter(i), .time = time(quarter(i))});
    return best_continuous(nodes, least_rise);
  };
  EXPECT_NEAR(residual([](double) { return 3.0; }), 0, 1e-20);
  EXPECT_NEAR(residual([](double b) { return 500 + b; }), 0, 1e-20);
  EXPECT_NEAR(residual([](double b) { return 500 + b + std::max(0.0, b - 4096); }), 0, 1e-20);
  EXPECT_NEAR(residual([](double b) {
                return 500 + b + std::max(0.0, b - 3072) - 0.5 * std::max(0.0, b - 6144);
              }),
              0, 1e-20);
  // A bend between two sizes is tried at their middle.
  EXPECT_NEAR(
      residual([](double b) { return 500 + b + std::max(0.0, b - std::sqrt(4096.0 * 5120)); }), 0,
      1e-20);
  // A rise faster than asked for is none; nor is a time that falls.
  const auto fast = [](double b) { return 500 + b + 3 * (std::clamp(b, 4096.0, 5120.0) - 4096.0); };
  EXPECT_NEAR(residual(fast, 0.3), 0, 1e-20);
  EXPECT_GT(residual(fast, 0.34), 1e-3);
  EXPECT_GT(residual([](double b) { return 30000 - b; }), 1e-3);
  EXPECT_GT(residual([](double b) { return 5000 + b - 3 * std::max(0.0, b - 4096); }), 1e-3);
}

TEST(CopyEdges, AStepIsOneWithItsSizesAndHeight) {
  const std::vector<CopyEdge> found = find_edges(nodes_of(step_of(10, 10, 1.5)));
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].last_before, quarter(9));
  EXPECT_EQ(found[0].first_in, quarter(10));
  EXPECT_DOUBLE_EQ(found[0].rise, 1.5);
  EXPECT_EQ(found[0].top_bytes, quarter(10));
  EXPECT_FALSE(found[0].recovered_bytes);
  ASSERT_TRUE(found[0].start);
  EXPECT_LE(found[0].start->low, quarter(9));
  EXPECT_GE(found[0].start->high, quarter(10));
  EXPECT_FALSE(found[0].capacity);
  EXPECT_TRUE(find_edges({}).empty());
  EXPECT_TRUE(find_edges(nodes_of(step_of(20, 0, 1))).empty());
}

TEST(CopyEdges, NeedEightSizesAndARiseOfThreeTenths) {
  const auto edges = [](const std::vector<double>& costs, double error = 0) {
    return find_edges(nodes_of(costs, error)).size();
  };
  EXPECT_EQ(edges(step_of(4, 3, 1.5)), 0U);
  EXPECT_EQ(edges(step_of(5, 3, 1.5)), 1U);
  EXPECT_EQ(edges(step_of(6, 2, 1.5)), 0U) << "too few to know that it stays";
  EXPECT_EQ(edges(step_of(10, 10, 1.31)), 1U);
  EXPECT_EQ(edges(step_of(10, 10, 1.29)), 0U);
  // Sizes that are known badly tell no edge.
  EXPECT_EQ(edges(step_of(10, 10, 3), 0.10), 1U);
  EXPECT_EQ(edges(step_of(10, 10, 3), 0.101), 0U);
}

TEST(CopyEdges, StayAFifthAboveTheFloorForAnOctave) {
  const auto edges = [](double left, std::size_t high) {
    std::vector<double> costs = step_of(10, high, 1.5);
    costs.insert(costs.end(), 10, left);
    return find_edges(nodes_of(costs)).size();
  };
  EXPECT_EQ(edges(1.21, 3), 1U);
  EXPECT_EQ(edges(1.19, 3), 0U);
  EXPECT_EQ(edges(1.19, 4), 0U) << "quarter 14 is an octave behind quarter 10";
  EXPECT_EQ(edges(1.19, 5), 1U) << "what comes after an octave does not matter";
}

TEST(CopyEdges, TheFloorIsHalfAnOctaveAndThreeSizes) {
  // Falls to the floor until `first`, which ends with quarter `last`.
  const auto edges = [](std::size_t first, std::size_t last) {
    std::vector<double> costs;
    for (std::size_t i = 0; i < first; ++i) costs.push_back(1.3 + 0.3 * double(first - i));
    costs.insert(costs.end(), last + 1 - first, 1);
    costs.insert(costs.end(), 10, 1.6);
    return find_edges(nodes_of(costs)).size();
  };
  EXPECT_EQ(edges(8, 12), 1U);
  EXPECT_EQ(edges(8, 10), 1U) << "4 to 6: 0.58 octaves";
  EXPECT_EQ(edges(9, 11), 0U) << "5 to 7: 0.49 octaves";
  EXPECT_EQ(edges(10, 12), 0U) << "6 to 8: 0.42 octaves";
  EXPECT_EQ(edges(8, 9), 0U) << "two sizes";
}

TEST(CopyEdges, RiseWithinTwoOctaves) {
  // From the last on the floor `steps` quarters at 1.15 before the rise.
  const auto edges = [](std::size_t steps) {
    std::vector<double> costs = step_of(9, steps, 1.15);
    costs.insert(costs.end(), 8, 1.5);
    return find_edges(nodes_of(costs)).size();
  };
  EXPECT_EQ(edges(1), 1U);
  EXPECT_EQ(edges(7), 1U) << "the eighth quarter is two octaves behind the floor";
  EXPECT_EQ(edges(8), 0U);
}

TEST(CopyEdges, TheFloorAllowsThreeErrorsAndAtLeastSixHundredths) {
  const auto last = [](double cost, double error) {
    std::vector<double> costs = step_of(9, 2, cost);
    costs.insert(costs.end(), 8, 1.6);
    const auto found = find_edges(nodes_of(costs, error));
    return found.size() == 1 ? found[0].last_before : 0;
  };
  EXPECT_EQ(last(1.059, 0), quarter(10));
  EXPECT_EQ(last(1.061, 0), quarter(8));
  EXPECT_EQ(last(1.149, 0.05), quarter(10));
  EXPECT_EQ(last(1.151, 0.05), quarter(8));
}

TEST(CopyEdges, TheTopIsWhereHalfAnOctaveBringsNoMore) {
  const auto top = [](const std::vector<double>& tail) {
    std::vector<double> costs = step_of(9, 0, 1);
    costs.insert(costs.end(), tail.begin(), tail.end());
    const auto found = find_edges(nodes_of(costs));
    return found.size() == 1 ? std::pair(found[0].top_bytes, found[0].rise) : std::pair(0.0, 0.0);
  };
  // Quarters 9, 10, ...: 5, 6, 7, 8 and 10 units.
  EXPECT_EQ(top({1.5, 1.5, 1.58, 1.58, 1.58, 1.58, 1.58, 1.58}), std::pair(quarter(9), 1.5));
  EXPECT_EQ(top({1.5, 1.5, 1.6, 1.6, 1.6, 1.6, 1.6, 1.6}), std::pair(quarter(11), 1.6));
  EXPECT_EQ(top({1.5, 1.5, 1.5, 1.6, 1.6, 1.6, 1.6, 1.6}), std::pair(quarter(12), 1.6))
      << "7 units are not half an octave above 5";
  EXPECT_EQ(top({1.5, 1.5, 1.5, 1.5, 1.6, 1.6, 1.6, 1.6}), std::pair(quarter(9), 1.5))
      << "8 units are";
}

TEST(CopyEdges, TwoFollowEachOtherAndOneComesBack) {
  std::vector<double> costs = step_of(9, 9, 1.5);
  costs.insert(costs.end(), 9, 3);
  const auto two = find_edges(nodes_of(costs));
  ASSERT_EQ(two.size(), 2U);
  EXPECT_EQ(two[0].last_before, quarter(8));
  EXPECT_EQ(two[1].last_before, quarter(17));
  EXPECT_DOUBLE_EQ(two[1].rise, 2);
  costs.assign(9, 1);
  costs.insert(costs.end(), 9, 1.5);
  costs.insert(costs.end(), 9, 1.01);
  const auto back = find_edges(nodes_of(costs));
  ASSERT_EQ(back.size(), 1U);
  EXPECT_EQ(back[0].recovered_bytes, quarter(18));
}

TEST(CopyEdges, TheStartOfASlowRiseIsWhereARampFits) {
  // In proportion to the logarithm from 4 KiB to 16 KiB, three sizes after each quarter.
  std::vector<CopyNode> nodes;
  for (double bytes = 1024; bytes < 65536; bytes *= std::exp2(1.0 / 16)) {
    const double risen = std::clamp(std::log2(bytes / 4096) / 2, 0.0, 1.0);
    nodes.push_back({.bytes = bytes, .time = bytes * (1 + risen), .error = 0.001});
  }
  const auto found = find_edges(nodes);
  ASSERT_EQ(found.size(), 1U);
  ASSERT_TRUE(found[0].start);
  EXPECT_NEAR(std::log2(found[0].start->low / 4096), 0, 0.15);
  EXPECT_NEAR(std::log2(found[0].start->high / 4096), 0, 0.3);
  EXPECT_TRUE(found[0].start->contains(4096));
}

TEST(CopyDips, DeepestPlaceAndTheFirstSizeThatIsBack) {
  const auto dip = [](const std::vector<double>& costs) { return measure_dip(nodes_of(costs), 1); };
  EXPECT_EQ(measure_dip({}, 1).depth, 0);
  const CopyDip flat = dip({1, 1, 1, 1, 2, 2});
  EXPECT_EQ(flat.depth, 0) << "four sizes as before: what follows is something else";
  EXPECT_FALSE(flat.bytes);
  EXPECT_FALSE(flat.recovered_bytes);
  const CopyDip late = dip({1, 1, 1, 1.25, 1.25, 1.25, 1, 1});
  EXPECT_DOUBLE_EQ(late.depth, 0.2);
  EXPECT_EQ(late.bytes, quarter(3));
  EXPECT_EQ(late.recovered_bytes, quarter(6));
  const CopyDip deep = dip({1.25, 1.6, 2, 2, 1.6, 1.25, 1.03, 1.019, 1.019, 4, 4});
  EXPECT_DOUBLE_EQ(deep.depth, 0.5);
  EXPECT_EQ(deep.bytes, quarter(2));
  EXPECT_EQ(deep.recovered_bytes, quarter(7)) << "within 2 % is back";
  EXPECT_FALSE(dip({1.25, 1.25, 1.25, 1.021, 1.021}).recovered_bytes);
  EXPECT_EQ(dip({1.019, 1.019, 1.019}).depth, 0);
  EXPECT_FALSE(dip({1.019, 1.019, 1.019}).bytes);
  // One size that is back alone is not: its neighbours are not.
  EXPECT_FALSE(dip({1.5, 1.5, 1, 1.5, 1.5}).recovered_bytes);
  EXPECT_EQ(dip({1.5, 1.5, 1.5, 1.5, 1, 1}).recovered_bytes, quarter(4));
}

TEST(CopyPieces, AreTheLinesOfAtLeastFourSizes) {
  const auto pieces = [](std::size_t before, std::size_t after) {
    std::vector<CopyNode> nodes;
    for (std::size_t i = 0; i < before + after; ++i) {
      const double bytes = quarter(i);
      nodes.push_back({.bytes = bytes, .time = i < before ? 100 + bytes : 9000 + 3 * bytes});
    }
    return fit_pieces(nodes);
  };
  EXPECT_TRUE(pieces(0, 0).empty());
  EXPECT_TRUE(pieces(1, 0).empty());
  const auto line = pieces(2, 0);
  ASSERT_EQ(line.size(), 1U);
  EXPECT_EQ(line[0].from, quarter(0));
  EXPECT_EQ(line[0].to, quarter(1));
  EXPECT_NEAR(line[0].fixed_s, 100, 1e-9);
  EXPECT_NEAR(line[0].per_byte_s, 1, 1e-12);
  EXPECT_EQ(pieces(4, 3).size(), 1U);
  EXPECT_EQ(pieces(3, 4).size(), 1U);
  const auto two = pieces(4, 4);
  ASSERT_EQ(two.size(), 2U);
  EXPECT_EQ(two[0].to, quarter(3));
  EXPECT_EQ(two[1].from, quarter(4));
  EXPECT_NEAR(two[0].fixed_s, 100, 1e-9);
  EXPECT_NEAR(two[1].fixed_s, 9000, 1e-6);
  EXPECT_NEAR(two[1].per_byte_s, 3, 1e-9);
  EXPECT_EQ(pieces(12, 12).size(), 2U);
}

/// Sizes `places`, each between two at 832 bytes from it; the places take `factor` of the time.
std::vector<CopyNode> class_of(const std::vector<double>& places, double factor, double to = 832) {
  std::vector<CopyNode> nodes;
  for (const double place : places) {
    nodes.push_back({.bytes = place - 832, .time = place - 832});
    nodes.push_back({.bytes = place, .time = place * factor});
    nodes.push_back({.bytes = place + to, .time = place + to});
  }
  return nodes;
}

TEST(CopyClasses, AreThreeSizesInARowOffTheOthersOverAnOctave) {
  const auto taken = [](const std::vector<double>& places, double factor, bool real = false) {
    std::vector<CopyNode> nodes = class_of(places, factor);
    const auto found = take_classes(nodes, real);
    EXPECT_EQ(nodes.size(), places.size() * 3 - (found.empty() ? 0 : places.size()));
    return found.size();
  };
  const std::vector<double> places = {12288, 24576, 49152, 98304};
  EXPECT_EQ(taken(places, 1.051), 1U);
  EXPECT_EQ(taken(places, 1.049), 0U);
  EXPECT_EQ(taken(places, 0.949), 1U);
  EXPECT_EQ(taken(places, 0.951), 0U);
  EXPECT_EQ(taken(places, 1.101, true), 1U);
  EXPECT_EQ(taken(places, 1.099, true), 0U);
  EXPECT_EQ(taken({12288, 49152, 98304}, 1.2), 1U);
  EXPECT_EQ(taken({12288, 49152}, 1.2), 0U);
  EXPECT_EQ(taken({12288, 16384 + 4096, 24576}, 1.2), 1U) << "just an octave";
  EXPECT_EQ(taken({12288 + 4096, 24576, 28672}, 1.2), 0U);
}

TEST(CopyClasses, HaveTheLargestModulusAndTheirSizes) {
  std::vector<CopyNode> nodes = class_of({12288, 24576, 49152, 98304}, 1.25);
  auto found = take_classes(nodes, false);
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].modulus, 4096);
  EXPECT_EQ(found[0].from, 12288);
  EXPECT_EQ(found[0].to, 98304);
  EXPECT_NEAR(found[0].factor, 1.25, 1e-12);
  EXPECT_EQ(found[0].sizes, 4);
  EXPECT_FALSE(found[0].factor_interval) << "four factors have none";
  EXPECT_TRUE(found[0].holds(4096) && found[0].holds(40960) && !found[0].holds(4160));
  nodes = class_of({8192, 16384, 32768, 65536}, 1.25);
  found = take_classes(nodes, false);
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].modulus, 0) << "of classes with the same sizes the narrowest one";
  EXPECT_TRUE(found[0].holds(4096) && !found[0].holds(12288));
}

TEST(CopyClasses, NeedSizesOutsideWithinHalfAnOctave) {
  std::vector<CopyNode> nodes = class_of({12288, 24576, 49152, 98304}, 1.25, 4096 + 832);
  EXPECT_EQ(take_classes(nodes, false).size(), 1U);  // 12288 to 17216 is 0.49 octaves
  nodes = class_of({12288, 24576, 49152}, 1.25, 4096 + 1088);
  EXPECT_EQ(take_classes(nodes, false).size(), 0U) << "0.51 octaves: the first is not told";
}

}  // namespace
}  // namespace sonde
