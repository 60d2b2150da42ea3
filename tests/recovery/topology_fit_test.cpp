// What is taken away from the address profiles before cores are compared.
#include <gtest/gtest.h>

#include <cmath>

#include "core/rng.h"
#include "topology/profile_fit.h"

namespace sonde {
namespace {

constexpr std::size_t kAddresses = 512;
constexpr std::size_t kCores = 9;

double wave(std::size_t address) { return 10 * std::sin(0.7 * static_cast<double>(address)); }

/// Cores at levels 500 ns apart see one pattern.
Profiles alike() {
  Profiles profiles(kAddresses, kCores);
  for (std::size_t c = 0; c < kCores; ++c) {
    for (std::size_t a = 0; a < kAddresses; ++a)
      profiles(a, c) = 1000 + 500 * static_cast<double>(c) + wave(a);
  }
  return profiles;
}

double largest(const Profiles& rest, std::size_t core) {
  double most = 0;
  for (const double value : rest.column(core)) most = std::max(most, std::abs(value));
  return most;
}

TEST(ProfileFit, NothingIsLeftOfCoresThatSeeTheSame) {
  const ProfileFit fit = fit_profiles(alike());
  for (std::size_t c = 0; c < kCores; ++c) EXPECT_LT(largest(fit.rest, c), 1e-6) << c;
}

TEST(ProfileFit, AWildCoreInTheMiddleDoesNotReachTheOthers) {
  // Its level is the median of all: only profiles without their levels keep it out of what all see.
  Profiles profiles = alike();
  Rng rng(5);
  for (double& value : profiles.column(kCores / 2)) value += rng.below(2) == 0 ? -200 : 200;
  const ProfileFit fit = fit_profiles(profiles);
  for (std::size_t c = 0; c < kCores; ++c) {
    if (c == kCores / 2) continue;
    EXPECT_LT(largest(fit.rest, c), 1) << c;
  }
}

TEST(ProfileFit, AFactorOfTheCommonPatternIsTakenAway) {
  Profiles profiles = alike();
  for (std::size_t a = 0; a < kAddresses; ++a) profiles(a, 2) += 0.1 * wave(a);
  EXPECT_LT(largest(fit_profiles(profiles).rest, 2), 0.1);
}

TEST(ProfileFit, WhatOneCoreAloneSeesStays) {
  Profiles profiles = alike();
  for (std::size_t a = 0; a < kAddresses; a += 2) profiles(a, 3) += 4;
  const ProfileFit fit = fit_profiles(profiles);
  double apart = 0;  // even addresses less odd ones
  for (std::size_t a = 0; a < kAddresses; ++a) apart += (a % 2 == 0 ? 1 : -1) * fit.rest(a, 3);
  EXPECT_NEAR(apart / (kAddresses / 2.0), 4, 0.4);
}

}  // namespace
}  // namespace sonde
