#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/core_name.h"
#include "core/description.h"
#include "core/units.h"

namespace sonde {

/// Names one measurement to the device. A real device ignores it; the noise, drift and governor
/// state of a modelled one are pure functions of it and of modelled time, which is why a killed
/// and resumed run ends with the same rows.
struct Trial {
  std::uint64_t seed = 1;  ///< of the campaign
  std::int64_t point = 0;
  std::int64_t repetition = 0;
};

/// State of the device around a point; unknown is unknown.
struct Telemetry {
  std::optional<Hertz> clock;
  std::optional<Watts> power;  ///< now, or the mean since the reading before
  std::optional<Celsius> temperature;
  /// Times this process was held back since some start (a CPU quota, a thermal limit): a sample
  /// during which it grew is `throttled`. A power cap under which a device runs steadily is not
  /// one: its clock is in the row.
  std::optional<std::int64_t> throttle_events = {};
  /// Time that measuring threads were ready but had no core, since some start: other programs.
  std::optional<Seconds> waited = {};
};

/// Latency of the loads of one address of a profile.
struct AddressTime {
  std::int64_t address_bytes = 0;  ///< offset inside the chain
  Seconds latency;                 ///< of one load
};

/// What the last run() took, on the device's own clock.
struct Sample {
  Seconds elapsed;                  ///< the whole launch
  std::vector<CoreName> placement;  ///< core of each block, in block order, as verified
  std::optional<Hertz> clock;  ///< of the core that was measured, read just after the timed part
  std::string store;           ///< of a copy: ordinary, nt; empty: the method's own choice
  std::string note;            ///< kernel or page kind really used; empty if nothing to say
  std::vector<AddressTime> series;  ///< of a profile: one entry an address, in the plan's order
  /// Least number of its own operations that any aggressor finished inside the victim's window:
  /// the proof that all of them ran all the time. Only contention fills it.
  std::optional<std::int64_t> background_operations;
  /// Time that named units of the cores were busy inside `elapsed`, as a mean over the cores that
  /// took part: of a GEMM "mte2", "mte1", "cube" and "fixpipe". Empty where a device cannot tell.
  std::map<std::string, Seconds> busy;
  Telemetry before;  ///< read by the harness between prepare() and run()
  Telemetry after;   ///< and between run() and verify(): power is that of the run alone
};

/// What verify() found in the result of the last run().
struct Check {
  bool ok = true;
  std::string problem;  ///< "byte 1234 is 0x17, expected 0x00"
};

/// One kind of work. Contract:
/// - prepare() allocates, fills from the seed and warms up; it is never timed.
/// - run() blocks until done and returns the device's own elapsed time and where each block ran.
/// - verify() checks what the last run() produced.
/// - prepare() may be called again with other work; an engine may keep what it built.
/// Throws Skip for work this device cannot do (with the reason and the figures), PointFailure for
/// work that went wrong.
template <class Work>
class Engine {
 public:
  virtual ~Engine() = default;
  virtual void prepare(const Work& work) = 0;
  virtual Sample run(const Trial& trial) = 0;
  virtual Check verify() = 0;
};

/// Dependent loads around one random cycle of lines. Each block walks its own chain.
struct ChaseWork {
  /// Cores that run one block each; empty: the device places `blocks` blocks of `kind` itself.
  std::vector<CoreName> cores;
  std::string kind;                  ///< kind of core when `cores` is empty
  std::int64_t blocks = 1;           ///< equals cores.size() when cores are named
  std::int64_t footprint_bytes = 0;  ///< of one block's chain
  std::int64_t loads = 0;            ///< dependent loads a block in the timed part
  bool warm = true;        ///< a whole lap before timing; false: nearest cache empty at the start
  std::uint64_t seed = 1;  ///< of the chain's order
};

/// One copy of `bytes` from one buffer to another.
struct CopyWork {
  std::string direction = "d2d";
  std::string method = "auto";
  std::int64_t bytes = 0;
  std::int64_t alignment = 4096;  ///< of both buffers
  bool warm = true;               ///< same buffers each time; false: rotated beyond the last cache
  std::uint64_t seed = 1;         ///< of the fill pattern
  /// Cores that each copy an equal part, from one barrier to the last finish; empty: the device's
  /// own way of placing a copy.
  std::vector<CoreName> cores = {};
};

/// Load latency of one core at single addresses of a chain that all cores of a device see alike.
/// The nearest caches must not answer: what is asked is the way to the address's home.
struct ProfileWork {
  CoreName core;
  std::int64_t bytes = 0;      ///< of the chain
  std::int64_t addresses = 0;  ///< sampled lines, the same for each core (a function of seed)
  std::uint64_t seed = 1;      ///< of the chain and of the choice of addresses
};

/// A victim's pointer chase while other cores work. All start at one barrier; the aggressors run
/// until the victim has finished, and verify() fails when one of them did not run all the time.
struct ContentionWork {
  CoreName victim;
  /// "load": dependent loads; or another of DeviceDescription::victim_works, whose operations are
  /// counted like loads.
  std::string victim_work = "load";
  std::vector<CoreName> aggressors;     ///< empty: the victim alone
  std::string aggressor_work = "none";  ///< none, register, load, store or nt_store
  std::int64_t footprint_bytes = 0;     ///< of the victim's chain
  std::int64_t loads = 0;               ///< of the victim, in the timed part
  std::uint64_t seed = 1;
};

/// One cache line handed to and fro between two cores. `read`: each core writes a line of its own
/// and waits for the other's, so a modified line moves to a reader; `write`: both update the same
/// line in turn, so its ownership moves. `elapsed` is the time of `exchanges` round trips.
struct HandoffWork {
  CoreName from;
  CoreName to;
  std::string kind = "read";
  std::int64_t exchanges = 0;      ///< round trips in the timed part
  std::int64_t address_index = 0;  ///< which of several fresh lines
  std::uint64_t seed = 1;
};

/// Streaming traffic of several cores at once, from one barrier to the last finish.
struct StreamWork {
  std::vector<CoreName> cores;
  std::string kind = "read";       ///< read, write, copy (one read, one written) or triad
  std::int64_t bytes = 0;          ///< of one array of one core (shared: of the one array)
  std::int64_t request_bytes = 0;  ///< one access or transfer request
  std::int64_t requests = 1;       ///< requests one command carries
  bool shared = false;             ///< every core walks the same addresses
  std::int64_t passes = 1;         ///< over the same bytes in the timed part: re-reads
  std::string store = "ordinary";  ///< ordinary, or nt (past the caches)
  // Only where Device::shapes_streams(). A core moves its bytes tile by tile, each tile with as
  // many commands as it needs.
  std::optional<std::int64_t> tile_bytes;  ///< none: one command
  std::optional<std::int64_t> buffers;     ///< tiles a core holds at once; none: as many as it can
  std::string pattern = "same";            ///< of shared addresses: all in step, or staggered
  std::int64_t reread = 1;                 ///< times each tile is read in turn before the next
  std::int64_t alignment = 4096;           ///< of arrays and of rows inside a request
  std::uint64_t seed = 1;

