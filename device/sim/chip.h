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

  struct Cube {
    std::int64_t edge = 0;  ///< of the block that is multiplied in one cycle
    std::int64_t l1_bytes = 0;
    std::int64_t l0c_bytes = 0;
    std::int64_t l0_bytes_per_cycle = 0;                  ///< L1 to L0A, and beside it L1 to L0B
    static constexpr std::int64_t kAccumulatorBytes = 4;  ///< FP32
  } cube;

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
    std::int64_t piece_bytes = 0;      ///< what the start of a piece costs the HBM, as bytes
    std::int64_t mixed_share_ppm = 0;  ///< of the HBM rate that read plus write reach
  } memory;

  struct Noc {
    Ticks hop = 0;                           ///< from stop to stop of a die's ring and back
    std::int64_t slice_bytes_per_cycle = 0;  ///< of one L2 slice and its stop
  } noc;

  struct SubsystemPort {
    std::int64_t bytes_per_cycle = 0;
  } subsystem_port;

  struct GroupPort {
    std::int64_t servers = 0;
    Ticks service = 0;                 ///< of a scalar load; part of the unloaded latency
    std::int64_t bytes_per_cycle = 0;  ///< for transfers
    std::int64_t grant_bytes = 0;      ///< a transfer keeps a port for so many bytes at a time
  } group_port;

  /// Transfer engines of the cores.
  struct Mte {
    std::int64_t buffer_bytes = 0;  ///< usable on-chip memory of a Vector core
    std::int64_t issue_cycles = 0;  ///< of one command on a Vector core
    std::int64_t startup_cycles = 0;
    std::int64_t in_flight_bytes = 0;  ///< of a Vector core
    std::int64_t cube_slots = 0;       ///< commands of a Cube core in flight
    std::int64_t l2_write_bytes_per_cycle = 0;
    std::int64_t memory_write_bytes_per_cycle = 0;
  } mte;

  Ticks kernel_launch = 0;  ///< start-up of a kernel on the device
  Ticks operator_call = 0;  ///< host's part of an operator's call
  Ticks core_barrier = 0;   ///< of all cores

  Ticks wave_cost = 0;  ///< from a core's end of one block to the start of its next
  std::int64_t chase_footprint_bytes = 0;
  std::int64_t profile_bytes = 0;
  Ticks idle_gap = 0;  ///< modelled time between two runs

  struct Sdma {
    Ticks fixed = 0;
    std::int64_t queues = 0;
    std::int64_t queue_bytes_per_s = 0;
  } sdma;

  struct TensorMove {
    Ticks fixed = 0;
    std::int64_t slots = 0;  ///< buffers that the on-chip memory is cut into
    std::int64_t smallest_tile_bytes = 0;
    std::int64_t tile_align_bytes = 0;
  } tensor_move;
  std::int64_t copy_switch_bytes = 0;  ///< largest copy that `auto` gives to SDMA

  struct Tile {
    std::int64_t rows = 0;
    std::int64_t columns = 0;
  };
  std::vector<Tile> gemm_tiles;    ///< of C, that the library chooses from
  std::int64_t gemm_l1_slots = 0;  ///< that L1 is cut into for the operands

  struct Noise {
    std::int64_t load_ppm = 0;  ///< of one load of a profile
    std::int64_t launch_ppm = 0;
    std::int64_t long_ppm = 0;
    Ticks long_from = 0;
    std::int64_t tail_one_in = 0;
    std::int64_t tail_ppm = 0;
  } noise;

  struct Power {
    std::int64_t idle_mw = 0;
    std::int64_t cap_mw = 0;
    std::int64_t cube_mw = 0;  ///< of all Cubes busy at the reference clock, over idle
    double idle_temperature_c = 0;
    double kelvin_per_watt = 0;  ///< over idle
  } power;

  std::vector<Parameter> parameters;  ///< every value with its source and confidence

  Ticks cycles(std::int64_t count) const;  ///< rounded to the nearest tick
  /// Share of the subsystem's port of one Vector core beside its busy neighbours.
  std::int64_t vector_read_bytes_per_cycle() const {
    return subsystem_port.bytes_per_cycle / structure.vectors;
  }
  std::int64_t l2_bytes() const { return memory.channels * memory.slice_bytes; }
  std::int64_t subsystems() const;
  std::int64_t cubes() const { return subsystems() * structure.cubes; }
};

/// Reads the text of a chip file; `file` names it in errors. Throws UsageError.
Chip parse_chip(std::string_view text, const std::string& file);

/// Names that load_chip takes, sorted: the files in data_directory()/chips.
std::vector<std::string> chip_names();

/// Throws UsageError that lists the chips there are when there is none of that name.
Chip load_chip(const std::string& name);

}  // namespace sonde::sim
