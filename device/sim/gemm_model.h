#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "device/sim/chip.h"
#include "device/sim/ticks.h"

namespace sonde::sim {

/// One way to compute C[m,n] = A[m,k] x B[k,n] in BF16: C in tiles, each a unit of one Cube core;
/// with splits > 1 each tile is several units along k, whose FP32 parts are added at the end.
struct GemmPlan {
  Chip::Tile tile;
  std::int64_t splits = 1;
  std::int64_t units = 0;        ///< dealt to the Cubes in turn, one wave after the other
  std::int64_t core_cycles = 0;  ///< of the busiest Cube core
  std::int64_t cube_cycles = 0;  ///< in which a matrix unit multiplies, all Cubes together
  std::int64_t macs = 0;         ///< useful multiply-adds, added up over the units
  std::int64_t hbm_bytes = 0;    ///< read and written
  std::int64_t part_bytes = 0;   ///< FP32 parts that are read again; 0 without splits
};

GemmPlan plan_gemm(const Chip& chip, std::int64_t m, std::int64_t n, std::int64_t k,
                   const Chip::Tile& tile, std::int64_t splits);

/// Time of a plan at a core clock, from the host's call to the end.
Ticks gemm_time(const Chip& chip, const GemmPlan& plan, std::int64_t clock_khz);
/// Longest of the plan's concurrent parts: "Cube cores" or "HBM".
std::string gemm_bound(const Chip& chip, const GemmPlan& plan, std::int64_t clock_khz);

/// The quickest plan of one tile; of all tiles of the chip file when `tile` is null, as a library's
/// heuristic picks it: at the reference clock.
GemmPlan best_plan(const Chip& chip, std::int64_t m, std::int64_t n, std::int64_t k,
                   const Chip::Tile* tile);

/// Power while the plan runs again and again at a clock: idle, plus the Cubes' by the share of time
/// they multiply and the cube of the clock (voltage follows it).
std::int64_t gemm_power_mw(const Chip& chip, const GemmPlan& plan, std::int64_t clock_khz);

/// Highest clock, up to the reference, at which the power stays under the cap.
std::int64_t sustained_clock_khz(const Chip& chip, const GemmPlan& plan);

}  // namespace sonde::sim
