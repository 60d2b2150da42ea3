#include "core/statistics.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <iterator>

#include "core/decide.h"
#include "core/line.h"
#include "core/rng.h"

namespace sonde {
namespace {

double normal(Rng& rng) { return static_cast<double>(rng.gaussian_q16()) / 65536; }

TEST(Median, OfFewAndNone) {
  EXPECT_FALSE(median({}));
  EXPECT_EQ(median(std::vector<double>{3}), 3);
  EXPECT_EQ(median(std::vector<double>{4, 1}), 2.5);
  EXPECT_EQ(median(std::vector<double>{9, 1, 5}), 5);
}

TEST(Mad, NeedsTwo) {
  EXPECT_FALSE(mad(std::vector<double>{1}));
  EXPECT_EQ(mad(std::vector<double>{1, 2, 3, 4, 100}), 1);
}

TEST(Quantile, Interpolates) {
  const std::vector<double> x = {1, 2, 3, 4};
  EXPECT_EQ(quantile(x, 0), 1);
  EXPECT_EQ(quantile(x, 1), 4);
  EXPECT_DOUBLE_EQ(*quantile(x, 0.5), 2.5);
  EXPECT_DOUBLE_EQ(*quantile(x, 0.25), 1.75);
}

TEST(Quantile, OfTheEndsAreTheSamplesThemselves) {
  EXPECT_EQ(quantile(std::vector<double>{1, -1e20}, 1), 1) << "not 1 less what rounding lost";
  EXPECT_EQ(quantile(std::vector<double>{1e20, 1}, 0), 1);
  EXPECT_EQ(quantile(std::vector<double>{7}, 0), 7);
  EXPECT_EQ(quantile(std::vector<double>{7}, 1), 7);
  EXPECT_FALSE(quantile({}, 1));
}

TEST(RobustDeviation, NeedsFourAndIsCorrectedForFew) {
  EXPECT_FALSE(robust_deviation({}));
  EXPECT_FALSE(robust_deviation(std::vector<double>{1, 2, 3}));
  EXPECT_DOUBLE_EQ(*robust_deviation(std::vector<double>{1, 2, 3, 4}), 1.4826 * 4 / 3.2);
  EXPECT_EQ(robust_deviation(std::vector<double>(4, 2.5)), 0);
}

TEST(MedianDeviation, IsThatOfNormalSamplesWithinAHundredth) {
  EXPECT_DOUBLE_EQ(median_deviation(2), std::sqrt(0.5)) << "the median of two is their mean";
  EXPECT_NEAR(median_deviation(3), 0.6698, 0.0067);
  EXPECT_NEAR(median_deviation(4), 0.5460, 0.0055);
  EXPECT_NEAR(median_deviation(5), 0.5356, 0.0054);
  EXPECT_NEAR(median_deviation(1'000'001), 1.2533e-3, 1e-6);  // the root of pi / 2 n
}

TEST(MedianInterval, UnknownBelowEightSamples) {
  for (int n = 0; n < 8; ++n)
    EXPECT_FALSE(median_interval(std::vector<double>(static_cast<std::size_t>(n), 1.0)));
  EXPECT_TRUE(median_interval(std::vector<double>(8, 1.0)));
}

TEST(MedianInterval, LiesBetweenKnownRanks) {
  // n = 10: ranks (2,9) hold the median with 97.85 %, ranks (3,8) with 89.06 %.
  const std::vector<double> x = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10};
  const Interval interval = *median_interval(x, 0.95);
  EXPECT_GT(interval.low, 2);
  EXPECT_LT(interval.low, 3);
  EXPECT_GT(interval.high, 8);
  EXPECT_LT(interval.high, 9);
  EXPECT_DOUBLE_EQ(interval.low - 1, 10 - interval.high);
  const Interval wide = *median_interval(x, 0.99);
  EXPECT_LT(wide.low, interval.low);
}

TEST(MedianInterval, HoldsTheMedianExactly) {
  for (double value : {1650.0, 0.1, 203.3, 1e-9}) {
    for (std::size_t n = 8; n < 70; ++n) {
      const std::vector<double> same(n, value);
      EXPECT_EQ(median_interval(same)->low, value);
      EXPECT_EQ(median_interval(same)->high, value);
      const Sampling drifting{.adaptive = true, .drift = {.neighbour = 0.5, .decay = 0.5}};
      EXPECT_EQ(estimate_median(same, drifting).interval->low, value);
    }
  }
  Rng rng(8);
  for (int trial = 0; trial < 500; ++trial) {
    std::vector<double> x(8 + rng.below(60));
    for (double& v : x) v = normal(rng);
    EXPECT_TRUE(median_interval(x)->contains(*median(x)));
  }
}

TEST(MedianInterval, UnknownWhenTheConfidenceIsOutOfReach) {
  const std::vector<double> x = {1, 2, 3, 4, 5, 6, 7, 8};
  EXPECT_TRUE(median_interval(x, kLookConfidence));  // 8 samples reach it
  EXPECT_FALSE(median_interval(x, 0.999));
}

TEST(MedianInterval, WhatIsJustReachedIsReached) {
  // The extremes of eight hold the median unless all are on one side: 1 - 2 / 2^8.
  const std::vector<double> x = {8, 2, 3, 4, 5, 6, 7, 1};
  const auto interval = median_interval(x, 0.9921875);
  ASSERT_TRUE(interval);
  EXPECT_EQ(interval->low, 1);
  EXPECT_EQ(interval->high, 8);
  EXPECT_FALSE(median_interval(x, 0.9921876));
}

TEST(MedianInterval, BetweenTheTwoInTheMiddleThereIsNoNarrowerOne) {
  // 4th to 5th of eight: 27.3 %.
  const auto interval = median_interval(std::vector<double>{1, 2, 3, 4, 5, 6, 7, 8}, 0.2);
  ASSERT_TRUE(interval);
  EXPECT_EQ(interval->low, 4);
  EXPECT_EQ(interval->high, 5);
}

TEST(MedianInterval, LargeSamplesDoNotUnderflow) {
  std::vector<double> x(5000);
  Rng rng(2);
  for (double& v : x) v = normal(rng);
  const Interval interval = *median_interval(x, 0.95);
  // Asymptotic half width: 1.96 * sqrt(pi/2) / sqrt(n) = 0.0347.
  EXPECT_NEAR(interval.width() / 2, 0.0347, 0.012);
}

/// Normal samples, neighbours of which correlate by `by`.
std::vector<double> autoregressive(int n, double by, Rng& rng) {
  std::vector<double> x(static_cast<std::size_t>(n));
  double level = normal(rng);
  for (double& v : x) {
    v = level;
    level = by * level + std::sqrt(1 - by * by) * normal(rng);
  }
  return x;
}

/// Share of `trials` in which the interval holds the true median 0.
template <class Draw, class Make>
double coverage(int trials, int n, Draw draw, Make make) {
  Rng rng(11);
  int held = 0;
  for (int t = 0; t < trials; ++t) {
    std::vector<double> x(static_cast<std::size_t>(n));
    for (double& v : x) v = draw(rng);
    held += make(x)->contains(0) ? 1 : 0;
  }
  return static_cast<double>(held) / trials;
}

TEST(MedianInterval, CoversAtTheNominalRate) {
  const auto interval = [](const std::vector<double>& x) { return median_interval(x); };
  const auto skewed = [](Rng& rng) { return -std::log(1 - rng.uniform()) - std::log(2.0); };
  for (int n : {8, 12, 18, 27, 40, 60}) {
    EXPECT_NEAR(coverage(4000, n, normal, interval), 0.95, 0.02) << n;
    EXPECT_NEAR(coverage(4000, n, skewed, interval), 0.95, 0.02) << n;
  }
}

TEST(Drift, IsFoundWhereItIsAndNowhereElse) {
  EXPECT_EQ(measure_drift({}).neighbour, 0);
  EXPECT_EQ(measure_drift(std::vector(3, std::vector<double>(20, 1.5))).neighbour, 0);
  EXPECT_EQ(measure_drift(std::vector(3, std::vector<double>{1, 2, 3, 4, 5, 6, 7})).neighbour, 0);
  EXPECT_EQ(widening({}, 27), 1);
  EXPECT_EQ(widening({.neighbour = 0.5, .decay = 0.5}, 7), 1);
  Rng rng(12);
  for (const double truth : {0.0, 0.3, 0.5, 0.7}) {
    std::vector<std::vector<double>> points;
    points.reserve(200);
    for (int p = 0; p < 200; ++p) points.push_back(autoregressive(27, truth, rng));
    const Drift drift = measure_drift(points);
    EXPECT_NEAR(drift.neighbour, truth, 0.06);
    EXPECT_NEAR(drift.decay, truth, 0.12);
  }
}

TEST(Drift, LateSamplesDoNotHideIt) {
  Rng rng(13);
  std::vector<std::vector<double>> points;
  for (int p = 0; p < 200; ++p) {
    points.push_back(autoregressive(27, 0.5, rng));
    for (double& x : points.back()) x += rng.uniform() < 0.03 ? 1000 : 0;
  }
  EXPECT_NEAR(measure_drift(points).neighbour, 0.45, 0.06);  // three in a hundred are noise
}

TEST(Drift, ASlowWanderUnderNoiseIsLongerThanItsFirstNeighbourSays) {
  // Half of the variance is independent: neighbours correlate by 0.45, later ones by 0.9 of that.
  Rng rng(14);
  std::vector<std::vector<double>> points;
  for (int p = 0; p < 100; ++p) {
    points.push_back(autoregressive(60, 0.9, rng));
    for (double& x : points.back()) x += normal(rng);
  }
  const Drift drift = measure_drift(points);
  EXPECT_NEAR(drift.neighbour, 0.45, 0.07);
  EXPECT_NEAR(drift.decay, 0.9, 0.06);
}

TEST(Drift, WidensByWhatTheSamplesAreWorth) {
  // Neighbours correlated by 0.5: signs by 1/3, then 0.16 and so on, so that a median's variance is
  // 2.3 of that of independent samples; many samples, so that nothing else plays a part.
  EXPECT_NEAR(widening({.neighbour = 0.5, .decay = 0.5}, 100'000), std::sqrt(2.305), 0.01);
  EXPECT_GT(widening({.neighbour = 0.5, .decay = 0.5}, 8),
            widening({.neighbour = 0.5, .decay = 0.5}, 60));
  EXPECT_GT(widening({.neighbour = 0.5, .decay = 0.9}, 60),
            widening({.neighbour = 0.5, .decay = 0.5}, 60));
  const std::vector<double> x = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10};
  const Interval plain = *estimate_median(x, {}).interval;
  const Drift drift{.neighbour = 0.3, .decay = 0.3};
  const Interval wide = *estimate_median(x, {.adaptive = false, .drift = drift}).interval;
  EXPECT_DOUBLE_EQ(wide.high - 5.5, widening(drift, 10) * (plain.high - 5.5));
  EXPECT_DOUBLE_EQ(5.5 - wide.low, widening(drift, 10) * (5.5 - plain.low));
}

TEST(Decide, AffectedIsWhatNoneOfAllTestsReachesByChance) {
  // Of one test alone the bound is 1 %, of ten 0.5 % each, of a thousand 0.005 %.
  EXPECT_EQ(decide(2.32, 1, 1), Decision::unaffected);
  EXPECT_EQ(decide(2.33, 1, 1), Decision::affected);
  EXPECT_EQ(decide(2.33, 1, 0), Decision::affected);
  EXPECT_EQ(decide(2.32, 1, 10), Decision::unaffected);
  EXPECT_EQ(decide(2.33, 1, 10), Decision::undecided);
  EXPECT_EQ(decide(2.57, 1, 10), Decision::undecided);
  EXPECT_EQ(decide(2.58, 1, 10), Decision::affected);
  EXPECT_EQ(decide(3.88, 1, 1000), Decision::undecided);
  EXPECT_EQ(decide(3.90, 1, 1000), Decision::affected);
  EXPECT_EQ(decide(0, 0, 10), Decision::unaffected);
  EXPECT_EQ(decide(-5, 1, 10), Decision::unaffected);
  EXPECT_EQ(decide(7.8, 2, 1000), Decision::affected);
}

TEST(Decide, QuantilesAreThoseOfTheTables) {
  EXPECT_NEAR(normal_above(0.025), 1.959963985, 1e-8);
  EXPECT_NEAR(normal_above(0.01), 2.326347874, 1e-8);
  EXPECT_NEAR(normal_above(1e-6), 4.753424309, 1e-8);
  EXPECT_NEAR(student_above(0.025, 2), 4.303, 0.04 * 4.303);
  EXPECT_NEAR(student_above(0.025, 4), 2.776, 0.003 * 2.776);
  EXPECT_NEAR(student_above(0.025, 7), 2.3646, 0.001);
  EXPECT_NEAR(student_above(0.025, 10), 2.22814, 2e-4);
  EXPECT_NEAR(student_above(0.05, 20), 1.724718, 1e-5);
  EXPECT_NEAR(student_above(0.005, 30), 2.749996, 2e-4);
}

TEST(RelativeLine, GoesThroughItsPointsAndKnowsHowWell) {
  const std::vector<LinePoint> exact = {{1, 5e-6}, {2, 7e-6}, {4, 11e-6}, {8, 19e-6}};
  const RelativeLine line = fit_relative_line(exact);
  EXPECT_NEAR(line.a, 3e-6, 1e-15);
  EXPECT_NEAR(line.b, 2e-6, 1e-15);
  EXPECT_NEAR(line.residual, 0, 1e-20);
  EXPECT_NEAR(line.at(16), 35e-6, 1e-14);
  // Through two points the line has their variances: (0.01 y)^2 at y.
  const std::vector<LinePoint> two = {{10, 4}, {30, 8}};
  const RelativeLine known = fit_relative_line(two);
  EXPECT_NEAR(known.variance_at(10), 16, 1e-9);
  EXPECT_NEAR(known.variance_at(30), 64, 1e-9);
  EXPECT_NEAR(known.variance_at(20), (16 + 64) / 4.0, 1e-9);
  // Off by a tenth of their values: the residuals are relative.
  const std::vector<LinePoint> off = {{1, 100}, {1, 80}, {2, 1000}, {2, 800}};
  EXPECT_NEAR(fit_relative_line(off).residual, 2 * 2 * 0.0122, 2e-4);
}

TEST(DecideStop, LooksOnlyAtFixedCounts) {
  std::vector<double> same(8, 1.0);
  EXPECT_EQ(decide_stop(same, 0.01), Stop::converged);
  same.push_back(1.0);  // nine samples: not a look
  EXPECT_EQ(decide_stop(same, 0.01), Stop::more);
  EXPECT_EQ(decide_stop(std::vector<double>(7, 1.0), 0.5), Stop::more);
  EXPECT_EQ(decide_stop(std::vector<double>{}, 0.5), Stop::more);
}

TEST(DecideStop, AsNarrowAsAskedIsEnough) {
  const std::vector<double> x = {0.8, 0.9, 1, 1, 1, 1, 1.1, 1.2};  // their median is 1
  const double width = estimate_median(x, {.adaptive = true, .drift = {}}).interval->width();
  EXPECT_EQ(decide_stop(x, width), Stop::converged);
  EXPECT_EQ(decide_stop(x, std::nextafter(width, 0)), Stop::more);
  std::vector<double> below = x;
  for (double& value : below) value = -value;
  EXPECT_EQ(decide_stop(below, width), Stop::converged) << "of the size of the median";
}

TEST(DecideStop, CapsNoisyPoints) {
  Rng rng(9);
  std::vector<double> x;
  while (decide_stop(x, 1e-9) == Stop::more) x.push_back(1 + 0.1 * normal(rng));
  EXPECT_EQ(static_cast<std::int64_t>(x.size()), kMostSamples);
  EXPECT_EQ(decide_stop(x, 1e-9), Stop::cap);
}

TEST(DecideStop, AdaptiveIntervalsStillCover) {
  // Sampling stops as soon as the interval is narrow: worst where the scatter lets chance decide
  // which look is the last. Nominal 95 %, and a plain interval covers 91 there.
  Rng rng(21);
  constexpr int kTrials = 4000;
  for (const double scatter : {0.005, 0.03, 0.05, 0.07, 0.15}) {
    int held = 0;
    for (int t = 0; t < kTrials; ++t) {
      std::vector<double> x;
      while (decide_stop(x, 0.05) == Stop::more) x.push_back(1 + scatter * normal(rng));
      held += estimate_median(x, {.adaptive = true, .drift = {}}).interval->contains(1) ? 1 : 0;
    }
    EXPECT_NEAR(static_cast<double>(held) / kTrials, 0.95, 0.02) << scatter;
  }
}

TEST(RateOf, TurnsTheIntervalRound) {
  const Estimate rate = rate_of(100, {4.0, Interval{2, 5}, 9});
  EXPECT_EQ(rate.value, 25);
  EXPECT_EQ(rate.interval->low, 20);
  EXPECT_EQ(rate.interval->high, 50);
  EXPECT_EQ(rate.n, 9);
  EXPECT_FALSE(rate_of(100, {4.0, std::nullopt, 3}).interval);
  EXPECT_FALSE(rate_of(100, {4.0, Interval{0, 5}, 9}).interval) << "no rate is that large";
  EXPECT_FALSE(rate_of(100, {4.0, Interval{-1, 5}, 9}).interval);
}

TEST(LargestOf, WhatReachesItsLowEndCouldHaveBeenIt) {
  const Estimate best{10.0, Interval{8, 12}, 20};
  const auto low = [&](const Estimate& other, std::size_t others) {
    std::vector<Estimate> all(others, other);
    all.push_back(best);
    return largest_of(all).interval->low;
  };
  const Estimate touching{7.0, Interval{6, 8}, 20}, below{7.0, Interval{6, 7.999}, 20};
  EXPECT_EQ(low(below, 9), 8);
  EXPECT_EQ(low(touching, 1), 8) << "two to choose from";
  EXPECT_LT(low(touching, 2), 8) << "three";
  // Without an interval a value stands for itself.
  EXPECT_EQ(low({7.999, std::nullopt, 3}, 9), 8);
  EXPECT_NEAR(low({8.0, std::nullopt, 3}, 9), 10 - 2 * 2.8609 / 2.0930, 5e-3);
  EXPECT_EQ(low({std::nullopt, std::nullopt, 0}, 9), 8);
  EXPECT_FALSE(largest_of(std::vector<Estimate>{{3.0, std::nullopt, 3}}).interval);
}

TEST(LargestOf, ReachesFurtherDownForWhatElseCouldHaveBeenIt) {
  const Estimate best{10.0, Interval{8, 12}, 20};
  const Estimate near{9.0, Interval{7, 11}, 20}, far{5.0, Interval{4, 6}, 20};
  EXPECT_FALSE(largest_of({}).value);
  for (const auto& all : {std::vector{best}, {far, best}, {far, best, far, near}}) {
    EXPECT_EQ(largest_of(all).value, 10);
    EXPECT_EQ(largest_of(all).interval->low, 8) << "of two alike each is low in 2.5 %";
    EXPECT_EQ(largest_of(all).interval->high, 12);
  }
  // Ten alike: 0.5 % for each, a t of 19 degrees of 2.861 in place of 2.093.
  std::vector<Estimate> ten(9, near);
  ten.push_back(best);
  EXPECT_NEAR(largest_of(ten).interval->low, 10 - 2 * 2.8609 / 2.0930, 5e-3);
  EXPECT_EQ(largest_of(ten).interval->high, 12);
}

TEST(LargestOf, IsAtLeastWhatAnyOtherSurelyIs) {
  // The largest was measured badly, those below it well.
  std::vector<Estimate> all(9, Estimate{9.5, Interval{9.4, 9.6}, 20});
  all.push_back({10.0, Interval{2, 11}, 20});
  EXPECT_EQ(largest_of(all).value, 10);
  EXPECT_NEAR(largest_of(all).interval->low, 9.5 - 0.1 * 2.8609 / 2.0930, 1e-4);
}

TEST(LargestOf, CoversTheLargestOfEqualOnes) {
  Rng rng(31);
  constexpr int kTrials = 1500;
  for (const int count : {1, 3, 10, 40}) {
    int held = 0;
    for (int t = 0; t < kTrials; ++t) {
      std::vector<Estimate> all;
      for (int i = 0; i < count; ++i) {
        std::vector<double> x(18);
        for (double& v : x) v = 100 + normal(rng);
        all.push_back(estimate_median(x, {}));
      }
      held += largest_of(all).interval->contains(100) ? 1 : 0;
    }
    EXPECT_GE(static_cast<double>(held) / kTrials, 0.93) << count;
    EXPECT_LE(static_cast<double>(held) / kTrials, 0.98) << count;
  }
}

TEST(EstimateMedian, FewSamplesHaveAValueAndNoInterval) {
  const Estimate one = estimate_median(std::vector<double>{2.5}, {});
  EXPECT_EQ(one.value, 2.5);
  EXPECT_FALSE(one.interval);
  EXPECT_EQ(one.n, 1);
  EXPECT_FALSE(estimate_median({}, {}).value);
}

}  // namespace
}  // namespace sonde
