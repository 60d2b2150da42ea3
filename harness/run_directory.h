#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "core/csv_reader.h"
#include "core/csv_writer.h"
#include "core/files.h"
#include "core/manifest.h"

namespace sonde {

/// What one probe asks of a run directory.
struct StepRequest {
  std::string probe;
  std::map<std::string, std::string> options;
  bool adaptive = true;
  std::uint64_t seed = 1;
  DeviceDescription device;
  std::optional<double> idle_power_w;  ///< read before anything ran
  std::optional<double> idle_temperature_c;
};

/// A run directory opened by one probe: locked, its manifest agreeing with what is asked, the rows
/// already stored read back. Creating a new one is exclusive; an existing one is resumed.
class RunDirectory {
 public:
  /// `out` empty: `sonde-<device>-<UTC>[-n]` is created. Throws UsageError when another run holds
  /// it, when it belongs to another device or seed, or when the step was stored with other
  /// options; OutputError when it cannot be written.
  RunDirectory(const std::string& out, const StepRequest& request, const Schema& schema,
               const ReadOptions& reading);

  const std::filesystem::path& path() const { return path_; }
  bool created() const { return created_; }
  /// The manifest says that the step was finished before with the same options.
  bool was_complete() const { return complete_; }
  /// What reading the rows stored so far gave; the rows themselves are stored_rows().
  const std::vector<std::string>& warnings() const { return warnings_; }
  const std::vector<Row>& stored_rows() const { return stored_; }
  /// Forgets the last `rows` stored rows; rows() cuts them off the file.
  void drop_tail(std::size_t rows);

  /// The step's CSV for append; the first call marks the step running and cuts a half row off.
  CsvWriter& rows();
  void write(const Row& row);  ///< to rows(), counted
  /// Closes the CSV and stores how the step ended.
  void finish(const std::string& state, const std::string& reason);

 private:
  std::filesystem::path csv_path() const { return path_ / (request_.probe + ".csv"); }
  void check_manifest();
  void cut_dropped();
  void store_state(const std::string& state, const std::string& reason);

  std::filesystem::path path_;
  StepRequest request_;
  const Schema& schema_;
  bool created_ = false;
  bool complete_ = false;
  std::unique_ptr<FileLock> lock_;
  Manifest manifest_;
  std::vector<Row> stored_;
  std::vector<std::string> warnings_;
  Integers lines_;                            ///< of the rows that were read
  std::optional<std::int64_t> whole_bytes_;   ///< of a file with half a row at its end
  std::optional<std::int64_t> dropped_from_;  ///< line from which the file is cut off
  std::unique_ptr<CsvWriter> writer_;
  std::int64_t written_ = 0;
};

/// Creates `sonde-<device>-<UTC>[-n]` in the working directory, exclusively. Throws OutputError.
std::filesystem::path create_run_directory(const std::string& device);

/// The part of a device name that a directory name can hold ("sim:950pr_9579" -> "sim-950pr_9579").
std::string directory_stem(const std::string& device);

}  // namespace sonde
