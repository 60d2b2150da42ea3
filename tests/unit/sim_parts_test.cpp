// Parts of the simulated chip, each alone.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <set>

#include "device/sim/chain_order.h"
#include "device/sim/memory.h"
#include "device/sim/noise.h"
#include "device/sim/queue.h"
#include "device/sim/topology.h"
#include "tests/model/chip_text.h"

namespace sonde::sim {
namespace {

TEST(SimTopology, GroupsAndDiesAsInTheStudy) {
  const Topology topology(shipped_chip());
  ASSERT_EQ(topology.vectors().size(), 56U);
  EXPECT_EQ(topology.groups(), 10);
  std::map<int, std::set<int>> subsystems;  // of each group
  for (const CoreSite& site : topology.vectors()) {
    EXPECT_EQ(site.subsystem, site.number / 2);
    EXPECT_EQ(site.die, site.subsystem % 2);
    subsystems[site.group].insert(site.subsystem);
  }
  std::multiset<std::size_t> sizes;
  std::set<std::set<int>> groups;
  for (const auto& [group, members] : subsystems) {
    sizes.insert(members.size());
    groups.insert(members);
  }
  EXPECT_EQ(sizes, (std::multiset<std::size_t>{2, 2, 3, 3, 3, 3, 3, 3, 3, 3}));
  EXPECT_TRUE(groups.contains({0, 2, 4}));
  EXPECT_TRUE(groups.contains({1, 3, 5}));
}

TEST(SimTopology, EachSubsystemIsOneCubeAndTwoVectors) {
  const Topology topology(shipped_chip());
  ASSERT_EQ(topology.cores().size(), 84U);
  ASSERT_EQ(topology.cubes().size(), 28U);
  for (const CoreSite& cube : topology.cubes()) {
    EXPECT_TRUE(cube.cube);
    EXPECT_EQ(cube.subsystem, cube.number);
    for (int v : {2 * cube.number, 2 * cube.number + 1}) {
      const CoreSite& vector = topology.vectors()[static_cast<std::size_t>(v)];
      EXPECT_EQ(vector.subsystem, cube.subsystem);
      EXPECT_EQ(vector.group, cube.group);
      EXPECT_EQ(vector.die, cube.die);
      EXPECT_EQ(vector.stop, cube.stop);
    }
    EXPECT_EQ(topology.find(cube.name()), 56 + cube.number);
  }
  EXPECT_EQ(topology.find({"vector", 55}), 55);
  EXPECT_FALSE(topology.find({"vector", 56}));
  EXPECT_FALSE(topology.find({"cube", -1}));
  EXPECT_FALSE(topology.find({"sm", 0}));
  const auto& order = topology.block_order("cube");
  EXPECT_EQ(std::set<int>(order.begin(), order.end()).size(), 28U);
  EXPECT_GE(*std::min_element(order.begin(), order.end()), 56);
  EXPECT_TRUE(topology.block_order("sm").empty());
}

TEST(SimRing, OffsetsAreDistancesLessTheirMean) {
  const std::vector<Ticks> offsets = ring_offsets(16, 1000);
  ASSERT_EQ(offsets.size(), 16U);
  EXPECT_EQ(offsets[0], -4000);  // 8 stops at most, 4 in the mean
  EXPECT_EQ(offsets[4], 0);
  EXPECT_EQ(offsets[8], 4000);
  EXPECT_EQ(offsets[15], offsets[1]);
  EXPECT_EQ(std::accumulate(offsets.begin(), offsets.end(), Ticks{0}), 0);
}

TEST(SimL2, HitShareFallsWithTheWorkingSet) {
  const Chip chip = shipped_chip();
  const AddressMap map(chip);
  EXPECT_EQ(l2_hit_ppm(chip, map, 16 * kMiB), 1'000'000);
  // Hashed sets of 16 ways: with 16 lines in the mean, a line has at most 15 beside it with a
  // probability of 46.7 % (Poisson).
  EXPECT_NEAR(static_cast<double>(l2_hit_ppm(chip, map, 128 * kMiB)), 467e3, 5e3);
  EXPECT_LT(l2_hit_ppm(chip, map, 288 * kMiB), 1000);
  EXPECT_EQ(l2_hit_ppm(chip, map, 16 * kGiB), 0);
}

TEST(SimTopology, BlocksSpreadOverDiesThenGroups) {
  const Topology topology(shipped_chip());
  const auto& order = topology.block_order("vector");
  ASSERT_EQ(order.size(), 56U);
  EXPECT_EQ(order.front(), 0);
  EXPECT_EQ(std::set<int>(order.begin(), order.end()).size(), 56U);
  std::set<int> groups;
  for (std::size_t i = 0; i < 10; ++i) {
    const CoreSite& site = topology.vectors()[static_cast<std::size_t>(order[i])];
    EXPECT_EQ(site.die, static_cast<int>(i % 2));
    groups.insert(site.group);
  }
  EXPECT_EQ(groups.size(), 10U);
}

TEST(SimTopology, UnequalDiesKeepEveryCoreOnce) {
  const Topology topology(
      parse_chip(with(chip_text(), "[[3, 3, 3, 3, 2, 0], [3, 3, 3, 3, 2, 0]]", "[[1, 0, 3], [2]]"),
                 kChipFile));
  EXPECT_EQ(topology.vectors().size(), 12U);
  EXPECT_EQ(topology.groups(), 3);
  const auto& order = topology.block_order("vector");
  EXPECT_EQ(std::set<int>(order.begin(), order.end()).size(), 12U);
}

TEST(SimChainOrder, IsABijectionWithItsInverse) {
  for (std::int64_t lines :
       {1L, 2L, 3L, 4L, 5L, 7L, 8L, 255L, 256L, 257L, 1000L, 65536L, 100003L}) {
    const ChainOrder order(lines, 42);
    std::vector<char> seen(static_cast<std::size_t>(lines), 0);
    for (std::int64_t i = 0; i < lines; ++i) {
      const std::int64_t line = order.at(i);
      ASSERT_GE(line, 0);
      ASSERT_LT(line, lines);
      ASSERT_EQ(seen[static_cast<std::size_t>(line)]++, 0) << lines;
      ASSERT_EQ(order.position_of(line), i) << lines;
    }
  }
}

TEST(SimChainOrder, LooksShuffled) {
  const std::int64_t lines = 1 << 16;
  const ChainOrder order(lines, 1);
  std::int64_t rising = 0;
  std::int64_t near = 0;
  for (std::int64_t i = 1; i < lines; ++i) {
    const std::int64_t step = order.at(i) - order.at(i - 1);
    rising += step > 0 ? 1 : 0;
    near += step > -64 && step < 64 ? 1 : 0;
  }
  EXPECT_NEAR(static_cast<double>(rising), static_cast<double>(lines) / 2,
              0.03 * static_cast<double>(lines));
  EXPECT_LT(near, lines / 100);
}

TEST(SimAddressMap, EveryRunOfBlocksUsesEachChannelOnce) {
  const Chip chip = shipped_chip();
  const AddressMap map(chip);
  for (std::int64_t run = 0; run < 200; ++run) {
    std::set<int> channels;
    for (std::int64_t b = 0; b < 32; ++b) {
      const std::int64_t at = (run * 32 + b) * 512;
      channels.insert(map.home(at).channel);
      EXPECT_EQ(map.home(at).channel, map.home(at + 511).channel);
      EXPECT_LT(map.home(at).set, map.sets());
    }
    EXPECT_EQ(channels.size(), 32U);
  }
}

TEST(SimAddressMap, ChannelCountsThatAreNoPowerOfTwo) {
  const Chip chip = parse_chip(
      with(chip_text(), "channels = { value = 32", "channels = { value = 28"), kChipFile);
  const AddressMap map(chip);
  std::set<int> channels;
  for (std::int64_t b = 0; b < 28; ++b)
    channels.insert(map.home((std::int64_t{28} * 5 + b) * 512).channel);
  EXPECT_EQ(channels.size(), 28U);
}

TEST(SimServerPool, FirstComeFirstServed) {
  ServerPool one(1, 30);
  EXPECT_EQ(one.admit(0), 0);
  EXPECT_EQ(one.admit(10), 30);
  EXPECT_EQ(one.admit(10), 60);
  EXPECT_EQ(one.admit(200), 200);
  EXPECT_EQ(one.busy(), 120);
  EXPECT_EQ(one.served(), 4);
  ServerPool two(2, 30);
  EXPECT_EQ(two.admit(0), 0);
  EXPECT_EQ(two.admit(5), 5);
  EXPECT_EQ(two.admit(6), 30);
}

struct Spread {
  double mean = 0;
  double deviation = 0;
  double late = 0;  ///< share beyond +6 %
};

Spread spread_of(Ticks elapsed, int draws, bool tail, const Selector& selector = {}) {
  Chip chip = shipped_chip();
  if (!tail) chip.noise.tail_ppm = 0;
  double sum = 0;
  double squares = 0;
  int late = 0;
  for (int i = 0; i < draws; ++i) {
    const Ticks noisy =
        with_noise(chip, selector, {3, i % 7, i / 7}, std::int64_t{1000} * i, elapsed).elapsed;
    const double relative = static_cast<double>(noisy - elapsed) / static_cast<double>(elapsed);
    sum += relative;
    squares += relative * relative;
    late += relative > 0.06 ? 1 : 0;
  }
  const double n = draws;
  const double variance = squares / n - (sum / n) * (sum / n);
  // Newton, so that this file needs no libm either.
  double root = 0.01;
  for (int i = 0; i < 60; ++i) root = (root + variance / root) / 2;
  return {sum / n, root, static_cast<double>(late) / n};
}

TEST(SimNoise, SpreadIsAsStated) {
  const Spread launch = spread_of(34 * kTicksPerUs, 40000, false);
  EXPECT_NEAR(launch.mean, 0, 0.0002);
  EXPECT_NEAR(launch.deviation, 0.01, 0.0003);
  const Spread kernel = spread_of(2000 * kTicksPerUs, 40000, false);
  EXPECT_NEAR(kernel.deviation, 0.003, 0.0001);
  EXPECT_EQ(launch.late, 0);
}

TEST(SimNoise, TailIsOneInTwoHundred) {
  EXPECT_NEAR(spread_of(34 * kTicksPerUs, 40000, true).late, 0.005, 0.0012);
}

TEST(SimNoise, SelectorsSpreadIsThatOfEveryLaunch) {
  Selector selector;
  selector.noise_spread_ppm = 30'000;
  EXPECT_NEAR(spread_of(34 * kTicksPerUs, 40000, false, selector).deviation, 0.03, 0.001);
  EXPECT_NEAR(spread_of(2000 * kTicksPerUs, 40000, false, selector).deviation, 0.03, 0.001);
  EXPECT_EQ(load_spread_ppm(shipped_chip(), selector), 30'000);
  selector.noise = false;
  EXPECT_LT(spread_of(34 * kTicksPerUs, 100, true, selector).deviation, 1e-12);
  EXPECT_EQ(load_spread_ppm(shipped_chip(), selector), 0);
}

TEST(SimNoise, DependsOnEachPartOfItsKey) {
  const Chip chip = shipped_chip();
  const auto noisy = [&](const Trial& trial, std::int64_t start_ns) {
    return with_noise(chip, {}, trial, start_ns, kTicksPerUs).elapsed;
  };
  const Ticks base = noisy({1, 2, 3}, 4);
  EXPECT_EQ(noisy({1, 2, 3}, 4), base);
  EXPECT_NE(noisy({2, 2, 3}, 4), base);
  EXPECT_NE(noisy({1, 3, 3}, 4), base);
  EXPECT_NE(noisy({1, 2, 4}, 4), base);
  EXPECT_NE(noisy({1, 2, 3}, 5), base);
}

TEST(SimNoise, WanderMovesSlowlyBetweenItsKnots) {
  constexpr Ticks period = 1000;
  std::int64_t least = 0;
  std::int64_t most = 0;
  std::int64_t before = wander_ppm(7, 0, period, 5000);
  for (Ticks time = 1; time < 400 * period; ++time) {
    const std::int64_t now = wander_ppm(7, time, period, 5000);
    EXPECT_LE(std::abs(now - before), 2 * 5000 / 1000 + 1) << time;
    least = std::min(least, now);
    most = std::max(most, now);
    before = now;
  }
  EXPECT_GE(least, -5000);
  EXPECT_LE(most, 5000);
  EXPECT_LT(least, -4000);
  EXPECT_GT(most, 4000);
  EXPECT_NE(wander_ppm(8, 0, period, 5000), wander_ppm(7, 0, period, 5000));
  EXPECT_EQ(wander_ppm(7, 123, period, 0), 0);
}

TEST(SimNoise, DriftIsOnlyThereWhenAskedForAndHitsAllPointsAlike) {
  const Chip chip = shipped_chip();
  Selector selector;
  selector.drift = true;
  for (std::int64_t now : {0L, 7'000'000L, 123'456'789L}) {
    EXPECT_EQ(drift_ppm(chip, {}, {1, 2, 3}, now), 0);
    EXPECT_EQ(drift_ppm(chip, selector, {1, 2, 3}, now), drift_ppm(chip, selector, {1, 8, 9}, now));
    EXPECT_NE(drift_ppm(chip, selector, {1, 2, 3}, now), drift_ppm(chip, selector, {2, 2, 3}, now));
  }
  Chip drawn = chip;
  drawn.scatter.drift_ppm = 20'000;
  drawn.scatter.drift_period = 1000 * kTicksPerUs;
  drawn.scatter.key = 5;
  EXPECT_NE(drift_ppm(drawn, {}, {1, 2, 3}, 7'000'000), 0);
  Selector off;
  off.noise = false;
  EXPECT_EQ(drift_ppm(drawn, off, {1, 2, 3}, 7'000'000), 0);
}

TEST(SimNoise, StepsOfTheClockLastAndTakeAsMuchLonger) {
  Chip chip = shipped_chip();
  Selector selector;
  EXPECT_EQ(clock_ppm(chip, selector, 1'000'000), 1'000'000);
  selector.steps = true;
  int full = 0, levels = 0;
  std::int64_t least = 1'000'000, before = 0;
  for (std::int64_t at = 0; at < 4'000'000'000; at += 1'000'000) {
    const std::int64_t ppm = clock_ppm(chip, selector, at);
    full += ppm == 1'000'000 ? 1 : 0;
    least = std::min(least, ppm);
    levels += ppm != before ? 1 : 0;
    before = ppm;
    // A run takes longer by what the clock is lower.
    const double longer = 1 + 1e-6 * static_cast<double>(drift_ppm(chip, selector, {1, 2, 3}, at));
    EXPECT_NEAR(longer * static_cast<double>(ppm), 1e6, 1.1);
  }
  EXPECT_NEAR(full, 2000, 8 * 4 * 11.2);  // of 500 levels of 8 ms a half, to four deviations
  EXPECT_LE(levels, 500);                 // none changes within its 8 ms
  EXPECT_GT(levels, 300);
  EXPECT_LT(least, 890'000);
  EXPECT_GE(least, 880'000);
  chip.scatter.key = 99;
  EXPECT_NE(drift_ppm(chip, selector, {1, 2, 3}, 0) +
                drift_ppm(chip, selector, {1, 2, 3}, 8'000'000) +
                drift_ppm(chip, selector, {1, 2, 3}, 16'000'000),
            drift_ppm(shipped_chip(), selector, {1, 2, 3}, 0) +
                drift_ppm(shipped_chip(), selector, {1, 2, 3}, 8'000'000) +
                drift_ppm(shipped_chip(), selector, {1, 2, 3}, 16'000'000));
}

TEST(SimNoise, EpisodesHoldBackWhatTheyMeet) {
  // A second has 200 windows of 5 ms, one in 16 with an episode of 0.6 to 2.5 ms.
  const Ticks second = kTicksPerSecond;
  std::int64_t events = 0;
  Ticks during = 0;
  for (std::int64_t s = 0; s < 40; ++s) {
    const HeldBack held = held_back(3, s * 1'000'000'000, second);
    events += held.events;
    during += held.during;
  }
  EXPECT_NEAR(static_cast<double>(events), 40 * 200 / 16.0, 4 * 22);  // four deviations
  const double mean_ns = static_cast<double>(during) / 1e3 / static_cast<double>(events);
  EXPECT_NEAR(mean_ns, 625'000 + 1'875'000 / 2.0, 0.05 * 1'562'500);
  // Parts of a run add up to the whole, up to one event that lies across the cut.
  const HeldBack whole = held_back(3, 0, second);
  const HeldBack first = held_back(3, 0, second / 3);
  const HeldBack rest = held_back(3, second / 3 / 1000, second - second / 3);
  EXPECT_NEAR(static_cast<double>(first.during + rest.during), static_cast<double>(whole.during),
              2000);
  EXPECT_LE(first.events + rest.events - whole.events, 1);

  const Chip chip = shipped_chip();
  Selector selector;
  selector.episodes = true;
  int held = 0;
  for (std::int64_t start = 0; start < 400'000'000; start += 100'000) {
    const Ticks plain = with_noise(chip, {}, {3, 0, 0}, start, 50 * kTicksPerUs).elapsed;
    const Noisy noisy = with_noise(chip, selector, {3, 0, 0}, start, 50 * kTicksPerUs);
    EXPECT_EQ(noisy.throttled > 0, noisy.elapsed > plain);
    EXPECT_LE(noisy.elapsed, plain + plain / 4 + kTicksPerNs);  // episodes are in whole ns
    held += noisy.throttled > 0 ? 1 : 0;
  }
  EXPECT_GT(held, 20);
  EXPECT_LT(held, 400);
}

}  // namespace
}  // namespace sonde::sim
