#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/csv_reader.h"
#include "core/rows.h"
#include "core/schema.h"

namespace sonde {

/// Makes cells of the lines of one file. Once the header is read nothing in it changes: several
/// threads may parse with the same one.
class RowParser {
 public:
  /// Memory that is kept from row to row, one for each thread.
  struct Scratch {
    std::vector<std::string_view> cells;
    std::string covered;           ///< what the check of a row covers
    std::int64_t unprotected = 0;  ///< rows without a check so far
  };

  RowParser(const Schema& schema, const ReadOptions& options);

  /// What is wrong with the first line; empty when it can be used.
  std::string read_header(std::string_view text);

  /// Empty when the row is good, else "column: reason". Texts of the row point into `text`, or into
  /// `unquoted`, which grows by at most text.size() and must have the room: it must not move.
  std::string parse(std::string_view text, RowCells& row, std::string& unquoted,
                    Scratch& scratch) const;

 private:
  std::string convert(const Column& column, std::string_view text, bool must, CellView& cell) const;
  std::string check_row(Scratch& scratch) const;
  std::string values(const std::vector<std::string_view>& cells, bool measured,
                     RowCells& row) const;

  const Schema& schema_;
  ReadOptions options_;
  std::string tag_;
  std::string header_;
  std::vector<bool> asked_;  // by column: filled in every row
  // Position in the file's columns of each known column; -1: the file has none.
  std::size_t width_ = 0;
  std::vector<int> common_, places_;
  int check_ = -1;
  /// What the check of a row covers, sorted by name: "name=" and the cell's place in the file.
  std::vector<std::pair<std::string, std::size_t>> covered_;
};

}  // namespace sonde
