// The simulated device through its contract: modelled time, determinism, resume, faults, refusals.
#include <gtest/gtest.h>

#include <cmath>

#include "core/error.h"
#include "core/units.h"
#include "device/registry.h"

namespace sonde {
namespace {

constexpr double kPinnedChase = 46555947 / 1e12;
constexpr double kPinnedCopy = 8381526 / 1e12;

ChaseWork chase_work(std::int64_t blocks) {
  ChaseWork work;
  work.kind = "vector";
  work.blocks = blocks;
  work.footprint_bytes = 16 * kKiB;
  work.loads = 256;
  work.warm = false;
  return work;
}

CopyWork copy_work(std::int64_t bytes, const std::string& method = "auto") {
  CopyWork work;
  work.bytes = bytes;
  work.method = method;
  return work;
}

double chase(Device& device, std::int64_t blocks, const Trial& trial) {
  device.chase()->prepare(chase_work(blocks));
  return device.chase()->run(trial).elapsed.value();
}

double copy(Device& device, std::int64_t bytes, const Trial& trial) {
  device.copy()->prepare(copy_work(bytes));
  return device.copy()->run(trial).elapsed.value();
}

TEST(SimDevice, SameTrialsGiveTheSameBits) {
  const auto a = open_device("sim:950pr_9579");
  const auto b = open_device("sim:950pr_9579");
  for (std::int64_t r = 0; r < 20; ++r) {
    EXPECT_EQ(chase(*a, 40, {1, 0, r}), chase(*b, 40, {1, 0, r}));
    EXPECT_EQ(copy(*a, 1 << 20, {1, 1, r}), copy(*b, 1 << 20, {1, 1, r}));
    EXPECT_EQ(a->now().value(), b->now().value());
  }
}

TEST(SimDevice, KnownBitsForASeed) {
  // Pinned: the same on every machine and compiler. Changes only with the model or chip file.
  const auto device = open_device("sim:950pr_9579");
  EXPECT_EQ(chase(*device, 56, {1, 0, 0}), kPinnedChase);
  EXPECT_EQ(copy(*device, 1 << 20, {1, 1, 0}), kPinnedCopy);
}

TEST(SimDevice, OtherRepetitionsGetOtherNoise) {
  const auto a = open_device("sim:950pr_9579");
  const auto b = open_device("sim:950pr_9579");
  EXPECT_NE(chase(*a, 1, {1, 0, 0}), chase(*b, 1, {1, 0, 1}));
  const auto quiet = open_device("sim:950pr_9579?noise=off");
  EXPECT_EQ(chase(*quiet, 1, {1, 0, 0}), chase(*quiet, 1, {1, 0, 1}));
  EXPECT_EQ(chase(*quiet, 1, {1, 0, 0}), 256 * 134e-9);
}

TEST(SimDevice, ResumeContinuesAsIfNeverKilled) {
  const auto whole = open_device("sim:950pr_9579");
  std::vector<double> expected;
  double middle = 0;
  for (std::int64_t r = 0; r < 10; ++r) {
    if (r == 5) middle = whole->now().value();
    expected.push_back(chase(*whole, 20, {9, 0, r}));
    expected.push_back(copy(*whole, 4096, {9, 1, r}));
  }
  const auto resumed = open_device("sim:950pr_9579");
  resumed->resume_at(Seconds(middle));
  EXPECT_EQ(resumed->now().value(), middle);
  for (std::int64_t r = 5; r < 10; ++r) {
    const auto i = static_cast<std::size_t>(2 * r);
    EXPECT_EQ(chase(*resumed, 20, {9, 0, r}), expected[i]);
    EXPECT_EQ(copy(*resumed, 4096, {9, 1, r}), expected[i + 1]);
  }
  EXPECT_EQ(resumed->now().value(), whole->now().value());
}

TEST(SimDevice, TimeIsModelledAndInWholeNanoseconds) {
  const auto device = open_device("sim:950pr_9579");
  EXPECT_EQ(device->now().value(), 0.0);
  double before = 0;
  for (std::int64_t r = 0; r < 50; ++r) {
    const double elapsed = chase(*device, 64, {1, 0, r});
    const double now = device->now().value();
    EXPECT_GE(now - before, elapsed + 0.99e-6);
    EXPECT_LE(now - before, elapsed + 1.01e-6);
    const auto ns = std::llround(now * 1e9);
    EXPECT_EQ(static_cast<double>(ns) / 1e9, now);
    before = now;
  }
}

TEST(SimDevice, PlacementIsReportedForEachBlock) {
  const auto device = open_device("sim:950pr_9579");
  device->chase()->prepare(chase_work(3));
  EXPECT_EQ(device->chase()->run({}).placement,
            (std::vector<CoreName>{{"vector", 0}, {"vector", 2}, {"vector", 12}}));
  ChaseWork named = chase_work(2);
  named.cores = {{"vector", 55}, {"vector", 7}};
  named.kind.clear();
  device->chase()->prepare(named);
  EXPECT_EQ(device->chase()->run({}).placement, named.cores);
  named.cores = {{"cube", 27}, {"vector", 0}};
  device->chase()->prepare(named);
  EXPECT_EQ(device->chase()->run({}).placement, named.cores);
  ChaseWork cubes = chase_work(2);
  cubes.kind = "cube";
  device->chase()->prepare(cubes);
  EXPECT_EQ(device->chase()->run({}).placement, (std::vector<CoreName>{{"cube", 0}, {"cube", 1}}));
  device->chase()->prepare(chase_work(113));
  EXPECT_EQ(device->chase()->run({}).placement.size(), 113U);
}

TEST(SimDevice, VerifyAcceptsGoodRunsAndNothingElse) {
  const auto device = open_device("sim:950pr_9579");
  EXPECT_FALSE(device->chase()->verify().ok);
  EXPECT_FALSE(device->copy()->verify().ok);
  chase(*device, 64, {});
  copy(*device, 1000, {});
  EXPECT_TRUE(device->chase()->verify().ok);
  EXPECT_TRUE(device->copy()->verify().ok);
  device->chase()->prepare(chase_work(2));  // prepared again, not run
  EXPECT_FALSE(device->chase()->verify().ok);
}

TEST(SimDevice, CorruptResultsAreCaught) {
  const auto device = open_device("sim:950pr_9579?fault=corrupt");
  EXPECT_EQ(device->description().name, "sim:950pr_9579?fault=corrupt");
  ChaseWork one_line = chase_work(1);
  one_line.footprint_bytes = 64;
  device->chase()->prepare(one_line);
  device->chase()->run({});
  EXPECT_FALSE(device->chase()->verify().ok);
  for (std::int64_t blocks : {1L, 2L, 64L}) {
    chase(*device, blocks, {});
    const Check check = device->chase()->verify();
    EXPECT_FALSE(check.ok);
    EXPECT_NE(check.problem.find("block 0 ended on line"), std::string::npos) << check.problem;
  }
  for (std::int64_t bytes : {1L, 4096L, 1L << 20}) {
    copy(*device, bytes, {});
    const Check check = device->copy()->verify();
    EXPECT_FALSE(check.ok);
    EXPECT_NE(check.problem.find(", expected 0x"), std::string::npos) << check.problem;
  }
}

TEST(SimDevice, FaultsBeginAtAModelledTimeAlsoAfterAResume) {
  const auto lost = open_device("sim:950pr_9579?fault=lost");
  chase(*lost, 1, {});
  EXPECT_TRUE(lost->chase()->verify().ok);
  lost->resume_at(Seconds(199e-6));
  chase(*lost, 1, {});
  lost->resume_at(Seconds(200e-6));
  EXPECT_THROW(chase(*lost, 1, {}), PointFailure);
  EXPECT_EQ(lost->now().value(), 200e-6);

  const auto memory = open_device("sim:950pr_9579?fault=memory");
  int without = 0;
  for (int repetition = 0; repetition < 800; ++repetition) {
    try {
      copy(*memory, 64, {1, 0, repetition});
    } catch (const std::bad_alloc&) {
      ++without;
    }
  }
  EXPECT_NEAR(without, 100, 40);
}

TEST(SimDevice, AClockThatIsSetTellsTheModelledTimeAllTheSame) {
  const auto device = open_device("sim:950pr_9579?fault=clock");
  const auto steady = open_device("sim:950pr_9579");
  double before = 0;
  int forward = 0, back = 0;
  for (int repetition = 0; repetition < 400; ++repetition) {
    const Trial trial{1, 0, repetition};
    EXPECT_EQ(copy(*device, 64, trial), copy(*steady, 64, trial));
    const double now = device->now().value();
    forward += now - before > 1000;
    back += now < before;
    before = now;
    device->resume_at(device->now());
    EXPECT_EQ(device->now().value(), now);
  }
  EXPECT_EQ(forward, 1);
  EXPECT_EQ(back, 1);
}

template <class Work>
std::string skip_reason(Engine<Work>& engine, const Work& work) {
  try {
    engine.prepare(work);
  } catch (const Skip& skip) {
    return skip.what();
  }
  return "no skip";
}

TEST(SimDevice, WorkItCannotDoIsSkippedWithTheReason) {
  const auto device = open_device("sim:950pr_9579");
  ChaseWork other = chase_work(1);
  other.kind = "sm";
  EXPECT_EQ(skip_reason(*device->chase(), other),
            "no chase on cores of kind sm: cores are vector0 to vector55 and cube0 to cube27");
  ChaseWork absent = chase_work(1);
  absent.cores = {{"vector", 56}};
  EXPECT_EQ(skip_reason(*device->chase(), absent),
            "no core vector56: cores are vector0 to vector55 and cube0 to cube27");
  ChaseWork big = chase_work(64);
  big.footprint_bytes = 4 * kGiB;
  EXPECT_NE(skip_reason(*device->chase(), big).find("do not fit into the memory"),
            std::string::npos);
  ChaseWork tiny = chase_work(1);
  tiny.footprint_bytes = 63;
  EXPECT_NE(skip_reason(*device->chase(), tiny).find("less than one line"), std::string::npos);
  ChaseWork none = chase_work(0);
  EXPECT_NE(skip_reason(*device->chase(), none).find("0 blocks"), std::string::npos);

  EXPECT_NE(skip_reason(*device->copy(), copy_work(64 * kGiB + 1)).find("68,719,476,736"),
            std::string::npos);
  EXPECT_EQ(skip_reason(*device->copy(), copy_work(64 * kGiB)), "no skip");
  EXPECT_NE(skip_reason(*device->copy(), copy_work(0)).find("a copy of 0 B"), std::string::npos);
  EXPECT_EQ(skip_reason(*device->copy(), copy_work(1, "dma")),
            "no copy method dma: methods are auto, sdma and tensor_move");
  CopyWork up = copy_work(1);
  up.direction = "h2d";
  EXPECT_EQ(skip_reason(*device->copy(), up), "no copies in direction h2d: directions are d2d");
}

TEST(SimDevice, IsListed) {
  bool found = false;
  for (const Listing& listing : list_devices()) {
    if (listing.name != "sim:950pr_9579") continue;
    found = true;
    EXPECT_TRUE(listing.usable);
    EXPECT_EQ(listing.product, "Ascend950PR_9579 (simulated)");
  }
  EXPECT_TRUE(found);
}

}  // namespace
}  // namespace sonde
