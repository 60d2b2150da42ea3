#include <gtest/gtest.h>

#include <cstring>
#include <set>

#include "core/error.h"
#include "core/units.h"
#include "device/host/chase.h"
#include "device/host/clock.h"
#include "device/host/describe.h"
#include "device/host/pin.h"
#include "device/registry.h"

namespace sonde::host {
namespace {

constexpr std::int64_t kLine = 64;

std::string skip_reason(ChaseEngine& engine, const ChaseWork& work) {
  try {
    engine.prepare(work);
  } catch (const Skip& skip) {
    return skip.what();
  }
  return "not skipped";
}

class HostChase : public testing::Test {
 protected:
  HostChase()
      : machine_(read_machine(FileRoot("/"), thread_affinity())),
        description_(describe_machine(machine_)),
        engine_(machine_, description_) {}
  static ChaseWork work(std::int64_t footprint) {
    ChaseWork w;
    w.footprint_bytes = footprint;
    w.loads = 5000;
    w.seed = 7;
    return w;
  }
  void expect_measures(const ChaseWork& w) {
    engine_.prepare(w);
    const Sample sample = engine_.run({});
    EXPECT_GT(sample.elapsed.value(), 0);
    EXPECT_EQ(sample.placement.size(), static_cast<std::size_t>(w.blocks));
    EXPECT_NE(sample.note.find("random order"), std::string::npos) << sample.note;
    const Check check = engine_.verify();
    EXPECT_TRUE(check.ok) << check.problem;
  }

