// Modelled address profiles: the way to each address's home, and what tells cores apart.
#include <gtest/gtest.h>

#include <cmath>

#include "device/registry.h"
#include "device/sim/memory.h"
#include "tests/model/chip_text.h"

namespace sonde::sim {
namespace {

ProfileWork work_for(const CoreName& core) {
  ProfileWork work;
  work.core = core;
  work.bytes = 128 * kMiB;
  work.addresses = 4096;
  work.seed = 5;
  return work;
}

std::vector<double> centred_ns(Device& device, const CoreName& core) {
  device.profile()->prepare(work_for(core));
  const Sample sample = device.profile()->run({5, 0, 0});
  EXPECT_TRUE(device.profile()->verify().ok);
  std::vector<double> ns;
  double sum = 0;
  for (const AddressTime& at : sample.series) {
    ns.push_back(nanoseconds(at.latency));
    sum += ns.back();
  }
  for (double& value : ns) value -= sum / static_cast<double>(ns.size());
  return ns;
}

double difference(const std::vector<double>& a, const std::vector<double>& b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += std::abs(a[i] - b[i]);
  return sum / static_cast<double>(a.size());
}

TEST(ProfileLaw, LatencyIsBasePlusHopPlusWayAlongTheRing) {
  const Chip chip = shipped_chip();
  const Topology topology(chip);
  const AddressMap map(chip);
  const auto device = open_device("sim:950pr_9579?noise=off");
  for (const CoreName& core : {CoreName{"vector", 0}, {"vector", 51}, {"cube", 20}}) {
    const CoreSite& site = topology.cores()[static_cast<std::size_t>(*topology.find(core))];
    device->profile()->prepare(work_for(core));
    const Sample sample = device->profile()->run({});
    ASSERT_EQ(sample.series.size(), 4096U);
    double sum = 0;
    int hits = 0;
    for (const AddressTime& at : sample.series) {
      const int channel = map.home(at.address_bytes).channel;
      const int apart = std::abs(channel / 2 - site.stop);
      const double way = std::min(apart, 16 - apart) - 4.0;  // 1 ns a stop, less the mean
      const double hop = channel % 2 == site.die ? 0 : 32;
      const double ns = nanoseconds(at.latency);
      const bool hit = ns < 200;
      hits += hit ? 1 : 0;
      EXPECT_NEAR(ns, (hit ? 118 : 300) + hop + way, 1e-6);
      sum += at.latency.value();
    }
    EXPECT_NEAR(sample.elapsed.value(), sum, 1e-12);
    // Sets of 16 ways with 16 lines in the mean: 46.7 % of the lines stay.
    EXPECT_NEAR(hits, 0.467 * 4096, 0.03 * 4096);
  }
}

TEST(ProfileLaw, WhetherAnAddressHitsDependsOnTheChainAlone) {
  const auto device = open_device("sim:950pr_9579?noise=off");
  std::vector<bool> first;
  for (const CoreName& core : device->description().cores) {
    device->profile()->prepare(work_for(core));
    const Sample sample = device->profile()->run({});
    std::vector<bool> hits;
    for (const AddressTime& at : sample.series) hits.push_back(at.latency.value() < 200e-9);
    if (first.empty()) first = hits;
    ASSERT_EQ(hits, first) << core.str();
  }
}

TEST(ProfileLaw, DiesDifferMostThenGroupsAndSubsystemsNot) {
  const Topology topology(shipped_chip());
  const auto device = open_device("sim:950pr_9579");
  std::vector<std::vector<double>> profiles;
  for (const CoreSite& site : topology.cores()) {
    profiles.push_back(centred_ns(*device, site.name()));
  }
  double most_group = 0, least_die = 1e9, most_die = 0, least_far = 1e9;
  for (std::size_t i = 0; i < profiles.size(); ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      const CoreSite& a = topology.cores()[i];
      const CoreSite& b = topology.cores()[j];
      const double ns = difference(profiles[i], profiles[j]);
      if (a.die != b.die) {
        least_far = std::min(least_far, ns);
      } else if (a.group != b.group) {
        least_die = std::min(least_die, ns);
        most_die = std::max(most_die, ns);
      } else {
        most_group = std::max(most_group, ns);
      }
    }
  }
  EXPECT_GT(least_far, 5 * most_die);
  EXPECT_NEAR(least_far, 32, 3);  // the hop
  EXPECT_GT(least_die, 1.05 * most_group);
}

TEST(ProfileLaw, NoiseIsOnePercentOfALoad) {
  const auto quiet = open_device("sim:950pr_9579?noise=off");
  const auto noisy = open_device("sim:950pr_9579");
  quiet->profile()->prepare(work_for({"cube", 3}));
  noisy->profile()->prepare(work_for({"cube", 3}));
  const Sample exact = quiet->profile()->run({1, 2, 3});
  const Sample drawn = noisy->profile()->run({1, 2, 3});
  double squares = 0;
  double sum = 0;
  for (std::size_t i = 0; i < exact.series.size(); ++i) {
    const double change = drawn.series[i].latency / exact.series[i].latency - 1;
    EXPECT_EQ(drawn.series[i].address_bytes, exact.series[i].address_bytes);
    squares += change * change;
    sum += drawn.series[i].latency.value();
  }
  EXPECT_NEAR(std::sqrt(squares / 4096), 0.01, 0.0005);
  EXPECT_NEAR(drawn.elapsed.value(), sum, 1e-12);
}

}  // namespace
}  // namespace sonde::sim
