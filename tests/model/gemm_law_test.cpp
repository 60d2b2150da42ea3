// The modelled GEMM against closed formulas, the power cap, and the published figures.
#include <gtest/gtest.h>

#include <algorithm>

#include "core/rng.h"
#include "device/registry.h"
#include "device/sim/gemm_model.h"
#include "gemm_sweep/shapes.h"
#include "tests/model/chip_text.h"

namespace sonde::sim {
namespace {

constexpr std::int64_t kReference = 1'650'000;  // kHz
constexpr double kPeak = 28 * 8192 * 1.65e9;
constexpr double kHbm = 1.6384e12;

double seconds(Ticks ticks) { return static_cast<double>(ticks) / 1e12; }

Chip uncapped(const std::string& text = chip_text()) {
  return parse_chip(with(text, "cap = { value = 600", "cap = { value = 9000"), kChipFile);
}

TEST(GemmLaw, CubeBoundShapeTakesItsMmadCycles) {
  // 7 x 4 tiles of 256 x 256: one for each Cube core, 256 cycles for each 16 of k.
  const Chip chip = shipped_chip();
  const std::int64_t k = 65536;
  const GemmPlan plan = plan_gemm(chip, 7 * 256, 4 * 256, k, {256, 256}, 1);
  EXPECT_EQ(plan.units, 28);
  EXPECT_EQ(plan.cube_cycles, 28 * 256 * (k / 16));
  // First operands: (256 + 256) x 256 x 2 B; result: 256 x 256 x 2 B; both at 100 B/cycle.
  const std::int64_t fill = (2 * 256 * 256 * 2 + 99) / 100;
  const std::int64_t store = (256 * 256 * 2 + 99) / 100;
  EXPECT_EQ(plan.core_cycles, 256 * (k / 16) + fill + store);
  const double launch = 5.5e-6 + 78 / 1.65e9 + 316e-9;
  EXPECT_NEAR(seconds(gemm_time(chip, plan, kReference)),
              launch + static_cast<double>(plan.core_cycles) / 1.65e9, 1e-9);
  EXPECT_EQ(gemm_bound(chip, plan, kReference), "Cube cores");
}

TEST(GemmLaw, TimeOfTheCubesGoesWithTheClock) {
  const Chip chip = shipped_chip();
  const GemmPlan plan = plan_gemm(chip, 7 * 256, 4 * 256, 65536, {256, 256}, 1);
  EXPECT_NEAR(
      seconds(gemm_time(chip, plan, kReference / 2)) / seconds(gemm_time(chip, plan, kReference)),
      2, 0.02);
}

TEST(GemmLaw, MemoryBoundShapeTakesItsBytes) {
  const Chip chip = shipped_chip();
  const GemmPlan plan = best_plan(chip, 1, 131072, 8192, nullptr);
  const double bytes = 2.0 * (8192 + 131072.0 * 8192 + 131072);
  EXPECT_EQ(static_cast<double>(plan.hbm_bytes), bytes);
  EXPECT_EQ(gemm_bound(chip, plan, kReference), "HBM");
  EXPECT_NEAR(seconds(gemm_time(chip, plan, kReference)),
              5.5e-6 + 78 / 1.65e9 + 316e-9 + bytes / kHbm, 1e-9);
  EXPECT_EQ(sustained_clock_khz(chip, plan), kReference);
}

TEST(GemmLaw, PowerCapIsAFixedPoint) {
  const Chip chip = shipped_chip();
  const GemmPlan busy = best_plan(chip, 16384, 8192, 8192, nullptr);
  const std::int64_t clock = sustained_clock_khz(chip, busy);
  EXPECT_LE(gemm_power_mw(chip, busy, clock), 600'000);
  EXPECT_GE(gemm_power_mw(chip, busy, clock), 599'990);
  EXPECT_GT(gemm_power_mw(chip, busy, clock + 10), 600'000);
  EXPECT_GT(clock, 1'500'000);
  EXPECT_LT(clock, 1'550'000);
  // 203.3 W + 503 W (f / 1650 MHz)^3 x the share of time in which the Cubes multiply.
  const double f = static_cast<double>(clock) / kReference;
  const double share = static_cast<double>(busy.cube_cycles) / 28 /
                       (static_cast<double>(clock) * 1e3) / seconds(gemm_time(chip, busy, clock));
  EXPECT_GT(share, 0.9);
  EXPECT_NEAR(203.3 + 503 * f * f * f * share, 600, 0.05);
  EXPECT_EQ(sustained_clock_khz(uncapped(), busy), kReference);
}

TEST(GemmLaw, AnyDimensionIsPaddedToTheCubesEdge) {
  const Chip chip = shipped_chip();
  const GemmPlan one = plan_gemm(chip, 1, 1, 1, {128, 128}, 1);
  EXPECT_EQ(one.cube_cycles, 1);
  EXPECT_EQ(one.macs, 1);
  const GemmPlan odd = plan_gemm(chip, 17, 33, 65, {128, 128}, 1);
  EXPECT_EQ(odd.cube_cycles, 2 * 3 * 5);
  EXPECT_EQ(odd.macs, 17 * 33 * 65);
  const GemmPlan edges = plan_gemm(chip, 300, 129, 100, {128, 128}, 3);
  EXPECT_EQ(edges.macs, 300 * 129 * 100);
  EXPECT_EQ(edges.splits, 3);
  EXPECT_EQ(edges.units, 3 * 2 * 3);
  // Rows 8 + 8 + 3 blocks, columns 8 + 1, depth 48 + 48 + 4 -> 3 + 3 + 1.
  EXPECT_EQ(edges.cube_cycles, 19 * 9 * 7);
}

TEST(GemmLaw, WavesOfTilesStep) {
  // One tile more than there are Cubes takes twice as long.
  const Chip chip = uncapped();
  const auto time = [&](std::int64_t tiles) {
    return seconds(
        gemm_time(chip, plan_gemm(chip, 128 * tiles, 256, 1 << 18, {128, 256}, 1), kReference));
  };
  EXPECT_NEAR(time(28), time(14), 0.01 * time(28));
  EXPECT_NEAR(time(29) / time(28), 2, 0.02);
}

TEST(GemmLaw, OperandsBeyondTheL2AreReadAgain) {
  const Chip chip = shipped_chip();
  // 24 MB in all: each byte once.
  EXPECT_EQ(plan_gemm(chip, 2048, 2048, 2048, {256, 256}, 1).hbm_bytes, 3 * 2048 * 2048 * 2);
  // A is one strip of 64 MiB: B (470 MB) streams past it once.
  const std::int64_t c = std::int64_t{4096} * 28672 * 2;
  const std::int64_t a = std::int64_t{4096} * 8192 * 2;
  const std::int64_t b = std::int64_t{8192} * 28672 * 2;
  EXPECT_EQ(plan_gemm(chip, 4096, 28672, 8192, {256, 256}, 1).hbm_bytes, a + b + c);
  EXPECT_EQ(plan_gemm(chip, 8192, 28672, 8192, {256, 256}, 1).hbm_bytes, 2 * a + 2 * b + 2 * c);
}

TEST(GemmLaw, FewTilesAreSplitAlongK) {
  const Chip chip = shipped_chip();
  const GemmPlan best = best_plan(chip, 16, 256, 65536, nullptr);
  EXPECT_GT(best.splits, 1);
  EXPECT_LT(gemm_time(chip, best, kReference),
            gemm_time(chip, plan_gemm(chip, 16, 256, 65536, best.tile, 1), kReference) / 2);
  EXPECT_EQ(best_plan(chip, 8192, 8192, 8192, nullptr).splits, 1);
}

TEST(GemmLaw, AutoIsTheBestOfAllTiles) {
  const Chip chip = shipped_chip();
  Rng rng(3);
  for (int i = 0; i < 40; ++i) {
    const auto size = [&] { return std::int64_t{1} << rng.below(13); };
    const std::int64_t m = size(), n = size() + 3, k = size();
    const Ticks chosen = gemm_time(chip, best_plan(chip, m, n, k, nullptr), kReference);
    for (const Chip::Tile& tile : chip.gemm_tiles) {
      EXPECT_LE(chosen, gemm_time(chip, best_plan(chip, m, n, k, &tile), kReference));
    }
  }
}

TEST(GemmLaw, NeverAboveTheRoofs) {
  const Chip chip = shipped_chip();
  Rng rng(4);
  for (int i = 0; i < 300; ++i) {
    const auto size = [&] { return static_cast<std::int64_t>(1 + rng.below(1U << rng.below(15))); };
    GemmWork work;
    work.m = size();
    work.n = size();
    work.k = size();
    const GemmPlan plan = best_plan(chip, work.m, work.n, work.k, nullptr);
    const double time = seconds(gemm_time(chip, plan, sustained_clock_khz(chip, plan)));
    EXPECT_LE(work.flop() / time, kPeak);
    EXPECT_LE(work.least_bytes() / time, kHbm);
    EXPECT_GE(static_cast<double>(plan.hbm_bytes), work.least_bytes());
    EXPECT_EQ(plan.macs, work.m * work.n * work.k);
  }
}

TEST(GemmLaw, MakersGemmOn32Cores) {
  // 8192^3 took 2572.0 us on 32 cores; a short run, in which no clock sag was seen.
  const Chip chip = uncapped(with(chip_text(), "[[3, 3, 3, 3, 2, 0], [3, 3, 3, 3, 2, 0]]",
                                  "[[3, 3, 3, 3, 3, 1], [3, 3, 3, 3, 3, 1]]"));
  const GemmPlan plan = best_plan(chip, 8192, 8192, 8192, nullptr);
  EXPECT_NEAR(seconds(gemm_time(chip, plan, kReference)) * 1e6, 2572.0, 0.05 * 2572.0);
}

TEST(GemmLaw, PublishedFiguresOverTheShapeSet) {
  const auto device = open_device("sim:950pr_9579?noise=off");
  std::vector<double> fractions, clocks, watts;
  double best = 0;
  for (const Shape& shape : standard_shapes()) {
    const GemmWork work = work_of(shape);
    device->gemm()->prepare(work);
    const Sample sample = device->gemm()->run({});
    ASSERT_TRUE(device->gemm()->verify().ok);
    const double roof = std::max(work.flop() / kPeak, work.least_bytes() / kHbm);
    fractions.push_back(roof / sample.elapsed.value());
    best = std::max(best, fractions.back());
    if (work.intensity() >= 2 * 236) {  // well above the ridge
      clocks.push_back(megahertz(*sample.clock));
      watts.push_back(device->telemetry().power->value());
    }
  }
  const auto median = [](std::vector<double> values) {
    std::nth_element(values.begin(),
                     values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2), values.end());
    return values[values.size() / 2];
  };
  EXPECT_EQ(fractions.size(), 1055U);
  EXPECT_NEAR(median(fractions), 0.86, 0.03);
  EXPECT_NEAR(best, 0.997, 0.005);
  EXPECT_NEAR(median(watts), 599.5, 0.02 * 599.5);
  EXPECT_NEAR(median(clocks), 1525, 0.02 * 1525);
}

}  // namespace
}  // namespace sonde::sim
