// The schedule of windows on a modelled clock: no real time here.
#include "device/host/windows.h"

#include <gtest/gtest.h>

#include "core/error.h"
#include "device/host/pin.h"

namespace sonde::host {
namespace {

TEST(TimeOfOne, CancelsWhatDoesNotGrowWithTheNumber) {
  std::int64_t units = 0;
  const double each = time_of_one_ns([&units](std::int64_t count) {
    units += count;
    return 1'500 + 70 * count;
  });
  EXPECT_DOUBLE_EQ(each, 70);
  EXPECT_GE(units, 20'000 / 70);
}

TEST(TimeOfOne, AFewLostTimeSlicesDoNotMoveIt) {
  int calls = 0;
  const double each = time_of_one_ns(
      [&calls](std::int64_t count) { return (++calls % 7 == 0 ? 4'000'000 : 0) + 100 * count; });
  EXPECT_DOUBLE_EQ(each, 100);
}

TEST(TimeOfOne, LongWorkIsDoneSeldom) {
  for (const auto& [unit_ns, most] : {std::pair{3'000'000LL, 2}, {80'000'000LL, 1}}) {
    int calls = 0;
    const double each = time_of_one_ns([&, unit = unit_ns](std::int64_t count) {
      ++calls;
      return unit * count;
    });
    EXPECT_DOUBLE_EQ(each, static_cast<double>(unit_ns));
    EXPECT_EQ(calls, most);
  }
}

TEST(TimeOfOne, NoTimeAtAllIsAFailureThatNamesTheWork) {
  const double each = time_of_one_ns([](std::int64_t) { return 0; });
  EXPECT_LE(each, 0);
  try {
    require_time(each, "the copies");
    FAIL() << "not refused";
  } catch (const PointFailure& failure) {
    EXPECT_NE(std::string(failure.what()).find("the copies"), std::string::npos);
  }
  require_time(1e-3, "the copies");
}

TEST(Agree, RefusesTwoTimesOfWhichOneWasDisturbed) {
  EXPECT_TRUE(agree(100, 200));
  EXPECT_TRUE(agree(110, 200));   // a fixed part of 10 %
  EXPECT_FALSE(agree(180, 200));  // n lost a time slice
  EXPECT_FALSE(agree(100, 320));  // 2n did
  EXPECT_FALSE(agree(200, 100));
}

TEST(WaitWatch, CountsTheTimeThatTwoThreadsOfOneCoreWaitForEachOther) {
  const double before = waited_for_cores().value();
  TeamWindow window(2);
  const std::vector<int> cpus(2, thread_affinity().front());
  on_each_cpu(cpus, [&](std::size_t member) {
    window.time_ns(member, [] {
      const std::int64_t end = monotonic_ns() + 30'000'000;
      while (monotonic_ns() < end) {
      }
    });
  });
  const double waited = waited_for_cores().value() - before;
  if (waited == 0) GTEST_SKIP() << "this kernel keeps no run delay";
  EXPECT_GT(waited, 1e-3);
  EXPECT_LT(waited, 60);
}

TEST(TeamWindow, IsFromTheFirstStartToTheLastFinishForEveryMember) {
  TeamWindow window(2);
  std::int64_t seen[2] = {0, 0};
  std::int64_t own[2] = {0, 0};
  const std::vector<int> cpus(2, thread_affinity().front());  // one core will do: they take turns
  on_each_cpu(cpus, [&](std::size_t member) {
    seen[member] = window.time_ns(member, [&] {
      const std::int64_t begin = monotonic_ns();
      const std::int64_t end = begin + (member == 0 ? 1'000'000 : 5'000'000);
      while (monotonic_ns() < end) {
      }
      own[member] = monotonic_ns() - begin;
    });
  });
  EXPECT_EQ(seen[0], seen[1]);
  EXPECT_GE(seen[0], own[1]);
  EXPECT_GE(seen[0], 5'000'000);
}

}  // namespace
}  // namespace sonde::host
