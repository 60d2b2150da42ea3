#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "device/common/gemm_reference.h"

namespace sonde {
namespace {

TEST(Bf16, RoundsToNearestEven) {
  EXPECT_EQ(to_bf16(1.0F), 0x3f80);
  EXPECT_EQ(to_bf16(-2.5F), 0xc020);
  EXPECT_EQ(from_bf16(to_bf16(1.0F + 0x1.0p-8F)), 1.0F);                  // a tie: to even
  EXPECT_EQ(from_bf16(to_bf16(1.0F + 3 * 0x1.0p-8F)), 1.0F + 0x1.0p-6F);  // a tie: to even
  EXPECT_EQ(from_bf16(to_bf16(1.0F + 0x1.1p-8F)), 1.0F + 0x1.0p-7F);
  EXPECT_TRUE(std::isnan(from_bf16(to_bf16(std::numeric_limits<float>::quiet_NaN()))));
}

TEST(GemmValue, IsUniformExactAndTheSameHoweverItIsAskedFor) {
  double sum = 0;
  double squares = 0;
  std::vector<std::uint16_t> bits(1003);
  std::vector<float> floats(1003);
  for (std::int64_t row = 0; row < 20; ++row) {
    fill_gemm_row(9, GemmOperand::a, row, std::span(bits));
    fill_gemm_row(9, GemmOperand::a, row, std::span(floats));
    for (std::size_t col = 0; col < bits.size(); ++col) {
      const float value = gemm_value(9, GemmOperand::a, row, static_cast<std::int64_t>(col));
      ASSERT_EQ(from_bf16(bits[col]), value);
      ASSERT_EQ(floats[col], value);
      ASSERT_LT(std::abs(value), 1.0F);
      sum += static_cast<double>(value);
      squares += static_cast<double>(value) * static_cast<double>(value);
    }
  }
  const double count = 20 * 1003;
  EXPECT_NEAR(sum / count, 0, 5 * std::sqrt(1 / 3.0 / count));
  EXPECT_NEAR(squares / count, 1 / 3.0, 0.01);
}

TEST(GemmValue, DependsOnEveryArgument) {
  auto first_row = [](std::uint64_t seed, GemmOperand operand, std::int64_t row) {
    std::vector<float> values(16);
    fill_gemm_row(seed, operand, row, std::span(values));
    return values;
  };
  const auto base = first_row(1, GemmOperand::a, 0);
  EXPECT_NE(base, first_row(2, GemmOperand::a, 0));
  EXPECT_NE(base, first_row(1, GemmOperand::b, 0));
  EXPECT_NE(base, first_row(1, GemmOperand::a, 1));
  EXPECT_NE(gemm_value(1, GemmOperand::a, 0, std::int64_t{1} << 33),
            gemm_value(1, GemmOperand::a, 0, 0));
}

/// The product as a device would form it: FP32 sums in order, a BF16 result.
double as_a_device(std::int64_t row, std::int64_t col, std::int64_t k, std::uint64_t seed) {
  float sum = 0;
  for (std::int64_t i = 0; i < k; ++i) {
    sum += gemm_value(seed, GemmOperand::a, row, i) * gemm_value(seed, GemmOperand::b, i, col);
  }
  return static_cast<double>(from_bf16(to_bf16(sum)));
}

TEST(GemmReference, ARightProductFitsAndOneWrongElementDoesNot) {
  for (const std::int64_t k : {1, 7, 512, 20000}) {
    const GemmReference reference(40, 17, k, 4);
    auto right = [k](std::int64_t row, std::int64_t col) { return as_a_device(row, col, k, 4); };
    EXPECT_EQ(reference.first_wrong(right), std::nullopt) << k;
    const std::int64_t bad_row = reference.rows().at(5);
    const std::int64_t bad_col = reference.cols().at(11);
    // Its neighbour's value; 10 % of the usual size too much; nothing; not a number.
    const double usual = std::sqrt(static_cast<double>(k)) / 3;
    const double good = right(bad_row, bad_col);
    for (const double wrong : {right(bad_row + 1, bad_col), good + 0.1 * usual, good + 0.5 * usual,
                               -good, std::numeric_limits<double>::quiet_NaN()}) {
      const auto problem = reference.first_wrong([&](std::int64_t row, std::int64_t col) {
        return row == bad_row && col == bad_col ? wrong : right(row, col);
      });
      ASSERT_TRUE(problem) << k << ": " << wrong << " for " << good;
      EXPECT_NE(problem->find("C[" + std::to_string(bad_row) + ", " + std::to_string(bad_col)),
                std::string::npos)
          << *problem;
    }
  }
}

TEST(GemmReference, SumsInBf16AreTooCoarse) {
  const std::int64_t k = 1000;
  const GemmReference reference(20, 20, k, 4);
  EXPECT_TRUE(reference.first_wrong([k](std::int64_t row, std::int64_t col) {
    float sum = 0;
    for (std::int64_t i = 0; i < k; ++i) {
      sum = from_bf16(to_bf16(sum + gemm_value(4, GemmOperand::a, row, i) *
                                        gemm_value(4, GemmOperand::b, i, col)));
    }
    return static_cast<double>(sum);
  }));
}

TEST(GemmReference, SamplesTheEndsAndWorksForSizesOfOne) {
  const GemmReference wide(1, std::int64_t{1} << 34, 3, 1);
  EXPECT_EQ(wide.rows(), std::vector<std::int64_t>{0});
  EXPECT_EQ(wide.cols().size(), 16U);
  EXPECT_EQ(wide.cols().front(), 0);
  EXPECT_EQ(wide.cols().back(), (std::int64_t{1} << 34) - 1);
  const GemmReference one(1, 1, 1, 1);
  const double product = static_cast<double>(gemm_value(1, GemmOperand::a, 0, 0)) *
                         static_cast<double>(gemm_value(1, GemmOperand::b, 0, 0));
  EXPECT_EQ(one.at(0, 0), product);
}

}  // namespace
}  // namespace sonde