  Machine machine_;
  DeviceDescription description_;
  ChaseEngine engine_;
};

TEST(HostChaseTime, IsNoMoreThanTheWholeRunTook) {
  const auto device = open_device("host");
  ChaseWork work;
  work.cores = {device->description().cores.front()};
  work.footprint_bytes = 64 * kKiB;
  work.loads = 100'000;
  device->chase()->prepare(work);
  const std::int64_t begin = monotonic_ns();
  const double elapsed = device->chase()->run({}).elapsed.value();
  const double whole = static_cast<double>(monotonic_ns() - begin) * 1e-9;
  // The run times these loads several times over, N and 2N: at least four times in all.
  EXPECT_LE(4 * elapsed, whole);
  EXPECT_GT(elapsed, 100'000 * 0.1e-9);  // no cache answers a dependent load in a tenth of a ns
}

TEST(Chain, VisitsEveryLineOnceAtVaryingWords) {
  const Chain chain(100 * kLine, kLine, 3, std::nullopt);
  ASSERT_EQ(chain.lines(), 100);
  std::set<std::uintptr_t> lines;
  std::set<std::uintptr_t> words;
  for (std::int64_t position = 0; position < 100; ++position) {
    const auto address = reinterpret_cast<std::uintptr_t>(chain.node(position));
    lines.insert(address / kLine);
    words.insert(address % kLine);
  }
  EXPECT_EQ(lines.size(), 100U);
  EXPECT_EQ(*lines.rbegin() - *lines.begin(), 99U);
  EXPECT_GT(words.size(), 4U);
  EXPECT_EQ(chain.node(100), chain.node(0));
  EXPECT_EQ(follow(chain.node(0), 100), chain.node(0));
  for (std::int64_t loads : {0, 1, 15, 16, 17, 99, 1234}) {
    EXPECT_EQ(follow(chain.node(5), loads), chain.node(5 + loads)) << loads;
  }
  EXPECT_FALSE(chain.first_broken());
}

TEST(Chain, ABrokenPointerIsFoundAndEndsTheWalkElsewhere) {
  const Chain chain(64 * kLine, kLine, 3, std::nullopt);
  const std::byte* shortcut = chain.node(12);
  std::memcpy(chain.node(10), &shortcut, sizeof shortcut);
  EXPECT_EQ(chain.first_broken(), 10);
  EXPECT_NE(follow(chain.node(0), 40), chain.node(40));
}

TEST(Chain, SeedDecidesTheOrder) {
  auto steps = [](std::uint64_t seed) {
    const Chain chain(64 * kLine, kLine, seed, std::nullopt);
    std::vector<std::ptrdiff_t> result;
    for (std::int64_t i = 1; i < 10; ++i) result.push_back(chain.node(i) - chain.node(0));
    return result;
  };
  EXPECT_EQ(steps(1), steps(1));
  EXPECT_NE(steps(1), steps(2));
}

TEST(ChainStore, LeastRecentlyUsedGoesFirst) {
  ChainStore store;
  auto make = [] { return std::make_shared<const Chain>(64 * kLine, kLine, 1, std::nullopt); };
  const std::int64_t each = make()->held_bytes();
  store.add({4096, 1, 0}, make());
  store.add({4096, 2, 0}, make());
  store.add({4096, 2, std::nullopt}, make());
  EXPECT_NE(store.find({4096, 1, 0}), nullptr);
  store.shrink_to(2 * each);
  EXPECT_NE(store.find({4096, 1, 0}), nullptr);
  EXPECT_EQ(store.find({4096, 2, 0}), nullptr);
  EXPECT_NE(store.find({4096, 2, std::nullopt}), nullptr);
  EXPECT_EQ(store.held_bytes(), 2 * each);
  store.shrink_to(0);
  EXPECT_EQ(store.held_bytes(), 0);
}

TEST_F(HostChase, MeasuresFromTwoLinesToBeyondWhatIsBuiltAnew) {
  for (std::int64_t footprint : {2 * kLine, 3 * kLine + 5, 16 * kKiB, kMiB, 5 * kMiB}) {
    SCOPED_TRACE(footprint);
    expect_measures(work(footprint));
  }
  expect_measures(work(5 * kMiB));  // kept from before
}

TEST_F(HostChase, RunsAgainWithoutANewPrepare) {
  engine_.prepare(work(16 * kKiB));
  for (int i = 0; i < 3; ++i) {
    EXPECT_GT(engine_.run({}).elapsed.value(), 0);
    EXPECT_TRUE(engine_.verify().ok);
  }
}

TEST_F(HostChase, RunsOnTheCoreThatIsNamed) {
  for (const CoreName& core : description_.cores) {
    ChaseWork w = work(16 * kKiB);
    w.cores = {core};
    engine_.prepare(w);
    EXPECT_EQ(engine_.run({}).placement, std::vector<CoreName>{core});
    EXPECT_TRUE(engine_.verify().ok);
  }
}

TEST_F(HostChase, OneBlockOnEachCore) {
  ChaseWork w = work(16 * kKiB);
  w.blocks = static_cast<std::int64_t>(description_.cores.size());
  engine_.prepare(w);
  EXPECT_EQ(engine_.run({}).placement, description_.cores);
  EXPECT_TRUE(engine_.verify().ok);
}

TEST_F(HostChase, ColdStartsMeasureToo) {
  ChaseWork w = work(16 * kKiB);
  w.warm = false;
  w.loads = 256;
  expect_measures(w);
}

TEST_F(HostChase, WhatCannotBeDoneIsSkippedWithTheReason) {
  EXPECT_NE(skip_reason(engine_, work(kLine)).find("at least 2 lines of"), std::string::npos);
  EXPECT_NE(skip_reason(engine_, work(0)).find("at least 2 lines of"), std::string::npos);
  ChaseWork w = work(16 * kKiB);
  w.loads = 0;
  EXPECT_NE(skip_reason(engine_, w).find("at least 1"), std::string::npos);
  w = work(16 * kKiB);
  w.blocks = static_cast<std::int64_t>(description_.cores.size()) + 1;
  EXPECT_NE(skip_reason(engine_, w).find("cpu"), std::string::npos);
  w = work(16 * kKiB);
  w.cores = {{"cpu", 5000}};
  EXPECT_NE(skip_reason(engine_, w).find("cpu5000 is not among"), std::string::npos);
  w.cores = {description_.cores[0], description_.cores[0]};
  EXPECT_NE(skip_reason(engine_, w).find("twice"), std::string::npos);
  w = work(16 * kKiB);
  w.kind = "vector";
  EXPECT_NE(skip_reason(engine_, w).find("vector"), std::string::npos);
  EXPECT_THROW(engine_.run({}), PointFailure) << "nothing is prepared after a skip";
}

TEST_F(HostChase, BeyondTheMemoryOfAMeasurementIsSkippedNamingTheLimit) {
  description_.memory_bytes = 10 * kMiB;
  EXPECT_NE(skip_reason(engine_, work(std::int64_t{1} << 60)).find("10,485,760 B"),
            std::string::npos);
  EXPECT_NE(skip_reason(engine_, work(10 * kMiB)).find("10,485,760 B"), std::string::npos);
  expect_measures(work(6 * kMiB));
  expect_measures(work(7 * kMiB));  // both at once would not fit
}

}  // namespace
}  // namespace sonde::host
