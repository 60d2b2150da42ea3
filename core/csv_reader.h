#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/error.h"
#include "core/rows.h"

namespace sonde {

/// Splits one record by RFC 4180. nullopt, with `*problem` set, when a quote is left open (the
/// format has no line breaks inside a cell) or text follows a closing quote.
std::optional<std::vector<std::string>> split_record(std::string_view line, std::string* problem);

struct ReadOptions {
  bool skip_bad_rows = false;  ///< leave bad rows out and count them instead of refusing the file
  bool accept_edited = false;  ///< take rows whose `check` does not fit
};

/// What a result file held.
struct Table {
  Table() = default;
  explicit Table(const Schema& schema) : rows(schema) {}

  Rows rows;                          ///< in file order
  Integers lines;                     ///< line of each row, from 1
  std::vector<std::string> warnings;  ///< one line each, naming file and line
  std::int64_t unprotected = 0;       ///< rows without a `check`
  std::int64_t skipped = 0;           ///< bad rows left out by skip_bad_rows
  std::int64_t whole_bytes = 0;       ///< bytes up to the end of the last whole line
  std::int64_t content_bytes = 0;     ///< of the whole file, unpacked
  std::string crc32;                  ///< of the same, 8 hex digits
  bool cut_line = false;              ///< a last line without newline was dropped
};

/// A file that is refused: up to 20 bad lines, each `file:line: column: reason`. Exit 2.
class RefusedFile : public Error {
 public:
  explicit RefusedFile(const std::string& message) : Error(ExitCode::usage, message) {}
};

/// Reads `path` (plain or gzip) of the given schema: columns by name in any order; byte order
/// mark, CRLF and unknown extra columns are fine. Throws RefusedFile.
Table read_table(const std::filesystem::path& path, const Schema& schema,
                 const ReadOptions& options = {});

/// `dir/<probe>.csv` or `.csv.gz`; nullopt when there is neither. Throws RefusedFile for both.
std::optional<std::filesystem::path> find_table(const std::filesystem::path& dir,
                                                const std::string& probe);

}  // namespace sonde
