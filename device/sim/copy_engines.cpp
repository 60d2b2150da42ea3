#include "device/sim/copy_engines.h"

#include <algorithm>

namespace sonde::sim {

namespace {

/// Of `moved` bytes, read and written together, through an HBM that gives a share of its rate.
Ticks hbm_time(const Chip& chip, std::int64_t moved, std::int64_t share_ppm) {
  const auto rate = static_cast<std::int64_t>(static_cast<Int128>(chip.memory.hbm_bytes_per_s) *
                                              share_ppm / 1'000'000);
  return multiply_divide_up(moved, kTicksPerSecond, rate);
}

}  // namespace

Ticks one_path_copy(const Chip& chip, std::int64_t bytes) {
  return chip.copy_path.fixed + hbm_time(chip, 2 * bytes, chip.copy_path.share_ppm);
}

Ticks sdma_copy(const Chip& chip, std::int64_t bytes) {
  const Ticks queues = multiply_divide_up(divide_up(bytes, chip.sdma.queues), kTicksPerSecond,
                                          chip.sdma.queue_bytes_per_s);
  return chip.sdma.fixed + std::max(queues, hbm_time(chip, 2 * bytes, chip.memory.mixed_share_ppm));
}

TensorMovePlan plan_tensor_move(const Chip& chip, std::int64_t cores, std::int64_t bytes) {
  const Chip::TensorMove& t = chip.tensor_move;
  const auto aligned = [&](std::int64_t n) {
    return divide_up(n, t.tile_align_bytes) * t.tile_align_bytes;
  };
  TensorMovePlan plan;
  // As many rounds as the largest tile needs, then equal tiles, so that all cores end together.
  // The vendor's rule is published for less than one tile a core; for more it is assumed alike.
  const std::int64_t largest =
      chip.mte.buffer_bytes / t.slots / t.tile_align_bytes * t.tile_align_bytes;
  const std::int64_t rounds = divide_up(bytes, cores * largest);
  plan.tile_bytes = std::max(t.smallest_tile_bytes, aligned(divide_up(bytes, cores * rounds)));
  plan.tiles = divide_up(bytes, plan.tile_bytes);
  plan.cores = std::min(cores, plan.tiles);
  plan.rounds = divide_up(plan.tiles, plan.cores);
  return plan;
}

Ticks tensor_move_copy(const Chip& chip, std::int64_t cores, std::int64_t bytes) {
  const TensorMovePlan plan = plan_tensor_move(chip, cores, bytes);
  const auto port = [&](std::int64_t tile, std::int64_t rate) {
    return tile == 0 ? 0 : chip.cycles(chip.mte.issue_cycles + divide_up(tile, rate));
  };
  // Bytes that all cores together read in a round; tiles are dealt round by round, and the last
  // round has what is left.
  const auto in_round = [&](std::int64_t round) -> std::int64_t {
    if (round < 0 || round >= plan.rounds) return 0;
    const std::int64_t full = plan.cores * plan.tile_bytes;
    return round + 1 < plan.rounds ? full : bytes - full * (plan.rounds - 1);
  };
  const auto step = [&](std::int64_t round) {
    const std::int64_t in = in_round(round);
    const std::int64_t out = in_round(round - 1);
    return std::max({port(std::min(in, plan.tile_bytes), chip.vector_read_bytes_per_cycle()),
                     port(std::min(out, plan.tile_bytes), chip.mte.memory_write_bytes_per_cycle),
                     hbm_time(chip, in + out, chip.memory.mixed_share_ppm)});
  };
  // All full rounds are alike: the first, the one before the last and the last two differ.
  Ticks time = chip.tensor_move.fixed;
  const std::int64_t alike = std::max<std::int64_t>(plan.rounds - 2, 0);  // rounds 1 .. rounds-2
  time += step(0);
  if (alike > 0) time += alike * step(1);
  if (plan.rounds > 1) time += step(plan.rounds - 1);
  time += step(plan.rounds);
  return time;
}

}  // namespace sonde::sim
