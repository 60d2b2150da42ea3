// The modelled GEMM against closed formulas, the power cap, and the published figures.
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>

#include "core/rng.h"
#include "device/registry.h"
#include "device/sim/gemm_model.h"
#include "device/sim/governor.h"
#include "gemm_sweep/shapes.h"
#include "tests/model/chip_text.h"

namespace sonde::sim {
namespace {

constexpr std::int64_t kReference = 1'650'000;  // kHz
constexpr double kPeak = 28 * 8192 * 1.65e9;
constexpr double kHbm = 1.6384e12;

double seconds(Ticks ticks) { return static_cast<double>(ticks) / 1e12; }

constexpr std::int64_t kSettled = 1'000'000;  // ppm: a load that has lasted for long

GemmShape shape_of(std::int64_t m, std::int64_t n, std::int64_t k, std::int64_t cores = 28,
                   const char* dtype = "bf16") {
  return {m, n, k, cores, gemm_type(dtype)};
}

GemmPlan plan_of(const Chip& chip, const GemmShape& shape, const Chip::Tile& tile,
                 std::int64_t splits) {
  const auto plan = plan_gemm(chip, shape, tile, splits);
  EXPECT_TRUE(plan);
  return plan.value_or(GemmPlan{});
}

GemmPlan best_of(const Chip& chip, const GemmShape& shape, const Chip::Tile* tile = nullptr) {
  const auto plan = best_plan(chip, shape, tile);
  EXPECT_TRUE(plan);
  return plan.value_or(GemmPlan{});
}

Chip uncapped(const std::string& text = chip_text()) {
  return parse_chip(with(text, "cap = { value = 600", "cap = { value = 9000"), kChipFile);
}

TEST(GemmLaw, CubeBoundShapeTakesItsMmadCycles) {
  // 7 x 4 tiles of 256 x 256: one for each Cube core, 256 cycles for each 16 of k.
  const Chip chip = shipped_chip();
  const std::int64_t k = 65536;
  const GemmPlan plan =
      plan_of(chip, shape_of(std::int64_t{7} * 256, std::int64_t{4} * 256, k), {256, 256}, 1);
  EXPECT_EQ(plan.units, 28);
  EXPECT_EQ(plan.pipes.cube, std::int64_t{28} * 256 * (k / 16));
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
  const GemmPlan plan =
      plan_of(chip, shape_of(std::int64_t{7} * 256, std::int64_t{4} * 256, 65536), {256, 256}, 1);
  EXPECT_NEAR(
      seconds(gemm_time(chip, plan, kReference / 2)) / seconds(gemm_time(chip, plan, kReference)),
      2, 0.02);
}

TEST(GemmLaw, MemoryBoundShapeTakesItsBytes) {
  const Chip chip = shipped_chip();
  const GemmPlan plan = best_of(chip, shape_of(1, 131072, 8192));
  const double bytes = 2.0 * (8192 + 131072.0 * 8192 + 131072);
  EXPECT_EQ(static_cast<double>(plan.hbm_bytes), bytes);
  EXPECT_EQ(gemm_bound(chip, plan, kReference), "HBM");
  EXPECT_NEAR(seconds(gemm_time(chip, plan, kReference)),
              5.5e-6 + 78 / 1.65e9 + 316e-9 + bytes / kHbm, 1e-9);
  EXPECT_EQ(governed_clock_khz(chip, plan, kSettled), kReference);
}

TEST(GemmLaw, PowerCapIsAFixedPoint) {
  const Chip chip = shipped_chip();
  const GemmPlan busy = best_of(chip, shape_of(16384, 8192, 8192));
  const std::int64_t clock = governed_clock_khz(chip, busy, kSettled);
  EXPECT_LE(gemm_power_mw(chip, busy, clock), 600'000);
  EXPECT_GE(gemm_power_mw(chip, busy, clock), 599'990);
  EXPECT_GT(gemm_power_mw(chip, busy, clock + 10), 600'000);
  EXPECT_GT(clock, 1'500'000);
  EXPECT_LT(clock, 1'550'000);
  // 203.3 W + 503 W (f / 1650 MHz)^3 x the share of time in which the Cubes multiply.
  const double f = static_cast<double>(clock) / kReference;
  const double share = static_cast<double>(busy.pipes.cube) / 28 /
                       (static_cast<double>(clock) * 1e3) / seconds(gemm_time(chip, busy, clock));
  EXPECT_GT(share, 0.9);
  EXPECT_NEAR(203.3 + 503 * f * f * f * share, 600, 0.05);
  EXPECT_EQ(governed_clock_khz(uncapped(), busy, kSettled), kReference);
}

TEST(GemmLaw, AnyDimensionIsPaddedToTheCubesEdge) {
  const Chip chip = shipped_chip();
  const GemmPlan one = plan_of(chip, shape_of(1, 1, 1), {128, 128}, 1);
  EXPECT_EQ(one.pipes.cube, 1);
  EXPECT_EQ(one.macs, 1);
  const GemmPlan odd = plan_of(chip, shape_of(17, 33, 65), {128, 128}, 1);
  EXPECT_EQ(odd.pipes.cube, 2 * 3 * 5);
  EXPECT_EQ(odd.macs, 17 * 33 * 65);
  const GemmPlan edges = plan_of(chip, shape_of(300, 129, 100), {128, 128}, 3);
  EXPECT_EQ(edges.macs, 300 * 129 * 100);
  EXPECT_EQ(edges.splits, 3);
  EXPECT_EQ(edges.units, 3 * 2 * 3);
  // Rows 8 + 8 + 3 blocks, columns 8 + 1, depth 48 + 48 + 4 -> 3 + 3 + 1.
  EXPECT_EQ(edges.pipes.cube, 19 * 9 * 7);
}

TEST(GemmLaw, WavesOfTilesStep) {
  // One tile more than there are Cubes takes twice as long.
  const Chip chip = uncapped();
  const auto time = [&](std::int64_t tiles) {
    return seconds(gemm_time(
        chip, plan_of(chip, shape_of(128 * tiles, 256, 1 << 18), {128, 256}, 1), kReference));
  };
  EXPECT_NEAR(time(28), time(14), 0.01 * time(28));
  EXPECT_NEAR(time(29) / time(28), 2, 0.02);
}

TEST(GemmLaw, OperandsBeyondTheL2AreReadAgain) {
  const Chip chip = shipped_chip();
  // 24 MB in all: each byte once.
  EXPECT_EQ(plan_of(chip, shape_of(2048, 2048, 2048), {256, 256}, 1).hbm_bytes,
            3 * 2048 * 2048 * 2);
  // A is one strip of 64 MiB: B (470 MB) streams past it once.
  const std::int64_t c = std::int64_t{4096} * 28672 * 2;
  const std::int64_t a = std::int64_t{4096} * 8192 * 2;
  const std::int64_t b = std::int64_t{8192} * 28672 * 2;
  EXPECT_EQ(plan_of(chip, shape_of(4096, 28672, 8192), {256, 256}, 1).hbm_bytes, a + b + c);
  EXPECT_EQ(plan_of(chip, shape_of(8192, 28672, 8192), {256, 256}, 1).hbm_bytes,
            2 * a + 2 * b + 2 * c);
}

TEST(GemmLaw, FewTilesAreSplitAlongK) {
  const Chip chip = shipped_chip();
  const GemmPlan best = best_of(chip, shape_of(16, 256, 65536));
  EXPECT_GT(best.splits, 1);
  EXPECT_LT(gemm_time(chip, best, kReference),
            gemm_time(chip, plan_of(chip, shape_of(16, 256, 65536), best.tile, 1), kReference) / 2);
  EXPECT_EQ(best_of(chip, shape_of(8192, 8192, 8192)).splits, 1);
}

TEST(GemmLaw, AutoIsTheBestOfAllTiles) {
  const Chip chip = shipped_chip();
  Rng rng(3);
  for (int i = 0; i < 40; ++i) {
    const auto size = [&] { return std::int64_t{1} << rng.below(13); };
    const std::int64_t m = size(), n = size() + 3, k = size();
    const Ticks chosen = gemm_time(chip, best_of(chip, shape_of(m, n, k)), kReference);
    for (const Chip::Tile& tile : chip.gemm_tiles) {
      EXPECT_LE(chosen, gemm_time(chip, best_of(chip, shape_of(m, n, k), &tile), kReference));
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
    const GemmPlan plan = best_of(chip, shape_of(work.m, work.n, work.k));
    const double time = seconds(gemm_time(chip, plan, governed_clock_khz(chip, plan, kSettled)));
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
  const GemmPlan plan = best_of(chip, shape_of(8192, 8192, 8192, chip.cubes()));
  EXPECT_NEAR(seconds(gemm_time(chip, plan, kReference)) * 1e6, 2572.0, 0.05 * 2572.0);
  // The Cubes were busy for 2564.8 us of it.
  EXPECT_NEAR(seconds(pipe_times(chip, plan, kReference).cube) * 1e6, 2564.8, 0.05 * 2564.8);
}

TEST(GemmLaw, EachTypeHasItsOwnPeakAndBytes) {
  const Chip chip = uncapped();
  const struct {
    const char* dtype;
    double flop_per_cycle;
    double bytes;
  } cases[] = {{"bf16", 8192, 2},  {"fp16", 8192, 2}, {"fp8", 16384, 1},
               {"int8", 16384, 1}, {"fp32", 512, 4},  {"mxfp4", 32768, 17.0 / 32}};
  for (const auto& c : cases) {
    // Whole waves of whole tiles: the Cubes are busy but for filling, storing and launching.
    GemmWork work;
    work.m = std::int64_t{14} * 256;
    work.n = std::int64_t{16} * 256;
    work.k = 32768;
    work.dtype = c.dtype;
    const GemmPlan plan = best_of(chip, shape_of(work.m, work.n, work.k, 28, c.dtype));
    const double time = seconds(gemm_time(chip, plan, kReference));
    const double peak = 28 * c.flop_per_cycle * 1.65e9;
    EXPECT_GT(work.flop() / time, 0.93 * peak) << c.dtype;
    EXPECT_LE(work.flop() / time, peak) << c.dtype;
    EXPECT_NEAR(static_cast<double>(plan.pipes.cube) * c.flop_per_cycle, work.flop(), 1) << c.dtype;
    // A row vector: each byte of B once.
    work.m = 1;
    const GemmPlan thin = best_of(chip, shape_of(1, work.n, work.k, 28, c.dtype));
    const double result = c.bytes == 4 ? 4 : 2;
    const double bytes = c.bytes * 32768 * (1 + 4096) + result * 4096;
    EXPECT_EQ(static_cast<double>(thin.hbm_bytes), bytes) << c.dtype;
    EXPECT_EQ(work.least_bytes(), bytes) << c.dtype;
  }
}

TEST(GemmLaw, OperandsOfATileFitL0Twice) {
  const Chip chip = shipped_chip();
  for (const GemmType& type : kGemmTypes) {
    for (const Chip::Tile& tile : chip.gemm_tiles) {
      const GemmShape shape = shape_of(8192, 8192, 8192, 28, std::string(type.name).c_str());
      const GemmPlan plan = plan_of(chip, shape, tile, 1);
      EXPECT_TRUE(plan.double_l0);
      const std::int64_t wide = std::max(tile.rows, tile.columns);
      EXPECT_LE(2 * shape.bytes(wide * plan.step), 65536) << type.name;
      EXPECT_EQ(plan.step % chip.depth_per_cycle(std::string(type.name)), 0) << type.name;
    }
  }
  // The maker's tile in FP16: 256 x 256 x 64.
  EXPECT_EQ(plan_of(chip, shape_of(8192, 8192, 8192, 28, "fp16"), {256, 256}, 1).step, 64);
}

TEST(GemmLaw, OneBufferInL0TakesTurns) {
  // A tile of 2048 x 32 leaves L0A room for 16 of k once, not twice: no overlap of L0's feed.
  Chip chip = shipped_chip();
  chip.cube.l0c_bytes = 1 << 20;
  chip.subsystem_port.bytes_per_cycle = 1000;  // so that memory is not what bounds it
  const GemmShape shape = shape_of(std::int64_t{2048} * 28, 32, 4096);
  const GemmPlan plan = plan_of(chip, shape, {2048, 32}, 1);
  EXPECT_FALSE(plan.double_l0);
  EXPECT_EQ(plan.step, 16);
  const std::int64_t multiply = std::int64_t{128} * 2 * (4096 / 16);
  const std::int64_t feed = 2048 * 4096 * 2 / 256;
  EXPECT_GE(plan.core_cycles, multiply + feed);
  EXPECT_LE(plan.core_cycles, (multiply + feed) * 11 / 10);
  // And with less there is no way at all.
  EXPECT_FALSE(plan_gemm(chip, shape_of(4096, 32, 64), {4096, 32}, 1));
}

TEST(GemmLaw, PipesMoveEveryByteOnce) {
  // Bytes out are bytes in: C through the Fixpipe, and each unit's operands through MTE2.
  const Chip chip = shipped_chip();
  const GemmPlan plan = plan_of(chip, shape_of(1024, 1024, 2560), {128, 256}, 1);
  EXPECT_EQ(plan.units, 8 * 4);
  EXPECT_NEAR(static_cast<double>(plan.pipes.fixpipe) * 100, 1024.0 * 1024 * 2, 32 * 100);
  EXPECT_NEAR(static_cast<double>(plan.pipes.mte2) * 100, 32.0 * (128 + 256) * 2560 * 2, 32 * 100);
  EXPECT_EQ(plan.pipes.mte1 * 256, 32 * 256 * 2560 * 2);
  EXPECT_EQ(plan.pipes.cube * 4096, std::int64_t{1024} * 1024 * 2560);
}

TEST(GemmLaw, PipesAreNeverBusierThanTheKernelIsLong) {
  const Chip chip = shipped_chip();
  Rng rng(6);
  for (int i = 0; i < 200; ++i) {
    const auto size = [&] { return static_cast<std::int64_t>(1 + rng.below(1U << rng.below(15))); };
    const GemmPlan plan = best_of(chip, shape_of(size(), size(), size()));
    const Ticks time = gemm_time(chip, plan, kReference);
    const PipeTimes busy = pipe_times(chip, plan, kReference);
    for (Ticks pipe : {busy.mte2, busy.mte1, busy.cube, busy.fixpipe}) EXPECT_LT(pipe, time);
    EXPECT_GT(busy.cube, 0);
  }
}

TEST(GemmLaw, MoreCoresAreNeverSlower) {
  const Chip chip = uncapped();
  Rng rng(7);
  for (int i = 0; i < 60; ++i) {
    const auto size = [&] { return static_cast<std::int64_t>(1 + rng.below(1U << rng.below(14))); };
    const std::int64_t m = size(), n = size(), k = size();
    Ticks before = std::numeric_limits<Ticks>::max();
    for (std::int64_t cores = 1; cores <= 28; ++cores) {
      const Ticks now = gemm_time(chip, best_of(chip, shape_of(m, n, k, cores)), kReference);
      EXPECT_LE(now, before) << m << "x" << n << "x" << k << " on " << cores;
      before = now;
    }
  }
}

TEST(GemmLaw, MoreOfAnyDimensionIsNeverFaster) {
  const Chip chip = uncapped();
  const auto time = [&](std::int64_t m, std::int64_t n, std::int64_t k) {
    return gemm_time(chip, best_of(chip, shape_of(m, n, k)), kReference);
  };
  for (std::int64_t size : {64L, 1024L, 4096L}) {
    Ticks before[3] = {};
    for (std::int64_t grow = 128; grow <= 16384; grow *= 2) {
      const Ticks now[3] = {time(grow, size, size), time(size, grow, size), time(size, size, grow)};
      for (int d = 0; d < 3; ++d) {
        EXPECT_GE(now[d], before[d]) << size << " " << grow << " " << d;
        before[d] = now[d];
      }
    }
  }
}

TEST(GemmLaw, UnalignedRowsCostMore) {
  const Chip chip = shipped_chip();
  const auto time = [&](std::int64_t n) {
    const GemmPlan plan = best_of(chip, shape_of(1, n, 16384));
    return seconds(gemm_time(chip, plan, kReference)) / static_cast<double>(n);
  };
  // 203.0 for 187.2 us into L1 (maker), of all but the launch.
  EXPECT_NEAR(time(65536 + 1) / time(65536), 203.0 / 187.2, 0.005);
}

TEST(GemmLaw, ARidgeSeparatesTheBounds) {
  // A square product of edge s has s / 3 FLOP a byte; the ridge of this chip is 231.
  const Chip chip = uncapped();
  const auto bound = [&](std::int64_t m) {
    return gemm_bound(chip, best_of(chip, shape_of(m, 8192, 8192)), kReference);
  };
  EXPECT_EQ(bound(64), "HBM");
  EXPECT_EQ(bound(128), "HBM");
  EXPECT_EQ(bound(512), "Cube cores");
  EXPECT_EQ(bound(4096), "Cube cores");
}

TEST(GemmLaw, PublishedFiguresOverTheShapeSet) {
  const auto device = open_device("sim:950pr_9579?noise=off");
  std::vector<double> fractions, clocks, watts;
  double best = 0;
  for (const Shape& shape : standard_shapes()) {
    const GemmWork work = work_of(shape);
    device->gemm()->prepare(work);
    device->resume_at(Seconds(5));  // in a sweep that has lasted for long
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
