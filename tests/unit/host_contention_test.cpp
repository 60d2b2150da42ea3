#include "device/host/contention.h"

#include "core/units.h"
#include "tests/unit/host_fixture.h"

namespace sonde::host {
namespace {

class HostContention : public HostFixture {
 protected:
  ContentionWork work(const std::string& aggressor_work) const {
    ContentionWork w;
    w.victim = first();
    if (!one_core()) w.aggressors = {last()};
    w.aggressor_work = aggressor_work;
    w.footprint_bytes = 256 * kKiB;
    w.loads = 20'000;
    w.seed = 3;
    return w;
  }
};

TEST_F(HostContention, EveryWorkRunsBesideTheVictimAllTheTime) {
  if (one_core()) GTEST_SKIP() << "one core";
  ContentionEngine engine(machine_, description_);
  for (const std::string& aggressor_work : aggressor_works()) {
    engine.prepare(work(aggressor_work));
    const Sample sample = engine.run({});
    const Check check = engine.verify();
    EXPECT_TRUE(check.ok) << aggressor_work << ": " << check.problem;
    EXPECT_EQ(sample.placement, (std::vector<CoreName>{first(), last()}));
    ASSERT_TRUE(sample.background_operations) << aggressor_work;
    EXPECT_GT(*sample.background_operations, 0);
    EXPECT_GT(sample.elapsed.value(), 20'000 * 0.1e-9);
    EXPECT_LT(sample.elapsed.value(), 1);
  }
}

TEST_F(HostContention, AVictimAloneHasNoBackground) {
  ContentionEngine engine(machine_, description_);
  ContentionWork alone = work("none");
  for (int i = 0; i < 2; ++i, alone.aggressors.clear()) {
    engine.prepare(alone);
    const Sample sample = engine.run({});
    EXPECT_TRUE(engine.verify().ok);
    EXPECT_EQ(sample.placement, std::vector<CoreName>{first()});
    EXPECT_FALSE(sample.background_operations);
  }
}

TEST_F(HostContention, AnAggressorThatStoppedEarlyIsCaught) {
  if (one_core()) GTEST_SKIP() << "one core";
  ContentionEngine engine(machine_, description_, 1'000'000);  // some milliseconds
  for (const char* aggressor_work : {"register", "load"}) {
    ContentionWork w = work(aggressor_work);
    w.loads = 5'000'000;  // at least 8 ms
    engine.prepare(w);
    try {
      engine.run({});
    } catch (const PointFailure&) {
      continue;  // on a busy machine it may have stopped before the victim began
    }
    const Check check = engine.verify();
    EXPECT_FALSE(check.ok);
    EXPECT_NE(check.problem.find(last().str() + " did not run the whole time"), std::string::npos)
        << check.problem;
  }
}

TEST_F(HostContention, WhatCannotBeDoneIsSkippedWithTheReason) {
  ContentionEngine engine(machine_, description_);
  ContentionWork w = work("load");
  w.aggressors = {first()};
  EXPECT_EQ(skip_reason(engine, w), first().str() + " is the victim and an aggressor too");
  w.aggressors = {absent()};
  EXPECT_NE(skip_reason(engine, w).find(absent().str()), std::string::npos);
  EXPECT_NE(skip_reason(engine, work("divide")).find("register, load"), std::string::npos);
  w = work("load");
  w.victim_work = "store";
  EXPECT_NE(skip_reason(engine, w).find("\"store\""), std::string::npos);
  w = work("none");
  w.loads = 0;
  EXPECT_NE(skip_reason(engine, w).find("at least 1 load"), std::string::npos);
  description_.memory_bytes = kMiB;
  w = work("none");
  w.footprint_bytes = kMiB;
  EXPECT_NE(skip_reason(engine, w).find("1,048,576 B"), std::string::npos);
}

}  // namespace
}  // namespace sonde::host
