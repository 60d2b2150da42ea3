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

TEST(Ladder, TakesFrom64BytesAndOneToEightAnOctave) {
  EXPECT_EQ(size_ladder(64, 64, 8), std::vector<std::int64_t>{64});
  EXPECT_EQ(size_ladder(64, 128, 8), (std::vector<std::int64_t>{64, 128}));
  EXPECT_EQ(size_ladder(64, 65, 1), (std::vector<std::int64_t>{64, 65}));
  EXPECT_EQ(size_ladder(1000, 1030, 1), (std::vector<std::int64_t>{1000, 1024, 1030}));
  EXPECT_EQ(size_ladder(1024, 2048, 2), (std::vector<std::int64_t>{1024, 1472, 2048}));
  EXPECT_EQ(size_ladder(1024, 2048, 4), (std::vector<std::int64_t>{1024, 1216, 1472, 1728, 2048}));
  EXPECT_THROW(size_ladder(63, 100, 8), std::invalid_argument);
  EXPECT_THROW(size_ladder(128, 127, 8), std::invalid_argument);
  for (const int wrong : {-1, 0, 3, 5, 6, 7, 9, 16})
    EXPECT_THROW(size_ladder(64, 128, wrong), std::invalid_argument) << wrong;
  // The largest sizes there are end the ladder, not the count.
  const auto all = size_ladder(std::int64_t{1} << 61, INT64_MAX, 1);
  EXPECT_EQ(all,
            (std::vector<std::int64_t>{std::int64_t{1} << 61, std::int64_t{1} << 62, INT64_MAX}));
}

TEST(Ladder, ClassSizesAreWithinTheirLimits) {
  EXPECT_EQ(class_sizes(4160, 4160), std::vector<std::int64_t>{4160});
  EXPECT_EQ(class_sizes(4161, 6143), std::vector<std::int64_t>{});
  EXPECT_EQ(class_sizes(4161, 6144), std::vector<std::int64_t>{6144}) << "both limits belong to it";
  EXPECT_EQ(class_sizes(1024, 4095), std::vector<std::int64_t>{});
  // 4 KiB is a sixteenth of 64 KiB, and 64 KiB one of 1 MiB.
  EXPECT_EQ(class_sizes(32768, 65536), (std::vector<std::int64_t>{32832, 49152}));
  EXPECT_EQ(class_sizes(65536, 131071), (std::vector<std::int64_t>{65600, 69632, 98304}));
  EXPECT_EQ(class_sizes(1 << 20, (1 << 21) - 1),
            (std::vector<std::int64_t>{1048640, 1052672, 1114112, 1572864}));
}

/// Sizes in units of 64 bytes, those from `jump` on 20 % slower.
std::vector<TimedSize> jumping(const std::vector<std::int64_t>& units, std::int64_t jump,
                               double by = 1.2, double error = 0) {
  std::vector<TimedSize> tested;
  for (const std::int64_t unit : units) {
    const auto bytes = static_cast<double>(64 * unit);
    tested.push_back({64 * unit, (1e-7 + 1e-10 * bytes) * (unit < jump ? 1 : by), error});
  }
  return tested;
}

/// The next sizes in units of 64 bytes.
std::vector<std::int64_t> next_of(const std::vector<TimedSize>& tested, bool real = false) {
  std::vector<std::int64_t> next = refine_sizes(tested, real);
  for (std::int64_t& bytes : next) {
    EXPECT_EQ(bytes % 64, 0);
    bytes /= 64;
  }
  return next;
}

