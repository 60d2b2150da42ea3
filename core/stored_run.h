#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "core/csv_reader.h"
#include "core/manifest.h"

namespace sonde {

/// The rows of one probe in a run directory.
struct ProbeRows {
  const Schema* schema = nullptr;
  std::string file;                   ///< name inside the run directory; empty: not measured
  std::optional<Table> table;         ///< nullopt: not measured, or refused
  std::vector<std::string> problems;  ///< why the file was refused, one line each
  bool refused() const { return !problems.empty(); }
};

/// A run directory as it lies on disk: manifest and CSVs, nothing else.
struct StoredRun {
  std::filesystem::path dir;
  std::string name;  ///< of the directory: the `run` of every finding
  Manifest manifest;
  std::vector<ProbeRows> probes;      ///< one for each schema, measured or not
  std::vector<std::string> warnings;  ///< one line each

  const ProbeRows* probe(const std::string& probe_name) const;
  bool any_table() const;
  bool any_refused() const;
};

/// Throws UsageError when `dir` or its manifest is missing or unreadable. A refused CSV is kept as
/// problems of its probe: the others are still read.
StoredRun load_run(const std::filesystem::path& dir, const ReadOptions& options);

}  // namespace sonde
