#pragma once

#include <chrono>
#include <filesystem>
#include <string>

#include "core/schema.h"

namespace sonde {

/// One RFC 4180 cell: quoted when it holds a comma, a quote or blanks at an end.
std::string quote_cell(const std::string& text);

std::string csv_header(const Schema& schema);

/// Appends rows to one file. Each row is one write(2), so a killed process loses at most the row
/// it was writing; a write that fails half-way is cut back to the last whole row.
/// fsync at most once a second and in close(). Not thread safe.
class CsvWriter {
 public:
  /// Opens for append and writes the header if the file is empty. "-" is standard output.
  /// Throws OutputError naming the path.
  CsvWriter(const Schema& schema, const std::filesystem::path& path);
  ~CsvWriter();
  CsvWriter(const CsvWriter&) = delete;
  CsvWriter& operator=(const CsvWriter&) = delete;

  void write(const Row& row);  ///< throws OutputError
  void close();                ///< fsync and close; throws OutputError

 private:
  void put(const std::string& bytes);
  void sync();

  const Schema& schema_;
  RowCheck check_;
  std::string name_;
  int fd_ = -1;
  bool seekable_ = false;
  std::chrono::steady_clock::time_point last_sync_;
};

}  // namespace sonde
