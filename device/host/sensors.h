#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/files.h"
#include "core/units.h"

namespace sonde::host {

/// Mean package power between two readings of the RAPL energy counters. Not thread safe.
class PowerMeter {
 public:
  explicit PowerMeter(FileRoot root) : root_(std::move(root)) {}
  /// Mean power since the last call, `at_ns` being the time of this one; nullopt at the first
  /// call, without readable counters, and within 2 ms of the last call.
  std::optional<Watts> since_last(std::int64_t at_ns);

 private:
  FileRoot root_;
  std::map<std::string, long long> energy_uj_;  ///< of each package at the last call
  std::int64_t at_ns_ = 0;
};

/// Hottest processor sensor among thermal zones and hwmon; nullopt when none is readable.
std::optional<Celsius> processor_temperature(const FileRoot& root);

/// Clock as the frequency driver states it: the fallback where it cannot be measured.
std::optional<Hertz> stated_clock(const FileRoot& root, int cpu);

/// Times that a CPU quota or a thermal limit has held back this process or one of `cpus` until
/// now; absent where neither is counted.
std::optional<std::int64_t> throttle_events(const FileRoot& root, const std::vector<int>& cpus);

}  // namespace sonde::host
