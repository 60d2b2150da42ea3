#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/stored_run.h"
#include "device/device.h"

namespace sonde {

/// Rows of a modelled device as its probes would store them, in memory: a run without a directory.
class ChipRows {
 public:
  explicit ChipRows(const DeviceDescription& device, std::uint64_t seed = 11);

  void add(const std::string& probe, std::int64_t repetition, std::vector<Cell> values);
  const StoredRun& run() const { return run_; }
  std::uint64_t seed() const { return run_.manifest.seed; }

 private:
  StoredRun run_;
};

/// One profile a core. Throws when a check fails.
void measure_profiles(Device& device, std::int64_t addresses, ChipRows& rows);

/// The design of pairs of probes/pair_design.h: every victim alone, beside its controls, and beside
/// cores that load, until every pair is decided. `repetitions` of each point. Returns the number of
/// launches with an aggressor that loads.
std::int64_t measure_pairs(Device& device, std::int64_t repetitions, ChipRows& rows);

}  // namespace sonde
