#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/core_name.h"

namespace sonde {

/// Whose clock a number comes from. Goes into every row, caption and finding.
enum class TimeSource { host_clock, device_event, modelled };
const char* to_string(TimeSource source);
std::optional<TimeSource> time_source_from(const std::string& text);
/// For a caption: "measured, host clock", "measured, device events", "modelled, not measured".
const char* describe(TimeSource source);

/// One level of the memory a core sees, as the device declares it (never as inferred).
struct MemoryLevel {
  std::string name;                            ///< "L1d", "data cache", "HBM"
  std::optional<std::int64_t> capacity_bytes;  ///< unknown is unknown
  std::optional<std::int64_t> line_bytes;
  std::optional<std::int64_t> instances = {};  ///< of this cache among all cores, if known
};

/// A peak figure with where it comes from.
struct Roof {
  std::string name;    ///< "memory_bytes_per_s", "bf16_flop_per_s"
  double value = 0;    ///< base SI
  std::string source;  ///< a datasheet, a chip file
};

/// One direction of copy and the methods that can be forced; `auto` (the device's own choice)
/// is always there and comes first.
struct CopyPath {
  std::string direction;  ///< d2d, h2d, d2h
  std::vector<std::string> methods;
};

/// What a device's streaming engine can do; no kind: it has none.
struct StreamOffer {
  std::vector<std::string> kinds;           ///< read, write, copy, triad
  std::vector<std::string> stores;          ///< ordinary, nt; the default first
  std::vector<std::int64_t> request_bytes;  ///< usual sizes of a request; the default first
  std::int64_t requests = 1;                ///< default requests a command
};

/// What a device's matrix engine can do; no kernel: it has none.
struct GemmOffer {
  std::vector<std::string> dtypes;   ///< the default first
  std::vector<std::string> kernels;  ///< `auto` (the device's own choice) first
};

/// One value that a model is made of, with where it comes from.
struct ModelParameter {
  std::string name;  ///< "l2.near"
  std::string value;
  std::string unit;
  std::string source;
  std::string confidence;  ///< published, derived or guess
  std::string file;        ///< that says so
};

/// What a device says of itself. A simulated device declares no structure here: its truth is for
/// tests only.
struct DeviceDescription {
  std::string name;     ///< "host", "sim:950pr_9579"
  std::string product;  ///< "Intel(R) Xeon(R) Processor", "Ascend950PR_9579 (simulated)"
  TimeSource time_source = TimeSource::host_clock;
  bool places_blocks = false;       ///< blocks without named cores are placed by the device
  std::vector<CoreName> cores;      ///< usable cores, in the device's order
  std::vector<MemoryLevel> memory;  ///< nearest first
  std::optional<std::int64_t> memory_bytes;  ///< most that one measurement may allocate
  /// Least bytes of a walk of memory on a device whose last cache keeps a part of longer ones too.
  std::optional<std::int64_t> memory_walk_bytes = {};
  std::int64_t chase_line_bytes = 64;      ///< distance between two nodes of a chain
  std::int64_t chase_footprint_bytes = 0;  ///< default footprint of the core and block series
  bool cold_launches =
      false;  ///< a launch starts with its nearest cache empty: those series are cold
  std::int64_t profile_bytes = 0;            ///< chain of the address profile; 0: no such engine
  std::int64_t contention_bytes = 0;         ///< chain of a contention victim
  std::vector<std::string> aggressor_works;  ///< what aggressors can do; empty: no such engine
  /// What a contention victim can do, the default first; empty: only "load".
  std::vector<std::string> victim_works = {};
  std::vector<std::string> handoff_kinds;  ///< read, write; empty: no such engine
  StreamOffer stream;
  std::vector<CopyPath> copies;
  GemmOffer gemm;
  std::vector<Roof> roofs;
  std::optional<double> reference_clock_hz;  ///< at which the compute roofs are meant
  /// Name and value of what may change the numbers: governor, huge pages, SMT, driver, ...
  std::vector<std::pair<std::string, std::string>> conditions;

  /// Every value of a modelled device: in the list of devices, not in a manifest, which names the
  /// chip file and its check instead.
  std::vector<ModelParameter> parameters;

  /// Kinds of core in order of first appearance.
  std::vector<std::string> kinds() const;
  std::vector<CoreName> cores_of(const std::string& kind) const;
  std::optional<double> roof(const std::string& name) const;
  /// Bytes from which a walk by all cores together is one of memory: what the device says, else
  /// twice all instances of the last declared cache, which keep nothing of a cyclic walk that long.
  /// nullopt: no cache is declared, or its capacity is unknown.
  std::optional<std::int64_t> memory_from_bytes() const;
};

}  // namespace sonde
