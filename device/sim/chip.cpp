#include "device/sim/chip.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <filesystem>

#include "core/error.h"
#include "core/files.h"
#include "core/parse.h"
#include "core/schema.h"

namespace sonde::sim {

namespace {

constexpr std::int64_t kMost = std::int64_t{1} << 40;
/// Of one chip: far above any there is, and what a short file can ask for stays in memory.
constexpr std::int64_t kMostCores = 1 << 16;

/// Value times `scale`, to the nearest whole number.
std::int64_t scaled(double value, double scale) { return std::llround(value * scale); }

Ticks ns(ChipReader& in, const std::string& section, const std::string& key) {
  return scaled(in.number(section, key, "ns", 0.001, 1e6), 1e3);
}

Ticks us(ChipReader& in, const std::string& section, const std::string& key) {
  return scaled(in.number(section, key, "us", 0, 1e6), 1e6);
}

std::int64_t gigabytes_per_s(ChipReader& in, const std::string& section, const std::string& key) {
  return scaled(in.number(section, key, "GB/s", 0.001, 1e6), 1e9);
}

std::int64_t ppm_from_percent(ChipReader& in, const std::string& section, const std::string& key,
                              double most) {
  return scaled(in.number(section, key, "%", 0, most), 1e4);
}

int count(ChipReader& in, const std::string& section, const std::string& key, int low, int high) {
  return static_cast<int>(in.integer(section, key, "count", low, high));
}

std::int64_t bytes(ChipReader& in, const std::string& section, const std::string& key) {
  return in.integer(section, key, "B", 1, kMost);
}

void need_power_of_two(const ChipReader& in, const std::string& section, const std::string& key,
                       std::int64_t value) {
  if (!std::has_single_bit(static_cast<std::uint64_t>(value))) {
    in.refuse(section, key, std::to_string(value) + " B, expected a power of two");
  }
}

void read_structure(ChipReader& in, Chip::Structure& s) {
  s.kinds = in.words("structure", "kinds");
  if (s.kinds.size() > 2) in.refuse("structure", "kinds", "expected one or two kinds of core");
  for (const std::string& kind : s.kinds) {
    const bool letters =
        std::all_of(kind.begin(), kind.end(), [](char c) { return c >= 'a' && c <= 'z'; });
    if (!letters) in.refuse("structure", "kinds", "a kind of core is written in letters a to z");
  }
  if (s.kinds.front() == s.kinds.back() && s.kinds.size() == 2) {
    in.refuse("structure", "kinds", "the same kind twice, expected two names");
  }
  s.dies = count(in, "structure", "dies", 1, 8);
  s.group_subsystems = count(in, "structure", "group_subsystems", 1, 1024);
  s.working = in.lists("structure", "working_subsystems", "count", 0, s.group_subsystems);
  s.interleaved_ids =
      in.word("structure", "subsystem_ids", {"interleaved", "die_by_die"}) == "interleaved";
  s.vectors = count(in, "structure", s.kinds.front() + "s_per_subsystem", 1, 16);
  if (s.kinds.size() == 2) {
    s.cubes = count(in, "structure", s.kinds.back() + "s_per_subsystem", 0, 16);
  }
  if (s.working.size() != static_cast<std::size_t>(s.dies)) {
    in.refuse("structure", "working_subsystems",
              std::to_string(s.working.size()) + " lists, expected one for each of " +
                  std::to_string(s.dies) + " dies");
  }
  for (const auto& die : s.working) {
    if (std::all_of(die.begin(), die.end(), [](std::int64_t n) { return n == 0; })) {
      in.refuse("structure", "working_subsystems",
                "a die without a working subsystem, expected at least one");
    }
  }
  std::int64_t cores = 0;
  for (const auto& die : s.working) {
    for (std::int64_t n : die) cores += n * (s.vectors + s.cubes);
  }
  if (cores > kMostCores) {
    in.refuse("structure", "working_subsystems",
              std::to_string(cores) + " cores, expected at most " + std::to_string(kMostCores));
  }
}

void read_flop_per_cycle(ChipReader& in, Chip::Structure& s) {
  for (const std::string& dtype : known_dtypes()) {
    if (!in.has("flop_per_cycle", dtype)) continue;
    s.flop_per_cycle[dtype] = in.integer("flop_per_cycle", dtype, "FLOP/cycle", 1, 1 << 20);
  }
  if (s.flop_per_cycle.empty()) {
    in.refuse("flop_per_cycle", known_dtypes().front(),
              "missing, expected at least one of " + join_names(known_dtypes()));
  }
}

void read_cube(ChipReader& in, const Chip::Structure& structure, Chip::Cube& c) {
  c.edge = in.integer("cube", "edge", "count", 1, 1024);
  c.l1_bytes = bytes(in, "cube", "l1");
  c.l0_bytes = in.has("cube", "l0") ? bytes(in, "cube", "l0") : c.l1_bytes;
  c.l0c_bytes = bytes(in, "cube", "l0c");
  c.l0_bytes_per_cycle = in.integer("cube", "l0_rate", "B/cycle", 1, 65536);
  for (const auto& [dtype, flop] : structure.flop_per_cycle) {
    if (flop % (2 * c.edge * c.edge) == 0) continue;
    in.refuse("flop_per_cycle", dtype,
              "expected a multiple of 2 x cube.edge^2 = " + std::to_string(2 * c.edge * c.edge));
  }
}

void read_data_cache(ChipReader& in, const Chip& chip, Chip::DataCache& c) {
  c.bytes = in.integer("data_cache", "capacity", "B", 64, 256 * kMiB);
  c.line_bytes = in.integer("data_cache", "line", "B", 8, 4096);
  c.ways = in.integer("data_cache", "ways", "count", 1, 1024);
  c.hit = chip.cycles(in.integer("data_cache", "hit", "cycles", 1, 10000));
  need_power_of_two(in, "data_cache", "line", c.line_bytes);
  if (c.bytes % (c.line_bytes * c.ways) != 0) {
    in.refuse("data_cache", "capacity",
              "does not divide into sets, expected a multiple of " +
                  std::to_string(c.line_bytes * c.ways) + " B");
  }
}

void read_memory(ChipReader& in, const Chip& chip, Chip::Memory& m) {
  m.channels = in.integer("memory", "channels", "count", 1, 256);
  m.interleave_bytes = in.integer("memory", "interleave", "B", 64, kMiB);
  m.slice_bytes = in.integer("l2", "slice_capacity", "B", 64, kGiB);
  m.line_bytes = bytes(in, "l2", "line");
  m.ways = in.integer("l2", "ways", "count", 1, 1024);
  m.l2_near = ns(in, "l2", "near");
  m.l2_far = ns(in, "l2", "far");
  m.hbm_near = ns(in, "hbm", "near");
  m.hbm_far = ns(in, "hbm", "far");
  m.hbm_bytes = in.integer("hbm", "capacity", "GiB", 1, 4096) * kGiB;
  m.hbm_bytes_per_s = m.channels * gigabytes_per_s(in, "hbm", "channel_rate");
  need_power_of_two(in, "memory", "interleave", m.interleave_bytes);
  need_power_of_two(in, "l2", "line", m.line_bytes);
  if (m.channels % chip.structure.dies != 0) {
    in.refuse("memory", "channels", "expected the same number on each die");
  }
  if (m.line_bytes > m.interleave_bytes || m.line_bytes < chip.data_cache.line_bytes) {
    in.refuse("l2", "line", "expected between one data cache line and one interleave block");
  }
  if (m.slice_bytes % (m.line_bytes * m.ways) != 0) {
    in.refuse("l2", "slice_capacity",
              "does not divide into sets, expected a multiple of " +
                  std::to_string(m.line_bytes * m.ways) + " B");
  }
  if (m.l2_far < m.l2_near) in.refuse("l2", "far", "less than near, expected at least near");
  if (m.hbm_near <= m.l2_far) in.refuse("hbm", "near", "expected more than the far L2 latency");
  if (m.hbm_far < m.hbm_near) in.refuse("hbm", "far", "less than near, expected at least near");
}

/// What single loads need beside the memory they go to.
void read_loads(ChipReader& in, Chip& chip) {
  chip.noc.hop = scaled(in.number("noc", "hop", "ns", 0, 1000), 1e3);
  chip.noc.slice_bytes_per_cycle = in.integer("noc", "slice_rate", "B/cycle", 1, 65536);
  chip.noc.lookup_cycles = in.integer("noc", "lookup", "cycles", 0, 10000);
  const std::int64_t stops = chip.memory.channels / chip.structure.dies;
  if (chip.noc.hop * stops / 4 >= chip.memory.l2_near) {
    in.refuse("noc", "hop", "half a ring is longer than the near L2 latency, expected less");
  }
  Chip::GroupPort& port = chip.group_port;
  port.servers = in.integer("group_port", "servers", "count", 1, 64);
  port.service = ns(in, "group_port", "service");
  port.bytes_per_cycle = in.integer("group_port", "rate", "B/cycle", 1, 65536);
  port.grant_bytes = in.integer("group_port", "grant", "B", 1, kMiB);
  if (port.service > chip.memory.l2_near) {
    in.refuse("group_port", "service",
              "longer than the near L2 latency that contains it, expected at most that");
  }
  if (port.bytes_per_cycle < chip.subsystem_port.bytes_per_cycle) {
    in.refuse("group_port", "rate", "less than subsystem_port.rate, expected at least that");
  }
  chip.wave_cost = us(in, "scheduler", "wave_cost");
  chip.chase_footprint_bytes =
      in.integer("chase", "footprint", "B", 2 * chip.data_cache.line_bytes, 16 * kMiB);
  chip.profile_bytes =
      in.integer("profile", "chain", "B", 2 * chip.data_cache.line_bytes, chip.memory.hbm_bytes);
}

/// What transfers need beside that.
void read_transfers(ChipReader& in, Chip& chip) {
  Chip::Mte& m = chip.mte;
  m.buffer_bytes = bytes(in, "mte", "buffer");
  m.issue_cycles = in.integer("mte", "issue", "cycles", 0, 100000);
  m.startup_cycles = in.integer("mte", "startup", "cycles", 0, 100000);
  m.in_flight_bytes = in.integer("mte", "in_flight", "B", 64, kGiB);
  m.cube_slots = in.integer("mte", "cube_slots", "count", 1, 64);
  m.l2_write_bytes_per_cycle = in.integer("mte", "l2_write_rate", "B/cycle", 1, 4096);
  m.memory_write_bytes_per_cycle = in.integer("mte", "memory_write_rate", "B/cycle", 1, 4096);
  m.unaligned_vector_ppm = ppm_from_percent(in, "mte", "unaligned_vector", 1000);
  m.unaligned_cube_ppm = ppm_from_percent(in, "mte", "unaligned_cube", 1000);
  chip.memory.piece_bytes = in.integer("hbm", "piece_cost", "B", 0, 65536);
  chip.memory.mixed_share_ppm = ppm_from_percent(in, "hbm", "mixed_share", 100);
  if (chip.memory.mixed_share_ppm == 0) in.refuse("hbm", "mixed_share", "0 %, expected more");
}

void read_copy_path(ChipReader& in, Chip::CopyPath& path) {
  path.fixed = us(in, "copy_path", "fixed");
  path.share_ppm = ppm_from_percent(in, "copy_path", "share", 100);
  if (path.share_ppm == 0) in.refuse("copy_path", "share", "0 %, expected more");
}

void read_two_copies(ChipReader& in, Chip& chip) {
  chip.copy_switch_bytes = in.integer("copy", "switch", "B", 0, kMost);
  chip.sdma.fixed = us(in, "sdma", "fixed");
  chip.sdma.queues = in.integer("sdma", "queues", "count", 1, 64);
  chip.sdma.queue_bytes_per_s = gigabytes_per_s(in, "sdma", "queue_rate");
  Chip::TensorMove& t = chip.tensor_move;
  t.fixed = us(in, "tensor_move", "fixed");
  t.slots = in.integer("tensor_move", "slots", "count", 2, 2);
  t.smallest_tile_bytes = bytes(in, "tensor_move", "smallest_tile");
  t.tile_align_bytes = in.integer("tensor_move", "tile_align", "B", 1, 4096);
  const std::int64_t slot = chip.mte.buffer_bytes / t.slots;
  if (slot < t.smallest_tile_bytes) {
    in.refuse("tensor_move", "smallest_tile",
              "larger than a slot, expected at most " + std::to_string(slot) + " B");
  }
}

void read_gemm(ChipReader& in, Chip& chip) {
  chip.gemm_l1_slots = in.integer("gemm", "l1_slots", "count", 2, 64);
  for (const auto& tile : in.lists("gemm", "tiles", "elements", 1, 65536)) {
    if (tile.size() != 2) in.refuse("gemm", "tiles", "expected rows and columns in each list");
    if (tile[0] * tile[1] * Chip::Cube::kAccumulatorBytes > chip.cube.l0c_bytes) {
      in.refuse("gemm", "tiles",
                std::to_string(tile[0]) + " x " + std::to_string(tile[1]) +
                    " FP32 values, expected at most cube.l0c");
    }
    chip.gemm_tiles.push_back({tile[0], tile[1]});
  }
}

void read_power(ChipReader& in, Chip::Power& p) {
  const auto milliwatts = [&](const char* section, const char* key) {
    return scaled(in.number(section, key, "W", 0, 10000), 1e3);
  };
  p.idle_mw = milliwatts("telemetry", "idle_power");
  p.idle_temperature_c = in.number("telemetry", "idle_temperature", "C", -50, 150);
  p.kelvin_per_watt = in.number("telemetry", "heating", "C/W", 0, 10);
  p.cap_mw = milliwatts("power", "cap");
  p.window = scaled(in.number("power", "window", "us", 1, 1e8), 1e6);
  p.cube_mw = milliwatts("power", "cube");
  if (p.cap_mw <= p.idle_mw) in.refuse("power", "cap", "expected more than the idle power");
}

std::optional<Chip::Aicpu> read_aicpu(ChipReader& in) {
  if (!in.has("aicpu")) return std::nullopt;
  Chip::Aicpu a;
  a.configured = count(in, "aicpu", "configured", 0, 64);
  const auto some = [&](const char* key) {
    return in.has("aicpu", key) ? std::optional(count(in, "aicpu", key, 0, a.configured))
                                : std::nullopt;
  };
  a.visible = some("visible");
  a.executing = some("executing");
  return a;
}

void read_noise(ChipReader& in, Chip::Noise& n) {
  n.load_ppm = ppm_from_percent(in, "noise", "load_spread", 10);
  n.launch_ppm = ppm_from_percent(in, "noise", "launch_spread", 10);
  n.long_ppm = ppm_from_percent(in, "noise", "long_spread", 10);
  n.long_from = us(in, "noise", "long_from");
  n.tail_one_in = in.integer("noise", "tail_one_in", "count", 1, 1'000'000'000);
  n.tail_ppm = ppm_from_percent(in, "noise", "tail_rise", 1000);
}

/// What a device name may hold, and a shell completes as it is.
bool plain_name(const std::string& name) {
  return std::all_of(name.begin(), name.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_' || c == '/';
  });
}

}  // namespace

Ticks Chip::cycles(std::int64_t number) const {
  return static_cast<Ticks>((static_cast<Int128>(number) * kTicksPerSecond + clock_hz / 2) /
                            clock_hz);
}

std::int64_t Chip::depth_per_cycle(const std::string& dtype) const {
  const auto flop = structure.flop_per_cycle.find(dtype);
  return flop == structure.flop_per_cycle.end() ? 0 : flop->second / (2 * cube.edge * cube.edge);
}

std::int64_t Chip::subsystems() const {
  std::int64_t sum = 0;
  for (const auto& die : structure.working) {
    for (std::int64_t n : die) sum += n;
  }
  return sum;
}

const std::vector<std::string>& known_dtypes() {
  static const std::vector<std::string> dtypes = {"bf16", "fp16", "fp8", "int8", "mxfp4", "fp32"};
  return dtypes;
}

Chip parse_chip(std::string_view text, const std::string& file, const ChipTexts& texts) {
  ChipReader in(text, file, texts);
  Chip chip;
  chip.file = file;
  chip.check = in.check();
  chip.product = in.word("chip", "product", {});
  chip.clock_hz = scaled(in.number("clock", "core", "MHz", 1, 10000), 1e6);
  chip.parts = {.loads = in.has("data_cache"),
                .transfers = in.has("mte"),
                .two_copies = in.has("sdma"),
                .one_copy = in.has("copy_path")};
  read_structure(in, chip.structure);
  read_flop_per_cycle(in, chip.structure);
  read_cube(in, chip.structure, chip.cube);
  if (chip.parts.loads) read_data_cache(in, chip, chip.data_cache);
  read_memory(in, chip, chip.memory);
  chip.subsystem_port.bytes_per_cycle =
      in.integer("subsystem_port", "rate", "B/cycle", chip.structure.vectors, 65536);
  chip.cube.store_bytes_per_cycle = in.has("cube", "store_rate")
                                        ? in.integer("cube", "store_rate", "B/cycle", 1, 65536)
                                        : chip.subsystem_port.bytes_per_cycle;
  if (chip.parts.loads) read_loads(in, chip);
  if (chip.parts.transfers) read_transfers(in, chip);
  if (chip.parts.two_copies) read_two_copies(in, chip);
  if (chip.parts.one_copy) read_copy_path(in, chip.copy_path);
  chip.kernel_launch = us(in, "launch", "kernel");
  chip.operator_call = us(in, "launch", "operator_call");
  chip.core_barrier = us(in, "launch", "barrier");
  read_gemm(in, chip);
  read_noise(in, chip.noise);
  read_power(in, chip.power);
  chip.idle_gap = us(in, "telemetry", "idle_gap");
  chip.aicpu = read_aicpu(in);
  if (chip.parts.transfers && !chip.parts.loads) {
    in.refuse("mte", "issue", "transfers without [data_cache], expected both or neither");
  }
  if (chip.parts.two_copies && (chip.parts.one_copy || !chip.parts.transfers)) {
    in.refuse("sdma", "fixed", "expected [mte] with it and no [copy_path]");
  }
  in.finish();
  chip.parameters = in.parameters();
  return chip;
}

std::optional<std::string> chip_file_text(const std::string& name) {
  const std::filesystem::path path = data_directory() / "chips" / (name + ".toml");
  std::error_code ignored;
  if (!plain_name(name) || name.starts_with('/') ||
      !std::filesystem::is_regular_file(path, ignored)) {
    return std::nullopt;
  }
  return read_file(path);
}

std::vector<std::string> chip_names() {
  std::vector<std::string> names;
  std::error_code ignored;
  for (const auto& entry :
       std::filesystem::directory_iterator(data_directory() / "chips", ignored)) {
    const std::string name = entry.path().stem().string();
    if (entry.path().extension() == ".toml" && plain_name(name)) names.push_back(name);
  }
  std::sort(names.begin(), names.end());
  return names;
}

Chip load_chip(const std::string& name) {
  const std::vector<std::string> names = chip_names();
  if (std::find(names.begin(), names.end(), name) == names.end()) {
    throw UsageError("no chip \"" + name + "\"" + did_you_mean(name, names) + ": chips are " +
                     (names.empty() ? "none" : join_names(names)));
  }
  const std::string file = name + ".toml";
  return parse_chip(read_file(data_directory() / "chips" / file), file);
}

}  // namespace sonde::sim
