#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
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
  std::string check;    ///< CRC-32 of its text and its bases': a run is of one version of them
  std::string product;  ///< "Ascend950PR_9579"
  std::int64_t clock_hz = 0;

  /// What the file describes beside what every chip has: an engine that needs another part is not
  /// offered.
  struct Parts {
    bool loads = false;       ///< single loads through a data cache and shared ports
    bool transfers = false;   ///< streams by transfer engines (never without loads)
    bool two_copies = false;  ///< SDMA and TensorMove
    bool one_copy = false;    ///< one path for every copy
  } parts;

  struct Structure {
    /// Kinds of core: those that load and move, then those that multiply. A chip with one kind
    /// does all of it on the same cores.
    std::vector<std::string> kinds;
    int dies = 0;
    int group_subsystems = 0;  ///< subsystems of a group with nothing harvested
    /// Working subsystems of each group, by die: the others are harvested.
    std::vector<std::vector<std::int64_t>> working;
    bool interleaved_ids = true;  ///< subsystem j of die d is number j * dies + d
    int cubes = 0;                ///< cores of the second kind in a subsystem
    int vectors = 0;              ///< cores of the first kind in a subsystem
    /// Of one multiplying core, by type of operand ("bf16"); a type that is not there cannot be
    /// multiplied.
    std::map<std::string, std::int64_t> flop_per_cycle;
  } structure;

  struct Cube {
    std::int64_t edge = 0;  ///< rows and columns of the block that is multiplied in one cycle
    std::int64_t l1_bytes = 0;
    std::int64_t l0_bytes = 0;  ///< of L0A, and of L0B; that of L1 where the file has none
    std::int64_t l0c_bytes = 0;
    std::int64_t l0_bytes_per_cycle = 0;     ///< L1 to L0A, and beside it L1 to L0B
    std::int64_t store_bytes_per_cycle = 0;  ///< L0C out; that of the port where the file has none
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
    std::int64_t lookup_cycles = 0;          ///< of a slice before it sends
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
    std::int64_t unaligned_vector_ppm = 0;  ///< that rows off a line take longer to the buffer
    std::int64_t unaligned_cube_ppm = 0;    ///< and to L1
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

  /// Every copy of a chip that has one way to do it.
  struct CopyPath {
    Ticks fixed = 0;
    std::int64_t share_ppm = 0;  ///< of the HBM rate that read plus write reach
  } copy_path;

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
    Ticks window = 0;          ///< time constant of the power that the governor watches
    std::int64_t cube_mw = 0;  ///< of all Cubes busy at the reference clock, over idle
    double idle_temperature_c = 0;
    double kelvin_per_watt = 0;  ///< over idle
  } power;

  /// Processors of the chip that run an operating system's programs; no engine uses them.
  struct Aicpu {
    int configured = 0;
    std::optional<int> visible;    ///< to the host's tools
    std::optional<int> executing;  ///< that take work
  };
  std::optional<Aicpu> aicpu;

  /// What a chip drawn by seed has beside the values of a chip file; a file has none of it.
  struct Scatter {
    std::uint64_t key = 0;       ///< of what is drawn for each core
    bool shuffled_ids = false;   ///< the number of a core says nothing of its place
    Ticks core_offset = 0;       ///< most that a core's loads take longer for its own sake
    Ticks gradient = 0;          ///< from one end of a row of cores and channels to the other
    std::int64_t drift_ppm = 0;  ///< most that modelled time changes the latency, either way
    Ticks drift_period = 0;
  } scatter;

  std::vector<Parameter> parameters;  ///< every value with its source and confidence

  Ticks cycles(std::int64_t count) const;  ///< rounded to the nearest tick
  /// Depth of the block that a core multiplies in one cycle; 0 for a type it cannot multiply.
  std::int64_t depth_per_cycle(const std::string& dtype) const;
  /// Share of the subsystem's port of one Vector core beside its busy neighbours.
  std::int64_t vector_read_bytes_per_cycle() const {
    return subsystem_port.bytes_per_cycle / structure.vectors;
  }
  /// Of results from L0C to memory.
  std::int64_t store_bytes_per_cycle() const {
    return std::min(subsystem_port.bytes_per_cycle, cube.store_bytes_per_cycle);
  }
  std::int64_t l2_bytes() const { return memory.channels * memory.slice_bytes; }
  std::int64_t subsystems() const;
  bool one_kind() const { return structure.kinds.size() == 1; }
  /// Cores that multiply.
  std::int64_t cubes() const {
    return subsystems() * (one_kind() ? structure.vectors : structure.cubes);
  }
  /// Their kind.
  const std::string& multiplying_kind() const { return structure.kinds.back(); }
  /// The kind of core that moves data by transfers and copies.
  const std::string& moving_kind() const { return structure.kinds.front(); }
};

/// Types of operand that a chip file may give a rate for, in the order in which they are offered.
const std::vector<std::string>& known_dtypes();

/// Text of a file of data_directory()/chips; a name may have a folder ("families/gpu").
std::optional<std::string> chip_file_text(const std::string& name);

/// Reads the text of a chip file; `file` names it in errors, `texts` finds its bases. Throws
/// UsageError.
Chip parse_chip(std::string_view text, const std::string& file,
                const ChipTexts& texts = chip_file_text);

/// Names that load_chip takes, sorted: the files in data_directory()/chips, those in folders
/// there, which are only bases, left out.
std::vector<std::string> chip_names();

/// Throws UsageError that lists the chips there are when there is none of that name.
Chip load_chip(const std::string& name);

}  // namespace sonde::sim
