#include "device/host/handoff.h"

#include <set>

#include "core/units.h"
#include "tests/unit/host_fixture.h"

namespace sonde::host {
namespace {

class HostHandoff : public HostFixture {
 protected:
  void SetUp() override {
    if (one_core()) GTEST_SKIP() << "one core";
  }
  HandoffWork work(const std::string& kind) const {
    HandoffWork w;
    w.from = first();
    w.to = last();
    w.kind = kind;
    w.exchanges = 200;
    w.seed = 2;
    return w;
  }
};

TEST_F(HostHandoff, EveryTurnArrivesInBothDirections) {
  HandoffEngine engine(machine_, description_);
  for (const std::string& kind : description_.handoff_kinds) {
    for (const bool back : {false, true}) {
      HandoffWork w = work(kind);
      if (back) std::swap(w.from, w.to);
      engine.prepare(w);
      const Sample sample = engine.run({});
      const Check check = engine.verify();
      EXPECT_TRUE(check.ok) << kind << ": " << check.problem;
      EXPECT_EQ(sample.placement, (std::vector<CoreName>{w.from, w.to}));
      EXPECT_GT(sample.elapsed.value(), 200 * 1e-9);  // no line changes hands in half a ns
      EXPECT_LT(sample.elapsed.value(), 1);
    }
  }
}

TEST_F(HostHandoff, LinesAreFreshForEachIndexAndPair) {
  HandoffEngine engine(machine_, description_);
  std::set<std::uint64_t*> lines;
  std::set<std::uintptr_t> pages;
  for (int index = 0; index < 32; ++index) {
    HandoffWork w = work("read");
    w.address_index = index;
    engine.prepare(w);
    EXPECT_NE(&engine.word_of_from(), &engine.word_of_to());
    lines.insert(&engine.word_of_from());
    std::swap(w.from, w.to);
    engine.prepare(w);
    lines.insert(&engine.word_of_from());
    pages.insert(reinterpret_cast<std::uintptr_t>(&engine.word_of_from()) / 4096);
  }
  EXPECT_GE(lines.size(), 63U);
  EXPECT_GE(pages.size(), 31U);
  engine.prepare(work("write"));
  EXPECT_EQ(&engine.word_of_from(), &engine.word_of_to());
}

TEST_F(HostHandoff, ACounterThatDidNotArriveIsCaught) {
  HandoffEngine engine(machine_, description_);
  for (const std::string& kind : description_.handoff_kinds) {
    engine.prepare(work(kind));
    engine.run({});
    engine.word_of_to() -= 1;
    const Check check = engine.verify();
    EXPECT_FALSE(check.ok);
    EXPECT_NE(check.problem.find("expected"), std::string::npos) << check.problem;
  }
}

TEST_F(HostHandoff, ALostStoreEndsInAFailureNotInAWaitForEver) {
  HandoffEngine engine(machine_, description_, 20'000'000, 150);
  for (const std::string& kind : description_.handoff_kinds) {
    engine.prepare(work(kind));
    EXPECT_THROW(engine.run({}), PointFailure) << kind;
  }
}

TEST_F(HostHandoff, WhatCannotBeDoneIsSkippedWithTheReason) {
  HandoffEngine engine(machine_, description_);
  EXPECT_NE(skip_reason(engine, work("push")).find("no push hand-off here"), std::string::npos);
  HandoffWork w = work("read");
  w.to = w.from;
  EXPECT_NE(skip_reason(engine, w).find("to itself"), std::string::npos);
  w.to = absent();
  EXPECT_NE(skip_reason(engine, w).find(absent().str()), std::string::npos);
  w = work("read");
  w.exchanges = 0;
  EXPECT_NE(skip_reason(engine, w).find("at least 1"), std::string::npos);
}

}  // namespace
}  // namespace sonde::host
