#pragma once

#include <cstdint>
#include <optional>
#include <string>
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

/// What the last run() took, on the device's own clock.
struct Sample {
  Seconds elapsed;                  ///< the whole launch
  std::vector<CoreName> placement;  ///< core of each block, in block order, as verified
  std::optional<Hertz> clock;  ///< of the core that was measured, read just after the timed part
  std::string note;            ///< kernel or page kind really used; empty if nothing to say
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
};

/// State of the device around a point; unknown is unknown.
struct Telemetry {
  std::optional<Hertz> clock;
  std::optional<Watts> power;  ///< now, or the mean since the reading before
  std::optional<Celsius> temperature;
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

  virtual Engine<ChaseWork>* chase() noexcept { return nullptr; }
  virtual Engine<CopyWork>* copy() noexcept { return nullptr; }
};

}  // namespace sonde
