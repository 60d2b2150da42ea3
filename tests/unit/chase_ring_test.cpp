#include "device/common/chase_ring.h"

#include <gtest/gtest.h>
#include <algorithm>
#include <bit>
#include <utility>

#include "core/error.h"
#include "device/common/pattern.h"
#include "membw/ladder.h"
#include "membw/refine.h"

namespace sonde {
namespace {

TEST(ChaseRing, IsOneCycleForAnySizeAndOrder) {
  for (std::int64_t lines : {1, 2, 3, 63, 64, 65, 1000, 4096}) {
    for (std::int64_t group : {0, 1, 2, 7}) {
      const ChaseRing ring = make_chase_ring(lines, 64, group, 9);
      EXPECT_EQ(static_cast<std::int64_t>(ring.size()), lines);
      EXPECT_TRUE(is_single_cycle(ring)) << lines << " " << group;
    }
  }
}

TEST(ChaseRing, TwoShortCyclesAreNoticed) {
  ChaseRing ring = {1, 0, 3, 2};
  EXPECT_FALSE(is_single_cycle(ring));
  ring = {0};
  EXPECT_TRUE(is_single_cycle(ring));
  ring = {2, 0, 9};
  EXPECT_FALSE(is_single_cycle(ring));
  EXPECT_FALSE(is_single_cycle({}));
}

TEST(ChaseRing, SeedDecidesTheOrder) {
  EXPECT_EQ(make_chase_ring(500, 64, 0, 1), make_chase_ring(500, 64, 0, 1));
  EXPECT_NE(make_chase_ring(500, 64, 0, 1), make_chase_ring(500, 64, 0, 2));
}

TEST(ChaseRing, GroupedOrderStaysInsideItsPages) {
  // 16 pages of 64 lines, two pages a group: any 128 consecutive visits touch at most 3 groups'
  // pages.
  const ChaseRing ring = make_chase_ring(1024, 64, 2, 3);
  std::uint32_t at = 0;
  int changes = 0;
  for (int i = 0; i < 1024; ++i) {
    changes += ring[at] / 64 != at / 64 ? 1 : 0;
    at = ring[at];
  }
  EXPECT_GT(changes, 256);  // random inside a group of two pages: about every other step
  EXPECT_LT(changes, 768);
}

TEST(ChaseRing, WalkWrapsAround) {
  const ChaseRing ring = make_chase_ring(10, 64, 0, 1);
  EXPECT_EQ(walk(ring, 4, 10), 4u);
  EXPECT_EQ(walk(ring, 4, 13), walk(ring, 4, 3));
  EXPECT_EQ(walk(ring, 4, std::int64_t{10} << 40), 4u);
}

TEST(ChaseRing, RefusesWhatIsTooLong) {
  EXPECT_THROW(make_chase_ring(0, 64, 0, 1), Skip);
  EXPECT_THROW(make_chase_ring(std::int64_t{1} << 33, 64, 0, 1), Skip);
}

TEST(Pattern, FindsEveryDamagedByte) {
  for (std::size_t size : {1u, 7u, 8u, 9u, 64u, 1001u}) {
    std::vector<std::byte> buffer(size);
    fill_pattern(buffer, 5);
    EXPECT_FALSE(first_difference(buffer, 5));
    for (std::size_t i = 0; i < size; ++i) {
      buffer[i] ^= std::byte{0x10};
      EXPECT_EQ(first_difference(buffer, 5), i);
      buffer[i] ^= std::byte{0x10};
    }
    EXPECT_TRUE(first_difference(buffer, 6) || size < 2);
  }
}

TEST(Pattern, ShiftedDataDiffers) {
  std::vector<std::byte> buffer(4096 + 8);
  fill_pattern(buffer, 5);
  EXPECT_TRUE(first_difference(std::span(buffer).subspan(8), 5));
}

TEST(Ladder, EightAnOctaveWithPowersOfTwo) {
  const auto sizes = size_ladder(1024, 4096, 8);
  EXPECT_EQ(sizes, (std::vector<std::int64_t>{1024, 1088, 1216, 1344, 1472, 1600, 1728, 1856, 2048,
                                              2240, 2432, 2624, 2880, 3136, 3456, 3776, 4096}));
  EXPECT_EQ(size_ladder(1024, 16384, 1),
            (std::vector<std::int64_t>{1024, 2048, 4096, 8192, 16384}));
}

TEST(Ladder, KeepsItsEndsAndRises) {
  const auto sizes = size_ladder(1000, std::int64_t{5} << 40, 8);
  EXPECT_EQ(sizes.front(), 1000);
  EXPECT_EQ(sizes.back(), std::int64_t{5} << 40);
  for (std::size_t i = 1; i < sizes.size(); ++i) {
    EXPECT_GT(sizes[i], sizes[i - 1]);
    EXPECT_LT(static_cast<double>(sizes[i]) / static_cast<double>(sizes[i - 1]), 1.15);
  }
  EXPECT_THROW(size_ladder(0, 100, 8), std::invalid_argument);
  EXPECT_THROW(size_ladder(64, 100, 3), std::invalid_argument);
}

TEST(Ladder, SizesOffPowersOfTwoAreNoWholePages) {
  for (const std::int64_t size : size_ladder(1024, std::int64_t{1} << 32, 8)) {
    if (std::has_single_bit(static_cast<std::uint64_t>(size))) continue;
    EXPECT_NE(size % 4096, 0) << size;
    EXPECT_EQ(size % 64, 0) << size;
  }
}

TEST(Ladder, ClassSizesStandBesideEachPowerOfTwo) {
  EXPECT_EQ(class_sizes(1024, 20000), (std::vector<std::int64_t>{4160, 6144, 8256, 12288, 16448}));
  const auto large = class_sizes(2 << 20, 4 << 20);
  EXPECT_EQ(large, (std::vector<std::int64_t>{2097216, 2101248, 2162688, 3145728}));
}

/// Refines as the probe does until nothing is left to add.
template <class Time>
std::vector<TimedSize> refined(const Time& time, bool real, double error = 0.005) {
  std::vector<TimedSize> tested;
  std::vector<std::int64_t> next = size_ladder(1024, 16 << 20, 8);
  for (int round = 0; !next.empty(); ++round) {
    EXPECT_LT(round, 40);
    for (const std::int64_t bytes : next) {
      tested.push_back({bytes, time(static_cast<double>(bytes)), error});
    }
    std::sort(tested.begin(), tested.end(),
              [](const TimedSize& a, const TimedSize& b) { return a.bytes < b.bytes; });
    next = refine_sizes(tested, real);
  }
  return tested;
}

/// The two tested sizes about `at`.
std::pair<std::int64_t, std::int64_t> about(const std::vector<TimedSize>& tested, double at) {
  const auto after = std::find_if(tested.begin(), tested.end(), [&](const TimedSize& one) {
    return static_cast<double>(one.bytes) > at;
  });
  return {(after - 1)->bytes, after->bytes};
}

TEST(Refine, ASwitchIsBracketedByOneLineWhereTheDeviceRepeatsWell) {
  const auto time = [](double b) { return (b <= 400000 ? 2e-6 : 7e-6) + b / 500e9; };
  EXPECT_EQ(about(refined(time, false), 400000),
            (std::pair<std::int64_t, std::int64_t>(400000, 400064)));
}

TEST(Refine, OnARealDeviceWithinHalfAPerCent) {
  const auto time = [](double b) { return (b <= 2.5e6 ? 2e-6 : 7e-6) + b / 500e9; };
  const auto tested = refined(time, true);
  const auto [low, high] = about(tested, 2.5e6);
  EXPECT_LE(static_cast<double>(high), 1.005 * static_cast<double>(low));
  EXPECT_GT(high - low, 64);
  EXPECT_LE(tested.size(), size_ladder(1024, 16 << 20, 8).size() + 6);
}

TEST(Refine, NothingIsAddedWhereNothingJumps) {
  const auto time = [](double b) { return 2e-6 + b / 500e9; };
  EXPECT_EQ(refined(time, false).size(), size_ladder(1024, 16 << 20, 8).size());
  // Every page-sized copy on a line of its own is no switch either.
  const auto paged = [&](double b) {
    return time(b) * (static_cast<std::int64_t>(b) % 4096 == 0 ? 0.5 : 1);
  };
  EXPECT_EQ(refined(paged, false).size(), size_ladder(1024, 16 << 20, 8).size());
}

}  // namespace
}  // namespace sonde
