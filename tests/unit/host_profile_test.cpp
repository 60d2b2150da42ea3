#include "device/host/profile.h"

#include <set>

#include "core/units.h"
#include "device/common/sampled_lines.h"
#include "tests/unit/host_fixture.h"

namespace sonde::host {
namespace {

class HostProfile : public HostFixture {
 protected:
  ProfileWork work(const CoreName& core) const {
    ProfileWork w;
    w.core = core;
    w.bytes = 4 * kMiB;
    w.addresses = 200;
    w.seed = 5;
    return w;
  }
};

TEST_F(HostProfile, OneLatencyAnAddressInTheSameOrderOnEveryCore) {
  ProfileEngine engine(machine_, description_);
  const std::vector<std::int64_t> expected =
      sampled_offsets(4 * kMiB, description_.chase_line_bytes, 200, 5);
  for (const CoreName& core : {first(), last()}) {
    engine.prepare(work(core));
    const Sample sample = engine.run({});
    EXPECT_EQ(sample.placement, std::vector<CoreName>{core});
    ASSERT_EQ(sample.series.size(), expected.size());
    double sum = 0;
    for (std::size_t i = 0; i < expected.size(); ++i) {
      EXPECT_EQ(sample.series[i].address_bytes, expected[i]);
      const double latency = sample.series[i].latency.value();
      EXPECT_GT(latency, 0);
      EXPECT_LT(latency, 1e-3);  // in seconds: a load takes less than a millisecond
      sum += latency;
    }
    EXPECT_GT(sample.elapsed.value(), sum);  // all passes, the clock's readings included
    const Check check = engine.verify();
    EXPECT_TRUE(check.ok) << check.problem;
  }
}

TEST_F(HostProfile, AWordThatChangedIsCaught) {
  ProfileEngine engine(machine_, description_);
  engine.prepare(work(first()));
  const auto offset = static_cast<std::size_t>(
      sampled_offsets(4 * kMiB, description_.chase_line_bytes, 200, 5).back());
  engine.memory()[offset] ^= std::byte{1};
  engine.run({});
  const Check check = engine.verify();
  EXPECT_FALSE(check.ok);
  EXPECT_NE(check.problem.find("expected"), std::string::npos) << check.problem;
}

TEST_F(HostProfile, AnotherSizeOrSeedIsAnotherMemory) {
  ProfileEngine engine(machine_, description_);
  engine.prepare(work(first()));
  ProfileWork other = work(first());
  other.bytes = 2 * kMiB;
  other.seed = 6;
  engine.prepare(other);
  engine.run({});
  EXPECT_TRUE(engine.verify().ok);
  EXPECT_EQ(engine.memory().size(), static_cast<std::size_t>(2 * kMiB));
}

TEST_F(HostProfile, WhatCannotBeDoneIsSkippedWithTheReason) {
  description_.memory_bytes = 16 * kMiB;
  ProfileEngine engine(machine_, description_);
  EXPECT_NE(skip_reason(engine, work(absent())).find(absent().str()), std::string::npos);
  ProfileWork w = work(first());
  w.addresses = 1'000'000;
  EXPECT_NE(skip_reason(engine, w).find("1,000,000"), std::string::npos);
  w = work(first());
  w.bytes = kGiB;
  EXPECT_NE(skip_reason(engine, w).find("16,777,216 B"), std::string::npos);
}

}  // namespace
}  // namespace sonde::host
