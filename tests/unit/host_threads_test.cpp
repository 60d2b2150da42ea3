#include <gtest/gtest.h>

#include <atomic>
#include <stdexcept>

#include "core/error.h"
#include "core/units.h"
#include "device/common/unix_time.h"
#include "device/host/buffer.h"
#include "device/host/clock.h"
#include "device/host/pin.h"
#include "device/host/team.h"

namespace sonde::host {
namespace {

/// Far beyond this machine, and beyond the 1,024 CPUs of a fixed mask.
constexpr int kNoSuchCpu = 5000;

TEST(PinnedThread, RunsThereAndGivesBackWhatItHad) {
  const std::vector<int> before = thread_affinity();
  ASSERT_FALSE(before.empty());
  {
    const PinnedThread pin(before.back());
    EXPECT_EQ(current_cpu(), before.back());
    EXPECT_EQ(thread_affinity(), std::vector<int>{before.back()});
  }
  EXPECT_EQ(thread_affinity(), before);
}

TEST(PinnedThread, ACoreThatIsNotThereIsNamed) {
  const std::vector<int> before = thread_affinity();
  try {
    const PinnedThread pin(kNoSuchCpu);
    FAIL() << "pinned to a core that does not exist";
  } catch (const PointFailure& failure) {
    EXPECT_NE(std::string(failure.what()).find("cpu5000"), std::string::npos) << failure.what();
    EXPECT_NE(std::string(failure.what()).find("Invalid argument"), std::string::npos);
  }
  EXPECT_EQ(thread_affinity(), before);
}

TEST(OnEachCpu, EveryBodyRunsOnItsCpu) {
  const std::vector<int> cpus = thread_affinity();
  std::vector<std::optional<int>> seen(cpus.size());
  on_each_cpu(cpus, [&](std::size_t i) { seen[i] = current_cpu(); });
  for (std::size_t i = 0; i < cpus.size(); ++i) EXPECT_EQ(seen[i], cpus[i]);
}

TEST(OnEachCpu, NoBodyStartsWhenOneCannotBePinned) {
  std::atomic<int> started{0};
  EXPECT_THROW(
      on_each_cpu({thread_affinity().front(), kNoSuchCpu}, [&](std::size_t) { ++started; }),
      PointFailure);
  EXPECT_EQ(started, 0);
}

TEST(OnEachCpu, WhatABodyThrowsComesBack) {
  EXPECT_THROW(on_each_cpu(thread_affinity(), [](std::size_t) { throw std::domain_error("body"); }),
               std::domain_error);
}

TEST(Rendezvous, NobodyPassesBeforeAllHaveCome) {
  const std::vector<int> cpus = thread_affinity();
  Rendezvous meet(cpus.size());
  std::atomic<std::size_t> arrived{0};
  std::atomic<int> early{0};
  on_each_cpu(cpus, [&](std::size_t) {
    for (std::size_t round = 1; round <= 100; ++round) {
      ++arrived;
      meet.wait();
      if (arrived < round * cpus.size()) ++early;
      meet.wait();
    }
  });
  EXPECT_EQ(early, 0);
}

TEST(Buffer, SmallPagesAreSaidAndWritable) {
  const Buffer buffer(5000, std::nullopt);
  EXPECT_GE(buffer.size(), 5000);
  EXPECT_NE(buffer.page_kind().find("KiB pages"), std::string::npos) << buffer.page_kind();
  buffer.data()[4999] = std::byte{7};
}

TEST(Buffer, HugePagesAlignAndNameTheKindReallyGiven) {
  const Buffer buffer(3 * kMiB, 2 * kMiB);
  EXPECT_EQ(buffer.size(), 4 * kMiB);
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(buffer.data()) % (2 * kMiB), 0U);
  // Which kind depends on the machine's setting and its free memory.
  EXPECT_FALSE(buffer.page_kind().empty());
}

TEST(Buffer, LargeHugePagesAreNotTakenForSmallBuffers) {
  EXPECT_LT(Buffer(16 * kKiB, 512 * kMiB).size(), kMiB);
}

TEST(Buffer, MoreThanThereIsIsASkipThatNamesIt) {
  for (std::int64_t bytes : {std::int64_t{0}, std::int64_t{1} << 62}) {
    EXPECT_THROW(Buffer(bytes, std::nullopt), Skip);
  }
}

TEST(Clock, GoesForwardAndReadsAPlausibleCore) {
  const std::int64_t before = monotonic_ns();
  EXPECT_GE(monotonic_ns(), before);
  EXPECT_GT(unix_now().value(), 1.6e9);
  if (const auto clock = measure_core_clock()) {
    // Only what no load on the machine can change: no core runs at 10 GHz.
    EXPECT_GT(clock->value(), 0);
    EXPECT_LT(clock->value(), 10e9);
  }
}

}  // namespace
}  // namespace sonde::host
