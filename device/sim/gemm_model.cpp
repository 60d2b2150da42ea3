#include "device/sim/gemm_model.h"

#include <algorithm>

#include "device/sim/traffic.h"

namespace sonde::sim {

namespace {

constexpr std::int64_t kElementBytes = 2;  // BF16

std::int64_t padded(std::int64_t count, std::int64_t edge) { return divide_up(count, edge) * edge; }

Ticks ticks_at(std::int64_t cycles, std::int64_t clock_khz) {
  return multiply_divide_up(cycles, kTicksPerSecond / 1000, clock_khz);
}

/// Cycles of one unit: rows x columns of C over a depth of k.
struct Unit {
  std::int64_t multiply = 0;  ///< of the matrix unit
  std::int64_t loop = 0;      ///< over the depth: the slowest of matrix unit, L0 feed and port
  std::int64_t store = 0;     ///< of its part of C
  std::int64_t fill = 0;      ///< until the first operands are in L1
};

Unit unit_of(const Chip& chip, std::int64_t rows, std::int64_t columns, std::int64_t depth,
             std::int64_t out_bytes) {
  const std::int64_t edge = chip.cube.edge;
  const std::int64_t port = chip.subsystem_port.bytes_per_cycle;
  const std::int64_t wide = std::max(padded(rows, edge), padded(columns, edge));
  Unit unit;
  unit.multiply = divide_up(rows, edge) * divide_up(columns, edge) * divide_up(depth, edge);
  const std::int64_t feed =
      divide_up(wide * padded(depth, edge) * kElementBytes, chip.cube.l0_bytes_per_cycle);
  const std::int64_t read = divide_up((rows + columns) * depth * kElementBytes, port);
  unit.loop = std::max({unit.multiply, feed, read});
  unit.store = divide_up(rows * columns * out_bytes, port);
  // The operands come in pieces of a slot of L1; the first one is waited for.
  const std::int64_t slot = chip.cube.l1_bytes / chip.gemm_l1_slots;
  const std::int64_t first = std::min(depth, std::max(slot / (wide * kElementBytes), edge));
  unit.fill = divide_up((rows + columns) * first * kElementBytes, port);
  return unit;
}

/// Bytes from and to the HBM: operands start there. Two ways to meet few of them twice: a strip of
/// one operand that fills half of the L2 stays while the other streams past, once for each strip;
/// or the tiles of a wave lie in a block and walk along k together, so that each operand is read
/// once for each row or column of blocks. The better one counts.
std::int64_t hbm_traffic(const Chip& chip, std::int64_t m, std::int64_t n, std::int64_t k,
                         const Chip::Tile& tile) {
  const std::int64_t a = m * k * kElementBytes;
  const std::int64_t b = k * n * kElementBytes;
  const std::int64_t strip = std::max<std::int64_t>(chip.l2_bytes() / 2, 1);
  std::int64_t read = a + b;
  if (read > strip) {
    read = std::min(a + b * divide_up(a, strip), b + a * divide_up(b, strip));
    for (std::int64_t down = 1; down <= chip.cubes(); ++down) {
      const std::int64_t across = chip.cubes() / down;
      read = std::min(read,
                      a * divide_up(n, across * tile.columns) + b * divide_up(m, down * tile.rows));
    }
  }
  return read + m * n * kElementBytes;
}

struct Times {
  Ticks cores = 0;
  Ticks hbm = 0;
};

Times times_of(const Chip& chip, const GemmPlan& plan, std::int64_t clock_khz) {
  return {ticks_at(plan.core_cycles, clock_khz),
          multiply_divide_up(plan.hbm_bytes, kTicksPerSecond, chip.memory.hbm_bytes_per_s)};
}

}  // namespace

GemmPlan plan_gemm(const Chip& chip, std::int64_t m, std::int64_t n, std::int64_t k,
                   const Chip::Tile& tile, std::int64_t splits) {
  GemmPlan plan;
  plan.tile = tile;
  const std::int64_t depth = padded(divide_up(k, splits), chip.cube.edge);
  plan.splits = divide_up(k, depth);
  const std::int64_t out = plan.splits > 1 ? Chip::Cube::kAccumulatorBytes : kElementBytes;
  const std::int64_t held = padded(std::min(m, tile.rows), chip.cube.edge) *
                            padded(std::min(n, tile.columns), chip.cube.edge) *
                            Chip::Cube::kAccumulatorBytes;
  // Room for two results in L0C: one is stored while the next is summed up.
  const bool overlapped = 2 * held <= chip.cube.l0c_bytes;
  // Units of equal shape cost the same: whole or last rows, columns and depth.
  const auto part = [](std::int64_t index, std::int64_t size, std::int64_t whole) {
    return std::min(whole - index * size, size);
  };
  const std::int64_t rows = divide_up(m, tile.rows);
  const std::int64_t columns = divide_up(n, tile.columns);
  Unit costs[2][2][2];
  for (int r = 0; r < 2; ++r) {
    for (int c = 0; c < 2; ++c) {
      for (int d = 0; d < 2; ++d) {
        costs[r][c][d] = unit_of(chip, part(r == 0 ? 0 : rows - 1, tile.rows, m),
                                 part(c == 0 ? 0 : columns - 1, tile.columns, n),
                                 part(d == 0 ? 0 : plan.splits - 1, depth, k), out);
      }
    }
  }
  std::vector<std::int64_t> busy(static_cast<std::size_t>(chip.cubes()), 0);
  std::size_t core = 0;
  for (std::int64_t r = 0; r < rows; ++r) {
    for (std::int64_t c = 0; c < columns; ++c) {
      for (std::int64_t d = 0; d < plan.splits; ++d) {
        const Unit& unit = costs[r == rows - 1][c == columns - 1][d == plan.splits - 1];
        std::int64_t& cycles = busy[core];
        core = core + 1 == busy.size() ? 0 : core + 1;
        if (cycles == 0) cycles = unit.fill + (overlapped ? unit.store : 0);
        cycles += overlapped ? std::max(unit.loop, unit.store) : unit.loop + unit.store;
        plan.cube_cycles += unit.multiply;
        plan.macs += part(r, tile.rows, m) * part(c, tile.columns, n) * part(d, depth, k);
        ++plan.units;
      }
    }
  }
  plan.core_cycles = *std::max_element(busy.begin(), busy.end());
  plan.hbm_bytes = hbm_traffic(chip, m, n, k, tile);
  if (plan.splits > 1) plan.part_bytes = plan.splits * m * n * Chip::Cube::kAccumulatorBytes;
  return plan;
}

Ticks gemm_time(const Chip& chip, const GemmPlan& plan, std::int64_t clock_khz) {
  const Times times = times_of(chip, plan, clock_khz);
  Ticks total = chip.operator_call + chip.kernel_launch +
                ticks_at(chip.mte.startup_cycles, clock_khz) + mean_latency(chip, 0) +
                std::max(times.cores, times.hbm);
  if (plan.splits > 1) {
    // The parts stay in the L2; all cores read them through their ports and add them.
    const std::int64_t ports = chip.subsystems() * chip.subsystem_port.bytes_per_cycle;
    total += chip.core_barrier + mean_latency(chip, 1'000'000) +
             ticks_at(divide_up(plan.part_bytes, ports), clock_khz);
  }
  return total;
}

std::string gemm_bound(const Chip& chip, const GemmPlan& plan, std::int64_t clock_khz) {
  const Times times = times_of(chip, plan, clock_khz);
  return times.hbm > times.cores ? "HBM" : "Cube cores";
}

GemmPlan best_plan(const Chip& chip, std::int64_t m, std::int64_t n, std::int64_t k,
                   const Chip::Tile* tile) {
  const std::int64_t reference = chip.clock_hz / 1000;
  std::vector<GemmPlan> plans;
  for (const Chip::Tile& candidate : chip.gemm_tiles) {
    if (tile != nullptr && (candidate.rows != tile->rows || candidate.columns != tile->columns)) {
      continue;
    }
    plans.push_back(plan_gemm(chip, m, n, k, candidate, 1));
    const std::int64_t spare = chip.cubes() / plans.back().units;
    if (spare > 1) plans.push_back(plan_gemm(chip, m, n, k, candidate, spare));
  }
  return *std::min_element(plans.begin(), plans.end(), [&](const GemmPlan& a, const GemmPlan& b) {
    return gemm_time(chip, a, reference) < gemm_time(chip, b, reference);
  });
}

std::int64_t gemm_power_mw(const Chip& chip, const GemmPlan& plan, std::int64_t clock_khz) {
  const std::int64_t reference = chip.clock_hz / 1000;
  Int128 dynamic = chip.power.cube_mw;
  for (int factor = 0; factor < 3; ++factor) dynamic = dynamic * clock_khz / reference;
  const Ticks busy = ticks_at(divide_up(plan.cube_cycles, chip.cubes()), clock_khz);
  dynamic = dynamic * busy / gemm_time(chip, plan, clock_khz);
  return chip.power.idle_mw + static_cast<std::int64_t>(dynamic);
}

std::int64_t sustained_clock_khz(const Chip& chip, const GemmPlan& plan) {
  const auto fits = [&](std::int64_t khz) {
    return gemm_power_mw(chip, plan, khz) <= chip.power.cap_mw;
  };
  std::int64_t high = chip.clock_hz / 1000;
  if (fits(high)) return high;
  std::int64_t low = 1;  // fits: nothing of the dynamic power is left
  while (high - low > 1) {
    const std::int64_t middle = low + (high - low) / 2;
    (fits(middle) ? low : high) = middle;
  }
  return low;
}

}  // namespace sonde::sim