  /// Whether it asks for what only some devices can be told.
  bool shaped() const {
    return tile_bytes || buffers || pattern != "same" || reread != 1 || alignment != 4096;
  }

  /// Arrays the kind walks: read and write 1, copy 2, triad 3.
  std::int64_t arrays() const { return kind == "triad" ? 3 : kind == "copy" ? 2 : 1; }
  /// Bytes counted: every array once a pass and core, a re-read one as often as it is read; a read
  /// for ownership is not counted.
  std::int64_t moved_bytes() const {
    const std::int64_t read = kind == "write" ? 0 : arrays() == 3 ? 2 : 1;
    return static_cast<std::int64_t>(cores.size()) * (arrays() + read * (reread - 1)) * bytes *
           passes;
  }
};

/// A type of operand of a GEMM.
struct GemmType {
  std::string_view name;
  std::int64_t bytes_of_32 = 0;   ///< 32 elements of A or B; a block of mxfp4 has one scale byte
  std::int64_t result_bytes = 0;  ///< an element of C: types of a byte or less give bf16
};
inline constexpr GemmType kGemmTypes[] = {{"bf16", 64, 2}, {"fp16", 64, 2},  {"fp8", 32, 2},
                                          {"int8", 32, 2}, {"mxfp4", 17, 2}, {"fp32", 128, 4}};
/// Null when there is no type of that name.
constexpr const GemmType* gemm_type(std::string_view name) {
  for (const GemmType& type : kGemmTypes) {
    if (type.name == name) return &type;
  }
  return nullptr;
}

/// C[M,N] = A[M,K] x B[K,N], FP32 accumulation; operands are seeded random values in [-1, 1].
/// Packing a constant operand belongs to prepare(), as a framework does with weights.
struct GemmWork {
  std::int64_t m = 0;
  std::int64_t n = 0;
  std::int64_t k = 0;
  std::string dtype = "bf16";          ///< of A and B, one of kGemmTypes; C follows from it
  std::string kernel = "auto";         ///< the device's own choice, or one it can force
  std::optional<std::int64_t> blocks;  ///< most cores it may use; none: the device's own choice
  std::vector<CoreName> cores;         ///< the cores to use; empty: the device's own choice
  bool warm = false;  ///< same operands each time; false: rotated beyond the last cache
  std::uint64_t seed = 1;

