// Modelled copies against closed formulas.
#include <gtest/gtest.h>

#include "device/registry.h"
#include "device/sim/copy_engines.h"
#include "tests/model/chip_text.h"

namespace sonde::sim {
namespace {

constexpr std::int64_t kCores = 56;

double seconds(Ticks ticks) { return static_cast<double>(ticks) / 1e12; }

TEST(CopyLaw, SdmaIsFixedPlusBytesOverRate) {
  const Chip chip = shipped_chip();
  for (std::int64_t bytes : {2L, 4096L, 400000L, 1L << 30}) {
    EXPECT_NEAR(seconds(sdma_copy(chip, bytes)), 2e-6 + static_cast<double>(bytes) / 500e9, 2e-12);
  }
}

TEST(CopyLaw, TensorMoveIsFixedPlusBytesOverRateWhenBandwidthBound) {
  const Chip chip = shipped_chip();
  const double rate = 0.5 * 0.93 * 1.6384e12;
  // Whole rounds of whole tiles: the HBM never idles.
  for (std::int64_t rounds : {4L, 40L, 400L}) {
    const std::int64_t bytes = rounds * kCores * 126976;
    const double expected = 7e-6 + static_cast<double>(bytes) / rate;
    EXPECT_NEAR(seconds(tensor_move_copy(chip, kCores, bytes)), expected,
                1e-10 * static_cast<double>(rounds));
  }
  const std::int64_t big = 64 * kGiB;
  EXPECT_NEAR(
      seconds(tensor_move_copy(chip, kCores, big)) / (7e-6 + static_cast<double>(big) / rate), 1.0,
      1e-4);
}

TEST(CopyLaw, NeverAboveTheRoof) {
  const Chip chip = shipped_chip();
  const double roof = 1.6384e12 / 2;  // read and write share it
  for (std::int64_t bytes = 64; bytes <= 64 * kGiB; bytes += bytes / 3) {
    EXPECT_LE(static_cast<double>(bytes) / seconds(tensor_move_copy(chip, kCores, bytes)), roof);
    EXPECT_LE(static_cast<double>(bytes) / seconds(sdma_copy(chip, bytes)), roof);
  }
}

TEST(CopyLaw, TimeIsMonotoneForEachMethod) {
  const Chip chip = shipped_chip();
  Ticks sdma = 0;
  Ticks kernel = 0;
  for (std::int64_t bytes = 1; bytes <= 64 * kGiB; bytes += 1 + bytes / 7) {
    EXPECT_GE(sdma_copy(chip, bytes), sdma) << bytes;
    // The tile rule may round a little more or less evenly over the cores.
    EXPECT_GE(tensor_move_copy(chip, kCores, bytes), kernel - kernel / 20) << bytes;
    sdma = sdma_copy(chip, bytes);
    kernel = tensor_move_copy(chip, kCores, bytes);
  }
}

TEST(CopyLaw, TilesFollowThePublishedRule) {
  const Chip chip = shipped_chip();
  const TensorMovePlan above = plan_tensor_move(chip, kCores, 400001);
  EXPECT_EQ(above.tile_bytes, 7168);  // 7143 a core, in multiples of 32
  EXPECT_EQ(above.cores, kCores);
  EXPECT_EQ(above.rounds, 1);
  const TensorMovePlan small = plan_tensor_move(chip, kCores, 10000);
  EXPECT_EQ(small.tile_bytes, 2048);
  EXPECT_EQ(small.cores, 5);
  const TensorMovePlan large = plan_tensor_move(chip, kCores, kGiB);
  // 152 rounds at least, and then equal tiles: 2^30 / (56 x 152) = 126,144.7, in multiples of 32.
  EXPECT_EQ(large.rounds, 152);
  EXPECT_EQ(large.tile_bytes, 126176);
  for (std::int64_t bytes : {1L, 10000L, 400001L, 7110656L, 7110657L, 1L << 30}) {
    const TensorMovePlan plan = plan_tensor_move(chip, kCores, bytes);
    EXPECT_GE(plan.tiles * plan.tile_bytes, bytes);
    EXPECT_LT((plan.tiles - 1) * plan.tile_bytes, bytes);
    EXPECT_GE(plan.rounds * plan.cores, plan.tiles);
  }
}

TEST(CopyLaw, MoreRoundsAreNoSwitch) {
  // Where the largest tiles of one round are used up (56 x 126,976 B) a second round begins: with
  // equal tiles time goes on within 2 %, so the only method switch of `auto` is the published one.
  const Chip chip = shipped_chip();
  for (std::int64_t rounds : {1L, 2L, 3L, 10L}) {
    const std::int64_t edge = rounds * kCores * 126976;
    EXPECT_NEAR(seconds(tensor_move_copy(chip, kCores, edge + 64)) /
                    seconds(tensor_move_copy(chip, kCores, edge)),
                1.0, 0.02);
  }
}

class CopyDevice : public testing::Test {
 protected:
  Sample copy(const std::string& method, std::int64_t bytes) {
    CopyWork work;
    work.method = method;
    work.bytes = bytes;
    device_->copy()->prepare(work);
    return device_->copy()->run({1, 0, 0});
  }
  std::unique_ptr<Device> device_ = open_device("sim:950pr_9579?noise=off");
};

TEST_F(CopyDevice, SwitchesBetween400000And400001) {
  EXPECT_EQ(copy("auto", 400000).elapsed, copy("sdma", 400000).elapsed);
  EXPECT_EQ(copy("auto", 400001).elapsed, copy("tensor_move", 400001).elapsed);
  EXPECT_EQ(copy("auto", 400000).note, "SDMA, HBM to HBM");
  EXPECT_EQ(copy("auto", 400001).note, "TensorMove, 56 cores, tile 7168 B");
  EXPECT_GT(copy("auto", 400001).elapsed.value(), 2 * copy("auto", 400000).elapsed.value());
}

TEST_F(CopyDevice, LargeCopiesNearHalfTheMemoryRate) {
  const std::int64_t bytes = 4 * kGiB;
  const double rate = static_cast<double>(bytes) / copy("auto", bytes).elapsed.value();
  EXPECT_NEAR(2 * rate / *device_->description().roof("memory_bytes_per_s"), 0.93, 0.005);
}

}  // namespace
}  // namespace sonde::sim
