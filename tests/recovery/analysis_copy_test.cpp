// Planted copy curves: a method switch is found, a smooth curve and a cache edge are left alone.
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>

#include "report/copy.h"
#include "tests/output/report_runs.h"

namespace sonde {
namespace {

using testing_runs::host_copy;
using testing_runs::ladder;
using testing_runs::noisy;
using testing_runs::npu_copy;

template <class Time>
Curve measure(const std::vector<double>& sizes, Time time, double noise, int n, std::uint64_t seed,
              double outliers = 0) {
  Curve curve;
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    const std::uint64_t key = key_of({seed, i});
    CurvePoint point{.x = sizes[i], .y = {}, .samples = noisy(time(sizes[i]), noise, n, key)};
    Rng rng(key_of({key, 1}));
    for (double& sample : point.samples) {
      if (rng.uniform() < outliers) sample *= 1.2 + 3 * rng.uniform();
    }
    point.y = estimate_median(point.samples, {.adaptive = true, .drift = {}});
    curve.push_back(std::move(point));
  }
  return curve;
}

/// A random smooth copy: start-up, a rate, and up to three cache edges of random height and width.
struct Smooth {
  double overhead, rate;
  std::vector<double> at, factor, steepness;
  explicit Smooth(Rng& rng) {
    overhead = std::exp2(-27 + 10 * rng.uniform());
    rate = std::exp2(33 + 6 * rng.uniform());
    const auto edges = rng.below(4);
    for (std::uint64_t i = 0; i < edges; ++i) {
      at.push_back(std::exp2(13 + 14 * rng.uniform()));
      factor.push_back(0.3 + 2.2 * rng.uniform());
      steepness.push_back(3 + 4 * rng.uniform());  // 10 to 90 % within 1.5 down to 0.6 octaves
    }
  }
  double operator()(double bytes) const {
    double cost = 1;
    for (std::size_t i = 0; i < at.size(); ++i) {
      cost += factor[i] / (1 + std::exp(-std::log2(bytes / at[i]) * steepness[i]));
    }
    return overhead + bytes * cost / rate;
  }
};

TEST(AnalysisCopy, FindsTheSwitchOfTheModelledChipWithinOneStep) {
  const std::vector<double> sizes = ladder(1024, 256 << 20);
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    const CopyShape shape = analyse_copy(measure(sizes, npu_copy, 0.02, 8, seed), false);
    ASSERT_EQ(shape.switches.size(), 1u) << seed;
    EXPECT_LT(shape.switches[0].last_old, 400000.5);
    EXPECT_GT(shape.switches[0].first_new, 400000);
    EXPECT_NEAR(shape.switches[0].jump_s, npu_copy(400001) - npu_copy(400000), 0.4e-6);
    EXPECT_TRUE(shape.edges.empty()) << seed;
  }
}

TEST(AnalysisCopy, FindsIntoACoarseLadder) {
  for (int per_octave : {2, 4}) {
    const CopyShape shape =
        analyse_copy(measure(ladder(1024, 256 << 20, per_octave), npu_copy, 0.02, 8, 5), false);
    ASSERT_EQ(shape.switches.size(), 1u) << per_octave;
    EXPECT_LE(shape.switches[0].last_old, 400000);
    EXPECT_GT(shape.switches[0].first_new, 400000);
  }
}

TEST(AnalysisCopy, TellsBothHostSwitchesFromTheCacheEdges) {
  const std::vector<double> sizes = ladder(1024, 256 << 20);
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    const CopyShape shape = analyse_copy(measure(sizes, host_copy, 0.03, 12, seed, 0.05), true);
    ASSERT_EQ(shape.switches.size(), 2u) << seed;
    for (const CopySwitch& found : shape.switches) {
      const double truth = found.jump_s < 0 ? 103809024 : 2112;
      EXPECT_LE(found.last_old, truth);
      EXPECT_GT(found.first_new, truth);
    }
    ASSERT_EQ(shape.edges.size(), 3u) << seed;
    EXPECT_NEAR(std::log2(shape.edges[0].last_before / 20e3), 0, 0.6);
    EXPECT_NEAR(std::log2(shape.edges[1].last_before / 0.8e6), 0, 0.6);
    EXPECT_NEAR(std::log2(shape.edges[2].last_before / 40e6), 0, 1);  // the widest of them
  }
}

