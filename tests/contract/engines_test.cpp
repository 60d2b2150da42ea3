// What must hold for every backend, whatever its numbers are.
#include "core/units.h"
#include "tests/contract/every_backend.h"

namespace sonde {
namespace {

TEST_P(EveryBackend, DescribesItself) {
  EXPECT_EQ(description().name, GetParam());
  EXPECT_FALSE(description().product.empty());
  EXPECT_FALSE(description().cores.empty());
  EXPECT_GT(description().chase_line_bytes, 0);
  EXPECT_GE(description().chase_footprint_bytes, 2 * description().chase_line_bytes);
  ASSERT_TRUE(description().memory_bytes);
  EXPECT_GT(*description().memory_bytes, 0);
  ASSERT_FALSE(description().copies.empty());
  for (const CopyPath& path : description().copies) EXPECT_EQ(path.methods.front(), "auto");
  for (const Roof& roof : description().roofs) {
    EXPECT_GT(roof.value, 0);
    EXPECT_FALSE(roof.source.empty());
  }
}

TEST_P(EveryBackend, TimeNeverRunsBackwards) {
  double last = device_->now().value();
  for (int i = 0; i < 5; ++i) {
    sample(device_->chase(), chase_work(4096), i);
    const double now = device_->now().value();
    EXPECT_GE(now, last);
    last = now;
  }
}

TEST_P(EveryBackend, ChaseRunsWhereItWasAsked) {
  for (const CoreName& core : description().cores) {
    ChaseWork work = chase_work(16 * kKiB);
    work.cores = {core};
    const Sample taken = sample(device_->chase(), work);
    EXPECT_EQ(taken.placement, std::vector<CoreName>{core});
    EXPECT_GT(taken.elapsed.value(), 0);
  }
}

TEST_P(EveryBackend, ChaseOnAllCoresAtOnce) {
  ChaseWork work = chase_work(16 * kKiB);
  work.cores = description().cores;
  work.blocks = static_cast<std::int64_t>(work.cores.size());
  const Sample taken = sample(device_->chase(), work);
  EXPECT_EQ(taken.placement, work.cores);
}

TEST_P(EveryBackend, ChaseTakesAnyFootprintOfTwoLinesOrMore) {
  const std::int64_t line = description().chase_line_bytes;
  for (std::int64_t bytes : {2 * line, 3 * line, 3 * line + 1, 100 * line}) {
    EXPECT_GT(sample(device_->chase(), chase_work(bytes)).elapsed.value(), 0) << bytes;
  }
}

TEST_P(EveryBackend, ImpossibleWorkIsSkippedWithAReason) {
  ChaseWork tiny = chase_work(1);
  EXPECT_NE(skip_reason(device_->chase(), tiny), "");
  ChaseWork huge = chase_work(*description().memory_bytes * 2);
  EXPECT_NE(skip_reason(device_->chase(), huge), "");
  ChaseWork elsewhere = chase_work(4096);
  elsewhere.cores = {{"nocore", 0}};
  EXPECT_NE(skip_reason(device_->chase(), elsewhere), "");
  CopyWork copy;
  copy.bytes = *description().memory_bytes * 2;
  EXPECT_NE(skip_reason(device_->copy(), copy), "");
  copy.bytes = 64;
  copy.method = "teleport";
  EXPECT_NE(skip_reason(device_->copy(), copy), "");
  copy.method = "auto";
  copy.direction = "sideways";
  EXPECT_NE(skip_reason(device_->copy(), copy), "");
}

TEST_P(EveryBackend, CopiesOfAnySizeAreVerified) {
  for (const CopyPath& path : description().copies) {
    for (const std::string& method : path.methods) {
      for (std::int64_t bytes : {std::int64_t{1}, std::int64_t{7}, std::int64_t{64},
                                 std::int64_t{4097}, std::int64_t{400'000}, 3 * kMiB + 1}) {
        CopyWork work;
        work.direction = path.direction;
        work.method = method;
        work.bytes = bytes;
        EXPECT_GT(sample(device_->copy(), work).elapsed.value(), 0) << method << " " << bytes;
        work.warm = false;
        EXPECT_GT(sample(device_->copy(), work).elapsed.value(), 0)
            << method << " rotated " << bytes;
      }
    }
  }
}

TEST_P(EveryBackend, MoreWorkTakesLonger) {
  // Sanity only, with a wide margin: a loop the compiler removed would not grow at all.
  ChaseWork few = chase_work(16 * kKiB);
  few.loads = 20'000;
  ChaseWork many = few;
  many.loads = 400'000;
  const double short_time = sample(device_->chase(), few).elapsed.value();
  const double long_time = sample(device_->chase(), many).elapsed.value();
  EXPECT_GT(long_time, 5 * short_time);
}

TEST_P(EveryBackend, TelemetryIsKnownOrAbsentNeverZero) {
  const Telemetry telemetry = device_->telemetry();
  if (telemetry.clock) {
    EXPECT_GT(telemetry.clock->value(), 1e6);
  }
  if (telemetry.power) {
    EXPECT_GT(telemetry.power->value(), 0);
  }
  if (telemetry.temperature) {
    EXPECT_GT(telemetry.temperature->value(), 0);
  }
}

INSTANTIATE_TEST_SUITE_P(Devices, EveryBackend, ::testing::Values("host", "sim:950pr_9579"),
                         backend_name);

/// A device that corrupts what it computes: every verify() must notice.
TEST(CorruptingDevice, IsCaughtByEveryVerify) {
  const auto device = open_device("sim:950pr_9579?fault=corrupt");
  ChaseWork chase;
  chase.cores = {device->description().cores.front()};
  chase.footprint_bytes = 16 * kKiB;
  chase.loads = 256;
  device->chase()->prepare(chase);
  device->chase()->run({});
  const Check walked = device->chase()->verify();
  EXPECT_FALSE(walked.ok);
  EXPECT_FALSE(walked.problem.empty());
  CopyWork copy;
  for (std::int64_t bytes : {std::int64_t{1}, std::int64_t{400'000}, std::int64_t{400'001}}) {
    copy.bytes = bytes;
    device->copy()->prepare(copy);
    device->copy()->run({});
    const Check copied = device->copy()->verify();
    EXPECT_FALSE(copied.ok) << bytes;
    EXPECT_FALSE(copied.problem.empty());
  }
}

}  // namespace
}  // namespace sonde
