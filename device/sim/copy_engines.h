#pragma once

#include <cstdint>

#include "device/sim/chip.h"

namespace sonde::sim {

/// A copy on a chip with one way to do it: a fixed cost, then read and write share the HBM.
Ticks one_path_copy(const Chip& chip, std::int64_t bytes);

/// A copy through the DMA engine: a fixed cost, then its queues share the bytes, as far as the HBM
/// gives and takes them.
Ticks sdma_copy(const Chip& chip, std::int64_t bytes);

/// How the TensorMove kernel cuts a copy.
struct TensorMovePlan {
  std::int64_t tile_bytes = 0;
  std::int64_t tiles = 0;   ///< the last one may be shorter
  std::int64_t cores = 0;   ///< that get a tile
  std::int64_t rounds = 0;  ///< tiles of the busiest core
};
TensorMovePlan plan_tensor_move(const Chip& chip, std::int64_t cores, std::int64_t bytes);

/// A copy by the TensorMove kernel on `cores` Vector cores. Each core reads tile i + 1 into one
/// slot while it writes tile i from the other; a round lasts as long as the slowest of its reads,
/// its writes and the HBM, which read and write share.
Ticks tensor_move_copy(const Chip& chip, std::int64_t cores, std::int64_t bytes);

}  // namespace sonde::sim
