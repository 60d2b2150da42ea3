#include "core/rng.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

namespace sonde {
namespace {

TEST(Rng, StreamIsFixed) {
  // A change of these words changes every stored run: written down once, on the first machine.
  Rng rng(1);
  const std::array<std::uint64_t, 3> first = {rng(), rng(), rng()};
  EXPECT_EQ(first, (std::array<std::uint64_t, 3>{12966619160104079557ULL, 9600361134598540522ULL,
                                                 10590380919521690900ULL}));
}

TEST(Rng, BelowIsUniform) {
  Rng rng(7);
  std::array<int, 7> counts{};
  constexpr int kDraws = 70'000;
  for (int i = 0; i < kDraws; ++i) ++counts[rng.below(7)];
  double chi2 = 0;
  for (int count : counts) chi2 += std::pow(count - kDraws / 7.0, 2) / (kDraws / 7.0);
  EXPECT_LT(chi2, 22.5);  // 0.1 % point of chi-squared with 6 degrees of freedom
}

TEST(Rng, GaussianHasMeanZeroAndVarianceOne) {
  Rng rng(3);
  constexpr int kDraws = 200'000;
  double sum = 0, squares = 0;
  int beyond_two = 0;
  for (int i = 0; i < kDraws; ++i) {
    const double z = static_cast<double>(rng.gaussian_q16()) / 65536;
    sum += z;
    squares += z * z;
    beyond_two += std::abs(z) > 2 ? 1 : 0;
  }
  EXPECT_NEAR(sum / kDraws, 0, 4 / std::sqrt(kDraws));
  EXPECT_NEAR(squares / kDraws, 1, 0.02);
  EXPECT_NEAR(static_cast<double>(beyond_two) / kDraws, 0.0455, 0.004);
}

TEST(Rng, ShuffleIsAPermutationAndSeeded) {
  std::vector<int> items(100);
  std::iota(items.begin(), items.end(), 0);
  std::vector<int> again = items;
  Rng a(5), b(5);
  shuffle(items, a);
  shuffle(again, b);
  EXPECT_EQ(items, again);
  std::vector<int> sorted = items;
  std::sort(sorted.begin(), sorted.end());
  for (int i = 0; i < 100; ++i) EXPECT_EQ(sorted[static_cast<std::size_t>(i)], i);
  EXPECT_NE(items, sorted);
}

TEST(KeyOf, DependsOnEveryPartAndTheirOrder) {
  EXPECT_NE(key_of({1, 2}), key_of({2, 1}));
  EXPECT_NE(key_of({1}), key_of({1, 0}));
  EXPECT_NE(key_of({0, 0}), key_of({0, 1}));
  EXPECT_EQ(key_of({1, 2, 3}), key_of({1, 2, 3}));
}

}  // namespace
}  // namespace sonde