TEST(AnalysisCopy, AStepWhereTwoBuffersFillADeclaredLevelIsItsEdge) {
  // As steep as a first-level cache really is: within one size of the ladder.
  const std::vector<double> sizes = ladder(1024, 4 << 20);
  const auto steep = [](double bytes) { return 5e-9 + bytes / (bytes > 24576 ? 38e9 : 140e9); };
  const Curve curve = measure(sizes, steep, 0.02, 12, 3);
  ASSERT_EQ(analyse_copy(curve, true).switches.size(), 1u);
  const CopyShape declared = analyse_copy(curve, true, {49152, 2097152});
  EXPECT_TRUE(declared.switches.empty());
  ASSERT_EQ(declared.edges.size(), 1u);
  EXPECT_EQ(declared.edges[0].capacity, 49152);
  EXPECT_LE(declared.edges[0].last_before, 24576);
  EXPECT_GT(declared.edges[0].first_in, 24576);
  // A larger fixed cost at the same size is a switch all the same.
  const auto fixed = [](double bytes) { return (bytes > 24576 ? 7e-6 : 2e-6) + bytes / 500e9; };
  EXPECT_EQ(analyse_copy(measure(sizes, fixed, 0.02, 12, 3), true, {49152}).switches.size(), 1u);
  // A declared level elsewhere explains nothing, and no cache makes a copy faster.
  EXPECT_EQ(analyse_copy(curve, true, {32768, 2097152}).switches.size(), 1u);
  const auto faster = [](double bytes) { return 5e-9 + bytes / (bytes > 24576 ? 140e9 : 38e9); };
  EXPECT_EQ(analyse_copy(measure(sizes, faster, 0.02, 12, 3), true, {49152}).switches.size(), 1u);
}

TEST(AnalysisCopy, ClaimsNoSwitchOnSmoothCurves) {
  const std::vector<double> sizes = ladder(1024, 256 << 20);
  int claims = 0;
  constexpr int kCurves = 300;
  for (std::uint64_t seed = 0; seed < kCurves; ++seed) {
    Rng rng(key_of({99, seed}));
    const Smooth time(rng);
    const double noise = 0.01 + 0.04 * rng.uniform();
    const int n = static_cast<int>(8 + rng.below(20));
    const CopyShape shape = analyse_copy(measure(sizes, time, noise, n, seed, 0.02), false);
    claims += shape.switches.empty() ? 0 : 1;
  }
  EXPECT_LE(claims, kCurves / 100);
}

TEST(AnalysisCopy, FindsPlantedJumpsAboveThreeTimesTheNoise) {
  const std::vector<double> sizes = ladder(1024, 256 << 20);
  int tried = 0, found = 0, extra = 0;
  for (std::uint64_t seed = 0; tried < 300; ++seed) {
    Rng rng(key_of({77, seed}));
    Smooth time(rng);
    const double noise = 0.01 + 0.04 * rng.uniform();
    const int n = static_cast<int>(8 + rng.below(20));
    const double at = std::exp2(12 + 14 * rng.uniform());
    const double jump = std::exp2(-22 + 6.6 * rng.uniform()) * (rng.below(3) == 0 ? -1 : 1);
    const double level = time(at);
    // Down-jumps leave at least half the time; jumps are at least three times the noise and 8 %.
    if (std::abs(jump) < std::max(3 * noise, 0.10) * level || jump < -0.5 * level) continue;
    // An edge within an octave of the switch is another question.
    bool crowded = false;
    for (double edge : time.at) crowded = crowded || std::abs(std::log2(edge / at)) < 2;
    if (crowded) continue;
    ++tried;
    const auto jumping = [&](double bytes) { return time(bytes) + (bytes > at ? jump : 0); };
    const CopyShape shape = analyse_copy(measure(sizes, jumping, noise, n, seed, 0.02), false);
    bool hit = false;
    for (const CopySwitch& one : shape.switches) {
      // Within one ladder step of the truth.
      hit = hit || (one.last_old / std::exp2(0.13) <= at && one.first_new * std::exp2(0.13) >= at &&
                    (one.jump_s > 0) == (jump > 0));
    }
    found += hit;
    extra += static_cast<int>(shape.switches.size()) - hit;
  }
  EXPECT_GE(found, 297) << "of " << tried;
  EXPECT_LE(extra, 3);
}

/// The default ladder with its sizes beside powers of two.
std::vector<double> classed_ladder(double high) {
  std::vector<double> sizes = ladder(1024, high);
  for (double power = 4096; power <= high; power *= 2) {
    for (const double size : {power + 64, power + 4096, power * 1.5}) {
      if (size <= high && (size != power + 4096 || power >= 65536)) sizes.push_back(size);
    }
  }
  std::sort(sizes.begin(), sizes.end());
  sizes.erase(std::unique(sizes.begin(), sizes.end()), sizes.end());
  return sizes;
}

TEST(AnalysisCopy, NamesTheAlignmentClassAndFindsTheSwitchBesideIt) {
  // As one NVIDIA H200 does: a step of 1.7 just above 1 MiB, powers of two stay low, then the L2
  // ends.
  const auto line = [](double b) {
    const double cost = 1 + 0.6 * std::clamp(std::log2(b / 17e6), 0.0, 1.0);
    return (b <= 1048576 ? 2.5e-6 : 4.8e-6) + b * cost / 2.6e12;
  };
  const auto power = [](double b) {
    return std::has_single_bit(static_cast<std::uint64_t>(b)) && b > 1048576;
  };
  const auto time = [&](double b) { return line(b) * (power(b) ? 0.62 : 1); };
  const Curve curve = measure(classed_ladder(64 << 20), time, 0.02, 12, 9);
  const CopyShape shape = analyse_copy(curve, false);
  ASSERT_EQ(shape.classes.size(), 1u);
  EXPECT_EQ(shape.classes[0].modulus, 0);
  EXPECT_EQ(shape.classes[0].from, 2 << 20);
  EXPECT_EQ(shape.classes[0].to, 32 << 20);  // behind the last size there is none to compare with
  EXPECT_NEAR(shape.classes[0].factor, 0.62, 0.03);
  ASSERT_EQ(shape.switches.size(), 1u);
  EXPECT_EQ(shape.switches[0].last_old, 1048576);
  EXPECT_EQ(shape.switches[0].first_new, 1048576 + 64);
  EXPECT_NEAR(shape.switches[0].jump_s, 2.3e-6, 0.25e-6);
}

