#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "core/error.h"
#include "device/common/sampled_lines.h"

namespace sonde {
namespace {

TEST(SampledOffsets, AreDistinctLinesInsideInRandomOrder) {
  const std::vector<std::int64_t> offsets = sampled_offsets(1 << 20, 64, 1000, 3);
  ASSERT_EQ(offsets.size(), 1000U);
  const std::set<std::int64_t> distinct(offsets.begin(), offsets.end());
  EXPECT_EQ(distinct.size(), 1000U);
  EXPECT_GE(*distinct.begin(), 0);
  EXPECT_LE(*distinct.rbegin(), (1 << 20) - 64);
  for (std::int64_t offset : offsets) EXPECT_EQ(offset % 64, 0);
  // A sorted or clustered choice would have all, or far fewer than half, of its steps upward.
  std::int64_t upward = 0;
  std::int64_t in_first_half = 0;
  for (std::size_t i = 0; i < offsets.size(); ++i) {
    upward += i > 0 && offsets[i] > offsets[i - 1];
    in_first_half += offsets[i] < 1 << 19;
  }
  EXPECT_NEAR(static_cast<double>(upward), 500, 60);
  EXPECT_NEAR(static_cast<double>(in_first_half), 500, 80);
}

TEST(SampledOffsets, AllLinesWhenAsManyAreAskedFor) {
  std::vector<std::int64_t> offsets = sampled_offsets(10 * 128 + 127, 128, 10, 5);
  std::sort(offsets.begin(), offsets.end());
  for (std::size_t i = 0; i < 10; ++i) EXPECT_EQ(offsets[i], static_cast<std::int64_t>(i) * 128);
}

TEST(SampledOffsets, AreAFunctionOfTheSeed) {
  EXPECT_EQ(sampled_offsets(1 << 20, 64, 100, 1), sampled_offsets(1 << 20, 64, 100, 1));
  EXPECT_NE(sampled_offsets(1 << 20, 64, 100, 1), sampled_offsets(1 << 20, 64, 100, 2));
  // These are stored in files and must be the same everywhere.
  const std::int64_t beyond_32_bits = std::int64_t{1} << 40;
  EXPECT_GT(sampled_offsets(beyond_32_bits, 64, 4, 1).at(0), std::int64_t{1} << 32);
}

TEST(SampledOffsets, MoreThanThereAreLinesIsSkippedNamingBoth) {
  try {
    sampled_offsets(640, 64, 11, 1);
    FAIL() << "not skipped";
  } catch (const Skip& skip) {
    EXPECT_NE(std::string(skip.what()).find("11 sampled addresses: 1 to 10"), std::string::npos)
        << skip.what();
  }
  EXPECT_THROW(sampled_offsets(640, 64, 0, 1), Skip);
  EXPECT_THROW(sampled_offsets(63, 64, 1, 1), Skip);
}

}  // namespace
}  // namespace sonde
