// The published rows, each inside its tolerance, seen as a user sees them: through the device.
#include <gtest/gtest.h>

#include <algorithm>

#include "core/error.h"
#include "device/registry.h"

namespace sonde {
namespace {

/// Launch elapsed over loads a block, in ns: 256 cold loads of the 16 KiB payload.
double latency_ns(Device& device, std::int64_t blocks, std::uint64_t seed,
                  std::int64_t repetition) {
  ChaseWork work;
  work.kind = "vector";
  work.blocks = blocks;
  work.footprint_bytes = device.description().chase_footprint_bytes;
  work.loads = work.footprint_bytes / device.description().chase_line_bytes;
  work.warm = false;
  work.seed = seed;
  device.chase()->prepare(work);
  const Sample sample = device.chase()->run({seed, blocks, repetition});
  EXPECT_TRUE(device.chase()->verify().ok);
  return sample.elapsed.value() * 1e9 / static_cast<double>(work.loads);
}

TEST(Published, ChaseRowsAtEverySeedWithoutNoise) {
  const auto device = open_device("sim:950pr_9579?noise=off");
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    for (std::int64_t blocks = 1; blocks <= 18; ++blocks) {
      EXPECT_NEAR(latency_ns(*device, blocks, seed, 0), 134, 0.03 * 134) << blocks;
    }
    EXPECT_NEAR(latency_ns(*device, 56, seed, 0), 182, 0.05 * 182);
    EXPECT_NEAR(latency_ns(*device, 64, seed, 0), 391, 0.10 * 391);
  }
}

TEST(Published, ChaseRowsAsMediansWithNoise) {
  const auto device = open_device("sim:950pr_9579");
  const auto median = [&](std::int64_t blocks) {
    std::vector<double> samples;
    for (std::int64_t r = 0; r < 31; ++r) samples.push_back(latency_ns(*device, blocks, 1, r));
    std::nth_element(samples.begin(), samples.begin() + 15, samples.end());
    return samples[15];
  };
  EXPECT_NEAR(median(1), 134, 0.03 * 134);
  EXPECT_NEAR(median(18), 134, 0.03 * 134);
  EXPECT_NEAR(median(56), 182, 0.05 * 182);
  EXPECT_NEAR(median(64), 391, 0.10 * 391);
}

TEST(Published, WaveStepsExactlyBeyond56Blocks) {
  const auto device = open_device("sim:950pr_9579?noise=off");
  std::vector<double> ns;
  for (std::int64_t blocks = 1; blocks <= 64; ++blocks)
    ns.push_back(latency_ns(*device, blocks, 1, 0));
  std::size_t step = 1;
  for (std::size_t i = 1; i < ns.size(); ++i) {
    if (ns[i] - ns[i - 1] > ns[step] - ns[step - 1]) step = i;
  }
  EXPECT_EQ(step, 56U);  // ns[56] is 57 blocks
  EXPECT_GT(ns[56], 1.5 * ns[55]);
}

TEST(Published, DeviceSaysWhatTheChipIs) {
  const auto device = open_device("sim:950pr_9579");
  const DeviceDescription& d = device->description();
  EXPECT_EQ(d.name, "sim:950pr_9579");
  EXPECT_EQ(d.product, "Ascend950PR_9579 (simulated)");
  EXPECT_EQ(d.time_source, TimeSource::modelled);
  EXPECT_TRUE(d.places_blocks);
  EXPECT_TRUE(d.cold_launches);
  ASSERT_EQ(d.cores.size(), 84U);
  EXPECT_EQ(d.cores.front().str(), "vector0");
  EXPECT_EQ(d.cores[55].str(), "vector55");
  EXPECT_EQ(d.cores[56].str(), "cube0");
  EXPECT_EQ(d.cores.back().str(), "cube27");
  EXPECT_EQ(d.kinds(), (std::vector<std::string>{"vector", "cube"}));
  EXPECT_EQ(d.profile_bytes, 128 * kMiB);
  EXPECT_TRUE(d.handoff_kinds.empty());
  EXPECT_EQ(device->handoff(), nullptr);
  ASSERT_EQ(d.memory.size(), 3U);
  EXPECT_EQ(d.memory[0].capacity_bytes, 32 * kKiB);
  EXPECT_EQ(d.memory[1].capacity_bytes, 128 * kMiB);
  EXPECT_EQ(d.memory_bytes, 128 * kGiB);
  EXPECT_DOUBLE_EQ(*d.roof("memory_bytes_per_s"), 1.6384e12);
  EXPECT_NEAR(*d.roof("bf16_flop_per_s"), 378.5e12, 0.001 * 378.5e12);
  const Telemetry telemetry = device->telemetry();
  EXPECT_DOUBLE_EQ(telemetry.clock->value(), 1650e6);
  EXPECT_DOUBLE_EQ(telemetry.power->value(), 203.3);
  EXPECT_DOUBLE_EQ(telemetry.temperature->value(), 56);
}

}  // namespace
}  // namespace sonde
