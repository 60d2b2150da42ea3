#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/description.h"

namespace sonde {

/// One step of a run: which probe, asked what, how far it came.
struct Step {
  std::string probe;
  std::map<std::string, std::string> options;  ///< everything that decides the rows
  std::string state;                           ///< running, complete, interrupted, failed
  bool adaptive = true;                        ///< repetitions chosen by the stopping rule
  std::string reason;                          ///< why it is not complete
  std::optional<std::int64_t> rows = {};       ///< that its file held when it ended
};

/// manifest.json: what the device said of itself and what was asked. All a report may know beside
/// the rows.
struct Manifest {
  std::string version;       ///< of the suite
  std::string revision;      ///< of its source
  std::string build_preset;  ///< dev, measure or ci
  std::uint64_t seed = 1;
  std::string started_utc;  ///< wall clock, ISO 8601
  DeviceDescription device;
  std::optional<double> idle_power_w;  ///< read before the first sample
  std::optional<double> idle_temperature_c;
  std::vector<Step> steps;

  const Step* step(const std::string& probe) const;
  Step* step(const std::string& probe);
};

/// Throws UsageError (one line naming file and field) when it is not a manifest of this schema.
Manifest read_manifest(const std::filesystem::path& path);
/// The same of a text; `file` names it in errors.
Manifest parse_manifest(std::string_view text, const std::string& file);
/// nullopt when there is no manifest.json in `run`.
std::optional<Manifest> find_manifest(const std::filesystem::path& run);
/// What parse_manifest reads; bytes that are not UTF-8 are replaced.
std::string manifest_text(const Manifest& manifest);
/// By write and rename. Throws OutputError.
void write_manifest(const std::filesystem::path& run, const Manifest& manifest);

/// One line of `sonde devices --json`.
struct DeviceEntry {
  std::string name;
  std::string reason;                       ///< why it is not usable
  std::optional<DeviceDescription> device;  ///< what a usable one says of itself
};
std::string device_list_json(const std::vector<DeviceEntry>& entries);

}  // namespace sonde
