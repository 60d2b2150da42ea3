// Patterns of GEMM shapes on simulated truth: rarely claimed where there is none, found where
// planted.
#include <gtest/gtest.h>

#include <cmath>

#include "core/rng.h"
#include "report/gemm_patterns.h"

namespace sonde {
namespace {

constexpr double kPeak = 4e14;
constexpr double kBandwidth = 1.6e12;
constexpr std::int64_t kCores = 28;

struct Planted {
  double unaligned = 1;  ///< factor on the fraction
  double skinny = 1;
  bool waves = false;  ///< 256 x 128 tiles on all cores
  double fixed_s = 0;  ///< added to each time
};

double up(std::int64_t value, std::int64_t unit) {
  const std::int64_t whole = (value + unit - 1) / unit;
  return static_cast<double>(whole);
}

/// 50 weights at nine numbers of rows. The fraction depends smoothly on M, N and K, and 4 % at
/// random.
std::vector<GemmPattern> find(std::uint64_t seed, const Planted& planted) {
  Rng rng(key_of({seed, 99}));
  std::vector<GemmShape> shapes;
  GemmRoofline line;
  line.name = "datasheet";
  line.peak = kPeak;
  line.bandwidth = kBandwidth;
  for (int weight = 0; weight < 50; ++weight) {
    const bool odd = rng.below(3) == 0;
    const auto n = static_cast<std::int64_t>(128 * (4 + rng.below(120)) + (odd ? 32 : 0));
    const auto k = static_cast<std::int64_t>(128 * (8 + rng.below(120)));
    for (const std::int64_t m : {1, 32, 128, 256, 512, 1024, 2048, 4096, 8192}) {
      GemmShape shape;
      shape.m = m;
      shape.n = n;
      shape.k = k;
      const auto a = static_cast<double>(m), b = static_cast<double>(n), c = static_cast<double>(k);
      shape.flop = 2 * a * b * c;
      shape.intensity = shape.flop / (2 * (a * c + c * b + a * b));
      shape.cores = kCores;
      const double attainable = std::min(kPeak, shape.intensity * kBandwidth);
      double fraction = 0.8 - 0.02 * std::log2(static_cast<double>(k) / 1024) +
                        0.01 * std::log2(static_cast<double>(n) / 512) + (m > 256 ? 0.05 : 0.0);
      fraction *= 1 + 0.04 * static_cast<double>(rng.gaussian_q16()) / 65536;
      if (n % 128 != 0) fraction *= planted.unaligned;
      if (m <= 32) fraction *= planted.skinny;
      if (planted.waves) {
        const double tiles = up(m, 256) * up(n, 128);
        fraction *= tiles / (std::ceil(tiles / kCores) * kCores);
      }
      const double time = shape.flop / (fraction * attainable) + planted.fixed_s;
      shape.time.value = time;
      line.fractions.emplace_back(shape.flop / time / attainable);
      shapes.push_back(shape);
    }
  }
  return find_gemm_patterns(shapes, line, seed);
}

const GemmPattern* named(const std::vector<GemmPattern>& found, const std::string& name) {
  for (const GemmPattern& pattern : found) {
    if (pattern.name == name) return &pattern;
  }
  return nullptr;
}

TEST(GemmPatterns, NoneIsClaimedWhereThereIsNone) {
  int claimed = 0;
  for (std::uint64_t seed = 1; seed <= 60; ++seed) claimed += !find(seed, {}).empty();
  // Up to 3 of 60 expected at 5 %; three standard deviations of a binomial are 5.
  EXPECT_LE(claimed, 8);
}

TEST(GemmPatterns, WhatWasPlantedIsFoundInItsSize) {
  int unaligned = 0, waves = 0, skinny = 0, fixed = 0;
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    const auto of_width = find(seed, {.unaligned = 0.92});
    if (const GemmPattern* found = named(of_width, "alignment")) {
      unaligned += std::abs(found->effect + 0.08) < 0.02;
    }
    EXPECT_EQ(named(of_width, "launch_bound"), nullptr) << seed;
    const auto of_waves = find(seed, {.waves = true});
    if (const GemmPattern* found = named(of_waves, "wave_quantisation")) {
      waves += found->sentence.find("256 x 128") != std::string::npos;
    }
    const auto of_skinny = find(seed, {.skinny = 0.7});
    if (const GemmPattern* found = named(of_skinny, "skinny")) {
      skinny += std::abs(found->effect + 0.3) < 0.1;
    }
    const auto of_launch = find(seed, {.fixed_s = 5e-6});
    if (const GemmPattern* found = named(of_launch, "launch_bound")) {
      ++fixed;
      const std::size_t at = found->sentence.find("about ");
      const double ns = std::stod(found->sentence.substr(at + 6));
      EXPECT_NEAR(ns, 5000, 1000) << found->sentence;
    }
  }
  EXPECT_GE(unaligned, 9);
  EXPECT_GE(waves, 9);
  EXPECT_GE(skinny, 9);
  EXPECT_GE(fixed, 9);
}

TEST(GemmPatterns, FewShapesAreNotJudged) {
  GemmRoofline line;
  std::vector<GemmShape> shapes(5);
  for (GemmShape& shape : shapes) {
    shape.time.value = 1;
    line.fractions.emplace_back(0.5);
  }
  EXPECT_TRUE(find_gemm_patterns(shapes, line, 1).empty());
  EXPECT_TRUE(find_gemm_patterns({}, {}, 1).empty());
}

}  // namespace
}  // namespace sonde