TEST(Refine, TheNextSizeIsTheMiddleOfTheGapOffWholePages) {
  using Units = std::vector<std::int64_t>;
  EXPECT_EQ(next_of(jumping({55, 61, 66, 98, 103, 109}, 98)), Units{83}) << "82: odd while wide";
  EXPECT_EQ(next_of(jumping({63, 65, 66, 82, 83, 84}, 82)), Units{74}) << "16 apart: as it is";
  EXPECT_EQ(next_of(jumping({63, 65, 66, 83, 84, 85}, 83)), Units{75}) << "17 apart: odd";
  EXPECT_EQ(next_of(jumping({57, 58, 59, 69, 70, 71}, 69)), Units{65}) << "64 is a page";
  EXPECT_EQ(next_of(jumping({61, 62, 63, 66, 67, 68}, 66)), Units{65});
  EXPECT_EQ(next_of(jumping({61, 62, 63, 65, 66, 67}, 65)), Units{}) << "only the page between";
  EXPECT_EQ(next_of(jumping({61, 62, 63, 67, 68, 69}, 67)), Units{65});
  EXPECT_EQ(next_of(jumping({65, 66, 67, 68, 69, 70}, 68)), Units{});
}

TEST(Refine, AGapIsNarrowWithinHalfAPerCentUnlessItIsPlain) {
  using Units = std::vector<std::int64_t>;
  const Units narrow = {987, 993, 999, 1003, 1009, 1015}, wide = {986, 992, 998, 1003, 1009, 1015};
  EXPECT_EQ(next_of(jumping(narrow, 1003)), Units{1001});
  EXPECT_EQ(next_of(jumping(narrow, 1003), true), Units{});
  EXPECT_EQ(next_of(jumping(wide, 1003), true), Units{1000});
  // Its sides stand 20, 13 and 10 errors apart: from 12 on it is plain.
  EXPECT_EQ(next_of(jumping(narrow, 1003, 1.2, 0.01)), Units{1001});
  EXPECT_EQ(next_of(jumping(narrow, 1003, 1.2, 0.015)), Units{1001});
  EXPECT_EQ(next_of(jumping(narrow, 1003, 1.2, 0.02)), Units{});
  EXPECT_EQ(next_of(jumping(wide, 1003, 1.2, 0.02)), Units{1000});
}

TEST(Refine, NeedsThreeSizesOnEachSideAndAJumpWorthIt) {
  using Units = std::vector<std::int64_t>;
  EXPECT_EQ(next_of({}), Units{});
  EXPECT_EQ(next_of(jumping({65}, 65)), Units{});
  EXPECT_EQ(next_of(jumping({65, 66, 82, 83, 84}, 82)), Units{});
  EXPECT_EQ(next_of(jumping({63, 65, 66, 82, 83}, 82)), Units{});
  const Units units = {63, 65, 66, 82, 83, 84};
  EXPECT_EQ(next_of(jumping(units, 82, 1.1)), Units{74});
  EXPECT_EQ(next_of(jumping(units, 82, 1.01)), Units{}) << "less than 2 %";
  EXPECT_EQ(next_of(jumping(units, 82, 0.8)), Units{74}) << "downwards as well";
  const Units close = {85, 91, 97, 99, 105, 111};
  EXPECT_EQ(next_of(jumping(close, 99, 1.022)), Units{98});
  EXPECT_EQ(next_of(jumping(close, 99, 1.018)), Units{});
  const Units spaced = {60, 62, 65, 68, 71, 74};
  EXPECT_EQ(next_of(jumping(spaced, 68, 1.09), true), Units{66});
  EXPECT_EQ(next_of(jumping(spaced, 68, 1.07), true), Units{}) << "less than 8 % of a real device";
  EXPECT_EQ(next_of(jumping(spaced, 68, 1.07)), Units{66});
}

TEST(Refine, WholePagesAreLeftOutWhereMostSizesAreNone) {
  using Units = std::vector<std::int64_t>;
  // Pages of 64 units take half the time.
  const auto with_pages = [](std::vector<TimedSize> tested) {
    for (TimedSize& one : tested) one.time *= one.bytes % 4096 == 0 ? 0.5 : 1;
    return tested;
  };
  EXPECT_EQ(next_of(with_pages(jumping({61, 63, 64, 66, 82, 83, 84}, 82))), Units{74});
  // All of them are pages.
  EXPECT_EQ(
      next_of(with_pages(jumping({64 * 13, 64 * 14, 64 * 15, 64 * 17, 64 * 18, 64 * 19}, 64 * 17))),
      Units{64 * 16 + 1});
}

}  // namespace
}  // namespace sonde
