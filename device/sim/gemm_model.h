#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "device/device.h"
#include "device/sim/chip.h"
#include "device/sim/ticks.h"

namespace sonde::sim {

/// C[m,n] = A[m,k] x B[k,n] as the model sees it.
struct GemmShape {
  std::int64_t m = 0;
  std::int64_t n = 0;
  std::int64_t k = 0;
  std::int64_t cores = 0;                            ///< Cubes it may use
  const GemmType* type = gemm_type("bf16");          ///< of the operands
  std::int64_t bytes(std::int64_t elements) const {  ///< of A or B
    return divide_up(elements * type->bytes_of_32, 32);
  }
};

/// Cycles in which a pipe of a core works: MTE2 from memory to L1, MTE1 from L1 to L0, the matrix
/// unit, and the Fixpipe from L0C to memory.
struct Pipes {
  std::int64_t mte2 = 0;
  std::int64_t mte1 = 0;
  std::int64_t cube = 0;
  std::int64_t fixpipe = 0;
  void add(const Pipes& other, std::int64_t times) {
    mte2 += times * other.mte2;
    mte1 += times * other.mte1;
    cube += times * other.cube;
    fixpipe += times * other.fixpipe;
  }
};

/// One way to compute it: C in tiles, each a unit of one Cube core; with splits > 1 each tile is
/// several units along k, whose FP32 parts are added at the end.
struct GemmPlan {
  Chip::Tile tile;
  std::int64_t step = 0;  ///< of k that L0A and L0B hold, twice if `double_l0`
  bool double_l0 = true;
  std::int64_t splits = 1;
  std::int64_t units = 0;        ///< dealt to the Cubes in turn, one wave after the other
  std::int64_t cores = 0;        ///< that get a unit
  std::int64_t core_cycles = 0;  ///< of the busiest Cube core
  Pipes pipes;                   ///< of all Cubes together
  std::int64_t macs = 0;         ///< useful multiply-adds, added up over the units
  std::int64_t hbm_bytes = 0;    ///< read and written
  std::int64_t hbm_cost = 0;     ///< the same with what unaligned rows cost, in bytes
  std::int64_t part_bytes = 0;   ///< FP32 parts that are read again; 0 without splits
};

/// None when not even the least depth of the tile's operands fits L0.
std::optional<GemmPlan> plan_gemm(const Chip& chip, const GemmShape& shape, const Chip::Tile& tile,
                                  std::int64_t splits);

/// Time of a plan at a core clock, from the host's call to the end.
Ticks gemm_time(const Chip& chip, const GemmPlan& plan, std::int64_t clock_khz);
/// Longest of the plan's concurrent parts: "Cube cores" or "HBM".
std::string gemm_bound(const Chip& chip, const GemmPlan& plan, std::int64_t clock_khz);

/// Time that each pipe is busy, as a mean over the cores of the plan; MTE2 with its waits for the
/// HBM, as the maker's counters have it.
struct PipeTimes {
  Ticks mte2 = 0, mte1 = 0, cube = 0, fixpipe = 0;
};
PipeTimes pipe_times(const Chip& chip, const GemmPlan& plan, std::int64_t clock_khz);

/// The quickest plan of one tile; of all tiles of the chip file when `tile` is null, as a library's
/// heuristic picks it: at the reference clock. None when no tile can be used.
std::optional<GemmPlan> best_plan(const Chip& chip, const GemmShape& shape, const Chip::Tile* tile);

}  // namespace sonde::sim
