// The modelled chase against closed formulas, in exact ticks: no noise is involved here.
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

#include "device/sim/chase.h"
#include "tests/model/chip_text.h"

namespace sonde::sim {
namespace {

ChaseWork cold(std::int64_t blocks, std::int64_t loads = 256) {
  ChaseWork work;
  work.kind = "vector";
  work.blocks = blocks;
  work.footprint_bytes = 16 * kKiB;
  work.loads = loads;
  work.warm = false;
  work.seed = 7;
  return work;
}

/// A chip with its structure, and launches on it.
struct Bench {
  explicit Bench(Chip read) : chip(std::move(read)), topology(chip), map(chip) {}

  Launch launch(const ChaseWork& work, std::vector<int> cores = {}) const {
    if (cores.empty()) cores = topology.block_order(work.kind);
    const Chains chains(chip, map, work);
    return run_launch(chip, topology, BlockScheduler(cores, work.blocks, chip.wave_cost),
                      work.blocks, work.loads, chains);
  }
  std::vector<int> cores_of_group(int group, std::size_t count) const {
    std::vector<int> cores;
    for (const CoreSite& site : topology.vectors()) {
      if (site.group == group && cores.size() < count) cores.push_back(site.number);
    }
    return cores;
  }

  Chip chip;
  Topology topology;
  AddressMap map;
};

/// Near and far alike, and no way along the ring: every load takes 134 ns unloaded.
Bench uniform_bench() {
  std::string text = with(chip_text(), "near = { value = 118", "near = { value = 134");
  text = with(text, "hop = { value = 1", "hop = { value = 0");
  return Bench(parse_chip(with(text, "far = { value = 150", "far = { value = 134"), kChipFile));
}

TEST(ChaseLaw, LoneCoreIsTheMeanOfNearAndFar) {
  const Bench bench(shipped_chip());
  const Chains chains(bench.chip, bench.map, cold(1));
  const Ticks mean = (bench.chip.memory.l2_near + bench.chip.memory.l2_far) / 2;
  for (const CoreSite& site : bench.topology.cores()) {
    EXPECT_EQ(chains.lone(site), 256 * mean) << site.name().str();
  }
}

TEST(ChaseLaw, FastPathEqualsTheEventEngine) {
  const Bench bench(shipped_chip());
  for (bool warm : {false, true}) {
    for (std::int64_t footprint : {64L, 1000L, 16384L, 36864L, 1L << 20, 96L << 20, 1L << 30}) {
      ChaseWork work = cold(1, 5000);
      work.footprint_bytes = footprint;
      work.warm = warm;
      const Chains chains(bench.chip, bench.map, work);
      for (int core : {0, 3, 55, 56, 83}) {
        const Ticks lone = chains.lone(bench.topology.cores()[static_cast<std::size_t>(core)]);
        EXPECT_EQ(bench.launch(work, {core}).elapsed, lone) << footprint << " core " << core;
      }
    }
  }
}

TEST(ChaseLaw, ClosedQueueIsExactWithoutSpread) {
  const Bench bench = uniform_bench();
  const Ticks r = bench.chip.memory.l2_near;
  const Ticks s = bench.chip.group_port.service;
  const std::int64_t n = 256;
  for (std::size_t g = 1; g <= 6; ++g) {
    const auto count = static_cast<std::int64_t>(g);
    const Launch launch = bench.launch(cold(count), bench.cores_of_group(0, g));
    // Below saturation the starts stagger once and nobody waits again; above it the port never
    // idles.
    const Ticks expected = count * s <= r ? n * r + (count - 1) * s : (count * n - 1) * s + r;
    EXPECT_EQ(launch.elapsed, expected) << g << " cores in a group";
  }
}

TEST(ChaseLaw, SaturatedGroupIsBoundByItsPort) {
  const Bench bench(shipped_chip());
  const std::int64_t n = 4096;
  ChaseWork work = cold(6, n);
  work.footprint_bytes = n * 64;
  const Launch launch = bench.launch(work, bench.cores_of_group(0, 6));
  const Ticks bound = 6 * n * bench.chip.group_port.service;
  EXPECT_GE(launch.elapsed, bound);
  EXPECT_LE(launch.elapsed, bound + bound / 50);
}

TEST(ChaseLaw, OtherGroupsCostNothing) {
  const Bench bench(shipped_chip());
  // The launch order gives each of the ten groups one block before any gets a second.
  EXPECT_EQ(bench.topology.groups(), 10);
  EXPECT_EQ(bench.launch(cold(10)).waited, 0);
  EXPECT_GT(bench.launch(cold(11)).waited, 0);
}

TEST(ChaseLaw, UtilisationAndLittle) {
  const Bench bench(shipped_chip());
  for (std::int64_t blocks : {1L, 18L, 56L, 64L, 130L}) {
    const Launch launch = bench.launch(cold(blocks));
    const Ticks busy = std::accumulate(launch.port_busy.begin(), launch.port_busy.end(), Ticks{0});
    EXPECT_EQ(busy, blocks * 256 * bench.chip.group_port.service);
    // Time spent in the system = unloaded latencies + waiting: L = lambda W, summed over loads.
    Ticks in_system = 0;
    for (std::size_t b = 0; b < launch.end.size(); ++b)
      in_system += launch.end[b] - launch.start[b];
    const Ticks mean = (bench.chip.memory.l2_near + bench.chip.memory.l2_far) / 2;
    EXPECT_EQ(in_system, blocks * 256 * mean + launch.waited);
  }
}

TEST(ChaseLaw, WavesStartWhenCoresFree) {
  const Bench bench(shipped_chip());
  for (std::int64_t blocks : {56L, 57L, 112L, 113L}) {
    const Launch launch = bench.launch(cold(blocks));
    std::vector<int> used(56, 0);
    std::vector<Ticks> free_at(56, 0);
    for (std::size_t b = 0; b < launch.core.size(); ++b) {
      const auto core = static_cast<std::size_t>(launch.core[b]);
      const Ticks start = used[core]++ == 0 ? 0 : free_at[core] + bench.chip.wave_cost;
      EXPECT_EQ(launch.start[b], start) << "block " << b << " of " << blocks;
      free_at[core] = launch.end[b];
    }
    const auto most = static_cast<std::int64_t>(*std::max_element(used.begin(), used.end()));
    EXPECT_EQ(most, (blocks + 55) / 56);
  }
}

TEST(ChaseLaw, CubesShareTheirGroupsPortWithVectors) {
  // A mixed launch of a whole group: six Vector and three Cube cores queue at one port.
  const Bench bench = uniform_bench();
  std::vector<int> cores;
  for (std::size_t i = 0; i < bench.topology.cores().size(); ++i) {
    if (bench.topology.cores()[i].group == 0) cores.push_back(static_cast<int>(i));
  }
  ASSERT_EQ(cores.size(), 9U);
  const Launch launch = bench.launch(cold(9), cores);
  const Ticks service = bench.chip.group_port.service;
  EXPECT_EQ(launch.elapsed, (9 * 256 - 1) * service + bench.chip.memory.l2_near);
}

TEST(ChaseLaw, CubeLaunchesHaveWavesOf28) {
  const Bench bench(shipped_chip());
  for (std::int64_t blocks : {1L, 28L, 29L, 57L}) {
    ChaseWork work = cold(blocks);
    work.kind = "cube";
    const Launch launch = bench.launch(work);
    std::vector<int> used(84, 0);
    for (int core : launch.core) {
      EXPECT_TRUE(bench.topology.cores()[static_cast<std::size_t>(core)].cube);
      ++used[static_cast<std::size_t>(core)];
    }
    EXPECT_EQ(*std::max_element(used.begin(), used.end()), (blocks + 27) / 28);
  }
}

TEST(ChaseLaw, UnqueuedWavesAddUp) {
  // With a port that serves at once nobody waits, and waves are plain arithmetic.
  const Bench bench(parse_chip(
      with(chip_text(), "service = { value = 30.1", "service = { value = 0.001"), kChipFile));
  const Ticks one = 256 * (bench.chip.memory.l2_near + bench.chip.memory.l2_far) / 2;
  for (std::int64_t blocks : {1L, 56L, 57L, 112L, 113L}) {
    const std::int64_t waves = (blocks + 55) / 56;
    const Ticks expected = waves * one + (waves - 1) * bench.chip.wave_cost;
    EXPECT_NEAR(static_cast<double>(bench.launch(cold(blocks)).elapsed),
                static_cast<double>(expected), 1e6)
        << blocks;
  }
}

TEST(ChaseLaw, LaunchTimeNeverFallsMuchWithMoreBlocks) {
  // A closed queue with random near and far loads is monotone in the mean; one launch may fall by
  // the spread of its order.
  const Bench bench(shipped_chip());
  Ticks highest = 0;
  for (std::int64_t blocks = 1; blocks <= 168; ++blocks) {
    const Ticks elapsed = bench.launch(cold(blocks)).elapsed;
    EXPECT_GE(elapsed, highest - highest / 50) << blocks;
    highest = std::max(highest, elapsed);
  }
}

TEST(ChaseLaw, SecondLapHitsTheDataCache) {
  const Bench bench(shipped_chip());
  const CoreSite& site = bench.topology.vectors().front();
  const Ticks one = Chains(bench.chip, bench.map, cold(1, 256)).lone(site);
  const Ticks three = Chains(bench.chip, bench.map, cold(1, std::int64_t{3} * 256)).lone(site);
  EXPECT_EQ(three - one, std::int64_t{2} * 256 * bench.chip.data_cache.hit);
}

TEST(ChaseLaw, LevelsOverFootprint) {
  const Bench bench(shipped_chip());
  const CoreSite& site = bench.topology.vectors().front();
  const auto warm = [&](std::int64_t footprint) {
    ChaseWork work = cold(1, 1 << 16);
    work.footprint_bytes = footprint;
    work.warm = true;
    return Chains(bench.chip, bench.map, work).lone(site);
  };
  const Chip::Memory& m = bench.chip.memory;
  EXPECT_EQ(warm(32 * kKiB), (1 << 16) * bench.chip.data_cache.hit);
  EXPECT_EQ(warm(64 * kKiB), (1 << 16) * ((m.l2_near + m.l2_far) / 2));
  const Ticks mean = (m.hbm_near + m.hbm_far) / 2;
  const auto hbm = static_cast<double>((1 << 16) * mean);
  EXPECT_NEAR(static_cast<double>(warm(kGiB)), hbm, 0.005 * hbm);
  // At the capacity of the L2 some hashed sets overflow and some do not.
  EXPECT_GT(warm(128 * kMiB), warm(64 * kMiB));
  EXPECT_LT(warm(128 * kMiB), warm(256 * kMiB));
}

TEST(ChaseLaw, MoreFootprintIsNeverFaster) {
  const Bench bench(shipped_chip());
  const CoreSite& site = bench.topology.vectors().front();
  Ticks before = 0;
  for (std::int64_t footprint = kKiB; footprint <= kGiB; footprint *= 2) {
    ChaseWork work = cold(1, 1 << 16);
    work.footprint_bytes = footprint;
    work.warm = true;
    const Ticks now = Chains(bench.chip, bench.map, work).lone(site);
    EXPECT_GE(now, before - before / 200) << footprint;
    before = now;
  }
}

}  // namespace
}  // namespace sonde::sim
