#include "device/sim/gemm_model.h"

#include <algorithm>
#include <array>

#include "device/sim/traffic.h"

namespace sonde::sim {

namespace {

constexpr std::int64_t kMillion = 1'000'000;

std::int64_t padded(std::int64_t count, std::int64_t edge) { return divide_up(count, edge) * edge; }

Ticks ticks_at(std::int64_t cycles, std::int64_t clock_khz) {
  return multiply_divide_up(cycles, kTicksPerSecond / 1000, clock_khz);
}

/// What a row-major operand whose rows have so many elements costs more than aligned rows would.
std::int64_t unaligned(const Chip& chip, const GemmShape& shape, std::int64_t row) {
  const bool aligned = shape.bytes(row) % chip.memory.line_bytes == 0;
  return aligned ? 0 : chip.mte.unaligned_cube_ppm;
}

std::int64_t with_extra(std::int64_t count, std::int64_t extra_ppm) {
  return multiply_divide_up(count, kMillion + extra_ppm, kMillion);
}

/// Depth of k that L0A and L0B take at a time: as much as leaves room for the next while one is
/// multiplied, else as much as fits alone. 0 when that is less than the least depth.
std::int64_t l0_step(const Chip& chip, const GemmShape& shape, const Chip::Tile& tile,
                     std::int64_t copies) {
  const std::int64_t least = chip.depth_per_cycle(std::string(shape.type->name));
  const std::int64_t wide = padded(
      std::max(std::min(tile.rows, shape.m), std::min(tile.columns, shape.n)), chip.cube.edge);
  const std::int64_t room = chip.cube.l0_bytes / copies;
  return room * 32 / (wide * shape.type->bytes_of_32) / least * least;
}

/// One unit: rows x columns of C over a depth of k.
struct Unit {
  Pipes pipes;
  std::int64_t loop = 0;  ///< over the depth: the slowest of what overlaps
  std::int64_t fill = 0;  ///< until the first operands are in L1
};

Unit unit_of(const Chip& chip, const GemmShape& shape, const GemmPlan& plan, std::int64_t rows,
             std::int64_t columns, std::int64_t depth, std::int64_t out_bytes) {
  const std::int64_t edge = chip.cube.edge;
  const std::int64_t deep = chip.depth_per_cycle(std::string(shape.type->name));
  const std::int64_t port = chip.subsystem_port.bytes_per_cycle;
  const std::int64_t wide = std::max(padded(rows, edge), padded(columns, edge));
  const auto read = [&](std::int64_t of_k) {
    return divide_up(with_extra(shape.bytes(rows * of_k), unaligned(chip, shape, shape.k)) +
                         with_extra(shape.bytes(columns * of_k), unaligned(chip, shape, shape.n)),
                     port);
  };
  Unit unit;
  Pipes& p = unit.pipes;
  p.cube = divide_up(rows, edge) * divide_up(columns, edge) * divide_up(depth, deep);
  p.mte1 = divide_up(shape.bytes(wide * padded(depth, deep)), chip.cube.l0_bytes_per_cycle);
  p.mte2 = read(depth);
  p.fixpipe = divide_up(rows * columns * out_bytes, chip.store_bytes_per_cycle());
  // The operands come in pieces of a slot of L1, two for each operand so that the next arrive while
  // these are used; the first is waited for.
  const std::int64_t slot = chip.cube.l1_bytes / chip.gemm_l1_slots;
  const std::int64_t piece = slot * 32 / (wide * shape.type->bytes_of_32);
  unit.fill = read(std::min(depth, std::max(piece, deep)));
  const std::int64_t inner = plan.double_l0 ? std::max(p.cube, p.mte1) : p.cube + p.mte1;
  unit.loop = chip.gemm_l1_slots >= 4 ? std::max(inner, p.mte2) : inner + p.mte2;
  return unit;
}

/// Bytes from and to the HBM: operands start there. Two ways to meet few of them twice: a strip of
/// one operand that fills half of the L2 stays while the other streams past, once for each strip;
/// or the tiles of a wave lie in a block and walk along k together, so that each operand is read
/// once for each row or column of blocks. The better one counts.
void count_hbm(const Chip& chip, const GemmShape& shape, GemmPlan& plan) {
  const std::int64_t a = shape.bytes(shape.m * shape.k);
  const std::int64_t b = shape.bytes(shape.k * shape.n);
  const std::int64_t strip = std::max<std::int64_t>(chip.l2_bytes() / 2, 1);
  std::int64_t times_a = 1;
  std::int64_t times_b = 1;
  const auto take = [&](std::int64_t of_a, std::int64_t of_b) {
    if (of_a * a + of_b * b >= times_a * a + times_b * b) return;
    times_a = of_a;
    times_b = of_b;
  };
  if (a + b > strip) {
    times_b = divide_up(a, strip);
    take(divide_up(b, strip), 1);
    for (std::int64_t down = 1; down <= shape.cores; ++down) {
      const std::int64_t across = shape.cores / down;
      take(divide_up(shape.n, across * plan.tile.columns),
           divide_up(shape.m, down * plan.tile.rows));
    }
  }
  const std::int64_t c = shape.m * shape.n * shape.type->result_bytes;
  plan.hbm_bytes = times_a * a + times_b * b + c;
  plan.hbm_cost = with_extra(times_a * a, unaligned(chip, shape, shape.k)) +
                  with_extra(times_b * b, unaligned(chip, shape, shape.n)) + c;
}

struct Times {
  Ticks cores = 0;
  Ticks hbm = 0;
};

Times times_of(const Chip& chip, const GemmPlan& plan, std::int64_t clock_khz) {
  return {ticks_at(plan.core_cycles, clock_khz),
          multiply_divide_up(plan.hbm_cost, kTicksPerSecond, chip.memory.hbm_bytes_per_s)};
}

/// Number of splits to try where `spare` cores stand beside each tile: all small ones, then
/// doubles, so that more cores never take a choice away.
std::vector<std::int64_t> split_choices(std::int64_t spare) {
  std::vector<std::int64_t> choices = {1};
  for (std::int64_t s = 2; s <= spare; s += s < 32 ? 1 : s) choices.push_back(s);
  return choices;
}

}  // namespace

std::optional<GemmPlan> plan_gemm(const Chip& chip, const GemmShape& shape, const Chip::Tile& tile,
                                  std::int64_t splits) {
  GemmPlan plan;
  plan.tile = tile;
  plan.step = l0_step(chip, shape, tile, 2);
  plan.double_l0 = plan.step > 0;
  if (plan.step == 0) plan.step = l0_step(chip, shape, tile, 1);
  if (plan.step == 0) return std::nullopt;
  const std::int64_t edge = chip.cube.edge;
  const std::int64_t depth = padded(divide_up(shape.k, splits), edge);
  plan.splits = divide_up(shape.k, depth);
  const std::int64_t out =
      plan.splits > 1 ? Chip::Cube::kAccumulatorBytes : shape.type->result_bytes;
  const std::int64_t held = padded(std::min(shape.m, tile.rows), edge) *
                            padded(std::min(shape.n, tile.columns), edge) *
                            Chip::Cube::kAccumulatorBytes;
  // Room for two results in L0C: one is stored while the next is summed up.
  const bool overlapped = 2 * held <= chip.cube.l0c_bytes;
  // Units of equal shape cost the same: whole or last rows, columns and depth.
  struct Kind {
    Unit unit;
    std::int64_t count = 0;
    std::int64_t macs = 0;    // of one
    std::int64_t cycles = 0;  // of one, after the core's first
  };
  struct Cut {
    std::int64_t size = 0;
    std::int64_t count = 0;
  };
  const auto cut = [](std::int64_t whole, std::int64_t size) {
    const std::int64_t full = (whole - 1) / size;
    return std::array<Cut, 2>{Cut{size, full}, Cut{whole - full * size, 1}};
  };
  std::vector<Kind> kinds;
  for (const Cut& r : cut(shape.m, tile.rows)) {
    for (const Cut& c : cut(shape.n, tile.columns)) {
      for (const Cut& d : cut(shape.k, depth)) {
        if (r.count * c.count * d.count == 0) continue;
        const Unit unit = unit_of(chip, shape, plan, r.size, c.size, d.size, out);
        const std::int64_t store = unit.pipes.fixpipe;
        kinds.push_back({unit, r.count * c.count * d.count, r.size * c.size * d.size,
                         overlapped ? std::max(unit.loop, store) : unit.loop + store});
      }
    }
  }
  // The largest are dealt first, so that the last wave is short; the first core, which gets the
  // largest of each wave, is then the busiest, and one core more never makes it busier.
  std::stable_sort(kinds.begin(), kinds.end(),
                   [](const Kind& a, const Kind& b) { return a.cycles > b.cycles; });
  plan.core_cycles = kinds.front().unit.fill + (overlapped ? kinds.front().unit.pipes.fixpipe : 0);
  for (const Kind& kind : kinds) {
    const std::int64_t before = divide_up(plan.units, shape.cores);
    plan.units += kind.count;
    plan.core_cycles += (divide_up(plan.units, shape.cores) - before) * kind.cycles;
    plan.pipes.add(kind.unit.pipes, kind.count);
    plan.macs += kind.count * kind.macs;
  }
  plan.cores = std::min(plan.units, shape.cores);
  count_hbm(chip, shape, plan);
  if (plan.splits > 1) {
    plan.part_bytes = plan.splits * shape.m * shape.n * Chip::Cube::kAccumulatorBytes;
  }
  return plan;
}

Ticks gemm_time(const Chip& chip, const GemmPlan& plan, std::int64_t clock_khz) {
  const Times times = times_of(chip, plan, clock_khz);
  Ticks total = chip.operator_call + chip.kernel_launch +
                ticks_at(chip.mte.startup_cycles, clock_khz) + mean_latency(chip, 0) +
                std::max(times.cores, times.hbm);
  if (plan.splits > 1) {
    // The parts stay in the L2; the cores read them through their ports and add them.
    const std::int64_t ports = plan.cores * chip.subsystem_port.bytes_per_cycle;
    total += chip.core_barrier + mean_latency(chip, kMillion) +
             ticks_at(divide_up(plan.part_bytes, ports), clock_khz);
  }
  return total;
}

std::string gemm_bound(const Chip& chip, const GemmPlan& plan, std::int64_t clock_khz) {
  const Times times = times_of(chip, plan, clock_khz);
  return times.hbm > times.cores ? "HBM" : "Cube cores";
}

PipeTimes pipe_times(const Chip& chip, const GemmPlan& plan, std::int64_t clock_khz) {
  const auto mean = [&](std::int64_t cycles) {
    return ticks_at(divide_up(cycles, plan.cores), clock_khz);
  };
  const Times times = times_of(chip, plan, clock_khz);
  PipeTimes t{mean(plan.pipes.mte2), mean(plan.pipes.mte1), mean(plan.pipes.cube),
              mean(plan.pipes.fixpipe)};
  if (times.hbm > times.cores) t.mte2 = std::max(t.mte2, times.hbm);
  return t;
}

std::optional<GemmPlan> best_plan(const Chip& chip, const GemmShape& shape,
                                  const Chip::Tile* tile) {
  const std::int64_t reference = chip.clock_hz / 1000;
  std::optional<GemmPlan> best;
  Ticks least = 0;
  for (const Chip::Tile& candidate : chip.gemm_tiles) {
    if (tile != nullptr && (candidate.rows != tile->rows || candidate.columns != tile->columns)) {
      continue;
    }
    const std::int64_t tiles =
        divide_up(shape.m, candidate.rows) * divide_up(shape.n, candidate.columns);
    for (std::int64_t splits : split_choices(shape.cores / tiles)) {
      const auto plan = plan_gemm(chip, shape, candidate, splits);
      if (!plan) continue;
      const Ticks time = gemm_time(chip, *plan, reference);
      if (!best || time < least) {
        best = plan;
        least = time;
      }
    }
  }
  return best;
}

}  // namespace sonde::sim
