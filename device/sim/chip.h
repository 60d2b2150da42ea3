#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "device/sim/chip_reader.h"
#include "device/sim/ticks.h"

namespace sonde::sim {

/// A chip as the model sees it: everything that makes one SKU differ from another. Durations are
/// in ticks, rates in bytes a second, shares in parts per million.
struct Chip {
  std::string file;     ///< "950pr_9579.toml"
  std::string check;    ///< CRC-32 of its text: a run is of one version of the file
  std::string product;  ///< "Ascend950PR_9579"
  std::int64_t clock_hz = 0;

  struct Structure {
    int dies = 0;
    int group_subsystems = 0;  ///< subsystems of a group with nothing harvested
    /// Working subsystems of each group, by die: the others are harvested.
    std::vector<std::vector<std::int64_t>> working;
    bool interleaved_ids = true;  ///< subsystem j of die d is number j * dies + d
    int cubes = 0;                ///< Cube cores of a subsystem
    int vectors = 0;              ///< Vector cores of a subsystem
    std::int64_t cube_flop_per_cycle = 0;
  } structure;

  struct DataCache {
    std::int64_t bytes = 0;
    std::int64_t line_bytes = 0;
    std::int64_t ways = 0;
    Ticks hit = 0;
  } data_cache;

  struct Memory {
    std::int64_t channels = 0;
    std::int64_t interleave_bytes = 0;
    std::int64_t slice_bytes = 0;
    std::int64_t line_bytes = 0;
    std::int64_t ways = 0;
    Ticks l2_near = 0;
    Ticks l2_far = 0;
    Ticks hbm_near = 0;
    Ticks hbm_far = 0;
    std::int64_t hbm_bytes = 0;
    std::int64_t hbm_bytes_per_s = 0;
  } memory;

  struct GroupPort {
    std::int64_t servers = 0;
    Ticks service = 0;  ///< part of the unloaded latency
  } group_port;

  Ticks wave_cost = 0;  ///< from a core's end of one block to the start of its next
  std::int64_t chase_footprint_bytes = 0;
  Ticks idle_gap = 0;  ///< modelled time between two runs

  struct Sdma {
    Ticks fixed = 0;
    std::int64_t queues = 0;
    std::int64_t queue_bytes_per_s = 0;
  } sdma;

  struct TensorMove {
    Ticks fixed = 0;
    std::int64_t buffer_bytes = 0;  ///< usable on-chip memory of a Vector core
    std::int64_t slots = 0;         ///< buffers it is cut into
    std::int64_t smallest_tile_bytes = 0;
    std::int64_t tile_align_bytes = 0;
    std::int64_t issue_cycles = 0;
    std::int64_t in_bytes_per_cycle = 0;
    std::int64_t out_bytes_per_cycle = 0;
    std::int64_t hbm_share_ppm = 0;  ///< of the HBM rate that read plus write reach
  } tensor_move;
  std::int64_t copy_switch_bytes = 0;  ///< largest copy that `auto` gives to SDMA

  struct Noise {
    std::int64_t launch_ppm = 0;
    std::int64_t long_ppm = 0;
    Ticks long_from = 0;
    std::int64_t tail_one_in = 0;
    std::int64_t tail_ppm = 0;
  } noise;

  double idle_power_w = 0;
  double idle_temperature_c = 0;

  std::vector<Parameter> parameters;  ///< every value with its source and confidence

  Ticks cycles(std::int64_t count) const;  ///< rounded to the nearest tick
  std::int64_t l2_bytes() const { return memory.channels * memory.slice_bytes; }
  std::int64_t subsystems() const;
};

/// Reads the text of a chip file; `file` names it in errors. Throws UsageError.
Chip parse_chip(std::string_view text, const std::string& file);

/// Names that load_chip takes, sorted: the files in data_directory()/chips.
std::vector<std::string> chip_names();

/// Throws UsageError that lists the chips there are when there is none of that name.
Chip load_chip(const std::string& name);

}  // namespace sonde::sim