  bool operator==(const GemmWork&) const = default;

  /// Useful work, padding not counted. Exact in a double up to 2^53; formed in double because
  /// 2 m n k can pass 2^63.
  double flop() const {
    return 2.0 * static_cast<double>(m) * static_cast<double>(n) * static_cast<double>(k);
  }
  /// Least traffic of a type of kGemmTypes: A and B read once, C written once.
  double least_bytes() const {
    const GemmType* type = gemm_type(dtype);
    const double operand = type == nullptr ? 2.0 : static_cast<double>(type->bytes_of_32) / 32;
    const double result = type == nullptr ? 2.0 : static_cast<double>(type->result_bytes);
    const auto a = static_cast<double>(m), b = static_cast<double>(n), c = static_cast<double>(k);
    return operand * (a * c + c * b) + result * (a * b);
  }
  double intensity() const { return flop() / least_bytes(); }  ///< FLOP/B
};

/// A device under test. It owns its time: `now()` and every Sample are on its own clock, and
/// `description().time_source` says which. It never prints, never reads the command line, never
/// knows a probe or a file of results.
class Device {
 public:
  virtual ~Device() = default;
  virtual const DeviceDescription& description() const noexcept = 0;
  virtual Telemetry telemetry() = 0;
  /// Device time: Unix time on a real device, seconds since the step began on a modelled one.
  virtual Seconds now() = 0;
  /// Continues modelled time after a resume; a real device ignores it.
  virtual void resume_at(Seconds) {}

  /// Whether its stream engine obeys tile, buffers, pattern, reread and alignment of StreamWork.
  virtual bool shapes_streams() const noexcept { return false; }

  virtual Engine<ChaseWork>* chase() noexcept { return nullptr; }
  virtual Engine<ProfileWork>* profile() noexcept { return nullptr; }
  virtual Engine<ContentionWork>* contention() noexcept { return nullptr; }
  virtual Engine<HandoffWork>* handoff() noexcept { return nullptr; }
  virtual Engine<StreamWork>* stream() noexcept { return nullptr; }
  virtual Engine<CopyWork>* copy() noexcept { return nullptr; }
  virtual Engine<GemmWork>* gemm() noexcept { return nullptr; }
};

}  // namespace sonde
