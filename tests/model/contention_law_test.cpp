// Modelled contention: who shares a way with whom, against closed formulas. No noise.
#include <gtest/gtest.h>

#include <map>

#include "device/registry.h"
#include "device/sim/traffic.h"
#include "tests/model/chip_text.h"

namespace sonde::sim {
namespace {

constexpr double kAlone = 134;  // ns a load

class Contention : public ::testing::Test {
 protected:
  double latency_ns(const CoreName& victim, const std::vector<CoreName>& aggressors,
                    const std::string& does) {
    ContentionWork work;
    work.victim = victim;
    work.aggressors = aggressors;
    work.aggressor_work = does;
    work.footprint_bytes = device_->description().contention_bytes;
    work.loads = 256;
    device_->contention()->prepare(work);
    const Sample sample = device_->contention()->run({});
    EXPECT_TRUE(device_->contention()->verify().ok);
    EXPECT_EQ(sample.background_operations.has_value(), !aggressors.empty() && does != "none");
    return sample.elapsed.value() * 1e9 / 256;
  }

  std::unique_ptr<Device> device_ = open_device("sim:950pr_9579?noise=off");
  Topology truth_{shipped_chip()};
};

TEST_F(Contention, RegisterWorkCostsNothing) {
  const auto& cores = device_->description().cores;
  for (const CoreName& victim : {CoreName{"vector", 0}, CoreName{"vector", 37}, {"cube", 13}}) {
    EXPECT_DOUBLE_EQ(latency_ns(victim, {}, "none"), kAlone);
    std::vector<CoreName> others;
    for (const CoreName& core : cores) {
      if (core == victim) continue;
      others.push_back(core);
      EXPECT_DOUBLE_EQ(latency_ns(victim, {core}, "register"), kAlone) << core.str();
    }
    EXPECT_DOUBLE_EQ(latency_ns(victim, others, "register"), kAlone);
  }
}

TEST_F(Contention, SubsystemThenGroupThenTheRest) {
  for (const char* does : {"load", "store"}) {
    for (const CoreSite& victim : truth_.cores()) {
      double least_subsystem = 1e9, most_group = 0, least_group = 1e9, most_rest = 0,
             least_rest = 1e9;
      for (const CoreSite& other : truth_.cores()) {
        if (other.name() == victim.name()) continue;
        const double added = latency_ns(victim.name(), {other.name()}, does) - kAlone;
        if (other.subsystem == victim.subsystem) {
          least_subsystem = std::min(least_subsystem, added);
        } else if (other.group == victim.group) {
          most_group = std::max(most_group, added);
          least_group = std::min(least_group, added);
        } else {
          most_rest = std::max(most_rest, added);
          least_rest = std::min(least_rest, added);
        }
      }
      EXPECT_GT(least_subsystem, 0.05 * kAlone) << victim.name().str() << " " << does;
      EXPECT_GT(least_subsystem, 3 * most_group) << victim.name().str() << " " << does;
      EXPECT_GT(least_group, 10 * most_rest) << victim.name().str() << " " << does;
      EXPECT_GT(least_rest, 0) << victim.name().str() << " " << does;
      EXPECT_LT(most_rest, 0.001 * kAlone) << victim.name().str() << " " << does;
    }
  }
}

TEST_F(Contention, WaitsAreThoseOfTheQueues) {
  const CoreName victim{"vector", 0};
  const double group = 16384 / (300 * 1.65);      // ns that one transfer keeps the group's port
  const double subsystem = 16384 / (100 * 1.65);  // and that of its subsystem
  const double slices = 0.1;                      // at most, at an L2 slice
  // One aggressor never queues behind itself. A Cube streams at its subsystem's full port, a third
  // of the group's: the victim meets a transfer, half done in the mean, in a third of all cases.
  EXPECT_NEAR(latency_ns(victim, {{"cube", 2}}, "load") - kAlone, group / 3 / 2, slices);
  EXPECT_NEAR(latency_ns(victim, {{"cube", 0}}, "load") - kAlone, subsystem / 2 + group / 3 / 2,
              slices);
  // Two Vector cores that write 40 B/cycle each from other subsystems: M/D/1.
  const double load = 2 * 40 / 300.0;
  EXPECT_NEAR(latency_ns(victim, {{"vector", 4}, {"vector", 8}}, "store") - kAlone,
              load / (2 * (1 - load)) * group, slices);
}

TEST_F(Contention, KindAndWorkOfTheAggressorMatter) {
  const CoreName victim{"vector", 0};
  const double cube = latency_ns(victim, {{"cube", 0}}, "load");
  const double vector = latency_ns(victim, {{"vector", 1}}, "load");
  const double store = latency_ns(victim, {{"vector", 1}}, "store");
  EXPECT_GT(cube, vector + 1);
  EXPECT_GT(vector, store + 5);
}

TEST_F(Contention, ManyFarAggressorsAddUp) {
  const CoreSite& victim = truth_.cores().front();
  std::vector<CoreName> far;
  double most_alone = 0;
  for (const CoreSite& other : truth_.cores()) {
    if (other.die == victim.die) continue;
    far.push_back(other.name());
    most_alone = std::max(most_alone, latency_ns(victim.name(), {other.name()}, "load") - kAlone);
  }
  const double together = latency_ns(victim.name(), far, "load") - kAlone;
  EXPECT_GT(together, 5 * most_alone);
  EXPECT_LT(together, 0.01 * kAlone);
}

TEST_F(Contention, MoreAggressorsInTheSubsystemSlowMore) {
  const CoreName victim{"vector", 0};
  EXPECT_GT(latency_ns(victim, {{"vector", 1}, {"cube", 0}}, "load"),
            latency_ns(victim, {{"cube", 0}}, "load") + 10);
}

TEST(Sharing, RespectsEveryResource) {
  const Chip chip = shipped_chip();
  const Topology topology(chip);
  for (std::size_t step : {1UL, 2UL, 3UL, 7UL, 83UL}) {
    std::vector<Flow> flows;
    for (std::size_t i = 0; i < topology.cores().size(); i += step) {
      flows.push_back({topology.cores()[i],
                       60'000'000'000 + 7'000'000'000 * static_cast<std::int64_t>(i % 5), 0});
    }
    share(chip, flows);
    std::int64_t all = 0;
    std::int64_t wanted = 0;
    std::map<int, std::int64_t> subsystem;
    for (const Flow& flow : flows) {
      EXPECT_GT(flow.granted, 0);
      EXPECT_LE(flow.granted, flow.wanted);
      all += flow.granted;
      wanted += flow.wanted;
      subsystem[flow.site.subsystem] += flow.granted;
    }
    EXPECT_LE(all, chip.memory.hbm_bytes_per_s);
    for (const auto& [id, used] : subsystem) EXPECT_LE(used, 165'000'000'000) << id;
    // Nothing is left over: either all is granted or the HBM is full.
    if (all < wanted && step <= 3) {
      EXPECT_GT(all, chip.memory.hbm_bytes_per_s - 100);
    }
  }
}

TEST(Sharing, TwoOfASubsystemHalveItsPort) {
  const Chip chip = shipped_chip();
  const Topology topology(chip);
  std::vector<Flow> flows = {{topology.vectors()[0], 150'000'000'000, 0},
                             {topology.vectors()[1], 150'000'000'000, 0},
                             {topology.vectors()[2], 150'000'000'000, 0},
                             {topology.vectors()[4], 10'000'000'000, 0}};
  share(chip, flows);
  EXPECT_EQ(flows[0].granted, 82'500'000'000);
  EXPECT_EQ(flows[1].granted, 82'500'000'000);
  EXPECT_EQ(flows[2].granted, 150'000'000'000);
  EXPECT_EQ(flows[3].granted, 10'000'000'000);
}

}  // namespace
}  // namespace sonde::sim