TEST(AnalysisCopy, TellsPowersOfTwoFromWholePages) {
  const auto time = [](double b) {
    return (2e-6 + b / 100e9) * (std::fmod(b, 4096) == 0 && b > 50e3 ? 1.4 : 1);
  };
  const CopyShape shape = analyse_copy(measure(classed_ladder(64 << 20), time, 0.02, 12, 4), false);
  ASSERT_EQ(shape.classes.size(), 1u);
  EXPECT_EQ(shape.classes[0].modulus, 4096);
  EXPECT_NEAR(shape.classes[0].factor, 1.4, 0.03);
  EXPECT_TRUE(shape.switches.empty());
}

TEST(AnalysisCopy, MeasuresTheDipAndWhereBandwidthIsBack) {
  const auto time = [](double b) { return (b <= 400000 ? 2e-6 : 5e-6) + b / 500e9; };
  const CopyShape shape = analyse_copy(measure(ladder(1024, 256 << 20), time, 0.01, 12, 2), false);
  ASSERT_EQ(shape.switches.size(), 1u);
  // 400 kB take 2.8 us before and 5.8 us behind; as much a second again from 1.0 MB on.
  EXPECT_NEAR(shape.switches[0].dip_depth, 3.0 / 5.8, 0.03);
  ASSERT_TRUE(shape.switches[0].recovered_bytes);
  EXPECT_NEAR(std::log2(*shape.switches[0].recovered_bytes / 1.0e6), 0, 0.3);
  const auto never = [](double b) { return b <= 400000 ? b / 500e9 : 1e-6 + b / 300e9; };
  const CopyShape low = analyse_copy(measure(ladder(1024, 256 << 20), never, 0.01, 12, 2), false);
  ASSERT_EQ(low.switches.size(), 1u);
  EXPECT_FALSE(low.switches[0].recovered_bytes);
}

TEST(AnalysisCopy, AnEdgeHasAnIntervalThatHoldsItsStart) {
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    const auto time = [](double b) {
      return b * (1 + 1.5 * std::clamp(std::log2(b / 1.2e6), 0.0, 1.0)) / 100e9;
    };
    const CopyShape shape =
        analyse_copy(measure(ladder(1024, 64 << 20), time, 0.02, 12, seed), false);
    ASSERT_EQ(shape.edges.size(), 1u) << seed;
    ASSERT_TRUE(shape.edges[0].start);
    EXPECT_LE(shape.edges[0].start->low, 1.2e6);
    EXPECT_GE(shape.edges[0].start->high, 1.2e6);
    EXPECT_LT(shape.edges[0].start->high / shape.edges[0].start->low, 1.5);
    EXPECT_NEAR(shape.edges[0].rise, 2.5, 0.15);
    EXPECT_TRUE(shape.switches.empty());
  }
}

TEST(AnalysisCopy, PiecesFollowTheCurveAndTheirNumberComesFromIt) {
  const auto straight = [](double b) { return 2e-6 + b / 500e9; };
  EXPECT_EQ(
      analyse_copy(measure(ladder(1024, 1 << 24), straight, 0.01, 12, 3), false).pieces.size(), 1u);
  const CopyShape shape =
      analyse_copy(measure(ladder(1024, 1 << 24), npu_copy, 0.01, 12, 3), false);
  ASSERT_EQ(shape.pieces.size(), 2u);
  EXPECT_NEAR(shape.pieces[0].at(200000), npu_copy(200000), 0.03 * npu_copy(200000));
  EXPECT_NEAR(shape.pieces[1].at(8e6), npu_copy(8e6), 0.03 * npu_copy(8e6));
}

TEST(AnalysisCopy, SaysWhenItCannotTell) {
  EXPECT_TRUE(analyse_copy({}, false).cannot_tell);
  EXPECT_TRUE(analyse_copy(measure({1024, 2048, 4096}, npu_copy, 0.01, 8, 1), false).cannot_tell);
  const CopyShape flat =
      analyse_copy(measure(
                       ladder(1024, 1 << 20), [](double) { return 1e-6; }, 0, 8, 1),
                   false);
  EXPECT_FALSE(flat.cannot_tell);
  EXPECT_TRUE(flat.switches.empty());
  EXPECT_TRUE(flat.edges.empty());
}

}  // namespace
}  // namespace sonde
