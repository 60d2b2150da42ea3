// The governor: what a short run keeps, and what a long one or a sequence settles to.
#include <gtest/gtest.h>

#include <vector>

#include "core/units.h"
#include "device/registry.h"
#include "device/sim/governor.h"

namespace sonde::sim {
namespace {

std::int64_t settled(Ticks elapsed) { return settled_ppm(elapsed, 100'000 * kTicksPerUs); }

TEST(Governor, FollowsALoadWithItsWindow) {
  // 1 - exp(-t / 100 ms).
  EXPECT_EQ(settled(0), 0);
  EXPECT_NEAR(static_cast<double>(settled(10'000 * kTicksPerUs)), 95'163, 400);
  EXPECT_NEAR(static_cast<double>(settled(100'000 * kTicksPerUs)), 632'121, 400);
  EXPECT_NEAR(static_cast<double>(settled(300'000 * kTicksPerUs)), 950'213, 400);
  EXPECT_EQ(settled(100 * kTicksPerSecond), 1'000'000);
  std::int64_t before = 0;
  for (Ticks t = 0; t < kTicksPerSecond; t += 1'234'567'891) {
    EXPECT_GE(settled(t), before);
    before = settled(t);
  }
}

TEST(Governor, AShortRunKeepsTheReferenceClock) {
  const auto device = open_device("sim:950pr_9579?noise=off");
  GemmWork work;
  work.m = work.n = work.k = 8192;
  device->gemm()->prepare(work);
  std::vector<double> clocks;
  for (std::int64_t r = 0; r < 400; ++r) {
    clocks.push_back(megahertz(*device->gemm()->run({1, 0, r}).clock));
    EXPECT_LE(device->telemetry().power->value(), 600);
  }
  // Ten runs of 3 ms are over before the governor acts; after a second it has settled.
  EXPECT_EQ(clocks[9], 1650);
  EXPECT_LT(clocks.back(), 1550);
  EXPECT_GT(clocks.back(), 1500);
  for (std::size_t r = 1; r < clocks.size(); ++r) EXPECT_LE(clocks[r], clocks[r - 1]);
  // A pure function of modelled time: a resumed run goes on alike.
  const auto resumed = open_device("sim:950pr_9579?noise=off");
  resumed->resume_at(device->now());
  resumed->gemm()->prepare(work);
  const Sample a = device->gemm()->run({1, 0, 400});
  const Sample b = resumed->gemm()->run({1, 0, 400});
  EXPECT_EQ(a.elapsed.value(), b.elapsed.value());
  EXPECT_EQ(a.clock->value(), b.clock->value());
}

TEST(Governor, ALongRunIsHeldBackWithin) {
  const auto device = open_device("sim:950pr_9579?noise=off");
  GemmWork work;
  work.m = work.n = 16384;
  work.k = 1 << 20;  // 1.5 s
  device->gemm()->prepare(work);
  EXPECT_LT(megahertz(*device->gemm()->run({}).clock), 1550);
}

}  // namespace
}  // namespace sonde::sim
