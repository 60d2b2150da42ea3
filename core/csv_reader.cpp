#include "core/csv_reader.h"

#define CSV_IO_NO_THREAD
// The library cuts the file name in its own error texts on purpose; GCC reports that from the
// place it is inlined into, where a SYSTEM include does not silence it.
#pragma GCC diagnostic ignored "-Wstringop-truncation"
#include <libfccp/csv.h>

#include <algorithm>
#include <memory>
#include <unordered_map>

#include "core/byte_source.h"
#include "core/parse.h"
#include "core/text.h"

namespace sonde {
namespace {

constexpr std::size_t kMostBadLines = 20;

/// A cell as a message quotes it.
std::string quoted(const std::string& cell) { return shown_text(cell, 40); }

/// An empty cell has no sign.
bool above_zero(const Cell& cell) {
  if (const auto* whole = std::get_if<std::int64_t>(&cell)) return *whole > 0;
  const auto* number = std::get_if<double>(&cell);
  return number == nullptr || *number > 0;
}

/// For LineReader, which takes a short read for the end of the file, stops at an embedded NUL
/// without a word and hides a missing last newline: ByteSource notices both.
class LineBytes : public io::ByteSourceBase {
 public:
  explicit LineBytes(std::shared_ptr<ByteSource> source) : source_(std::move(source)) {}
  int read(char* buffer, int size) override { return source_->read(buffer, size); }

 private:
  std::shared_ptr<ByteSource> source_;
};

std::shared_ptr<ByteSource> open_source(const std::filesystem::path& path) {
  try {
    return std::make_shared<ByteSource>(path);
  } catch (const UsageError& error) {
    throw RefusedFile(error.what());
  }
}

/// Position in a file's columns of each known column; -1: the file has none.
struct Layout {
  std::size_t width = 0;
  std::vector<int> common;
  std::vector<int> values;
  int check = -1;
};

class TableReader {
 public:
  TableReader(const std::filesystem::path& path, const Schema& schema, const ReadOptions& options)
      : path_(path.string()), schema_(schema), options_(options), check_(column_names(schema)) {}

  Table read();

 private:
  [[noreturn]] void refuse(std::int64_t line, const std::string& why) const {
    throw RefusedFile(path_ + ":" + std::to_string(line) + ": " + why);
  }
  void read_header(std::string_view text);
  /// Empty when the row is good, else "column: reason".
  std::string read_row(std::string_view text, Row& row);
  std::string convert(const Column& column, const std::string& text, bool must, Cell& cell) const;
  std::string check_row(const std::vector<std::string>& cells);
  void add(Row row, std::int64_t line);
  void bad(std::int64_t line, const std::string& why);

  std::string path_;
  const Schema& schema_;
  ReadOptions options_;
  Layout layout_;
  std::string header_;
  RowCheck check_;
  std::vector<const std::string*> known_;              // cells of one row, kept for its memory
  std::unordered_map<std::string, std::size_t> keys_;  // key cells to index in rows
  std::vector<std::string> bad_lines_;
  std::int64_t bad_count_ = 0;
  std::size_t repeated_ = 0;
  Table table_;
};

void TableReader::read_header(std::string_view text) {
  header_ = std::string(text);
  if (text.find('\r') != std::string_view::npos) {
    refuse(1, "carriage returns inside the header: expected lines that end with LF or CRLF");
  }
  std::string problem;
  const auto names = split_record(text, &problem);
  if (!names) refuse(1, "header: " + problem);
  layout_.width = names->size();
  if (text.find(schema_.tag()) != std::string_view::npos) {
    refuse(1, "a row stands in the line of the header: the end of that line is damaged");
  }
  const auto find = [&](const std::string& name) {
    const auto first = std::find(names->begin(), names->end(), name);
    if (first == names->end()) return -1;
    if (std::find(first + 1, names->end(), name) != names->end()) {
      refuse(1, "column " + name + " appears twice");
    }
    return static_cast<int>(first - names->begin());
  };
  std::vector<std::string> missing;
  const auto place = [&](const Column& column, bool needed) {
    const int at = find(column.name);
    if (at < 0 && needed) missing.push_back(column.name);
    return at;
  };
  for (const Column& column : common_columns()) layout_.common.push_back(place(column, true));
  for (std::size_t i = 0; i < schema_.size(); ++i) {
    // A column that may be empty may be absent: files of before it came stay readable.
    const Column& column = schema_.column(i);
    layout_.values.push_back(place(column, column.required));
  }
  layout_.check = find("check");
  if (!missing.empty()) {
    refuse(1, "no column " + join_names(missing) + ": expected a " + schema_.tag() + " file");
  }
}

std::string TableReader::convert(const Column& column, const std::string& text, bool must,
                                 Cell& cell) const {
  cell = {};
  if (text.empty()) return must ? column.name + ": empty, expected a value" : "";
  switch (column.type) {
    case CellType::text:
      cell = text;
      return "";
    case CellType::integer: {
      if (const auto value = parse_integer(text)) {
        cell = *value;
        return "";
      }
      const bool edited = parse_number(text).has_value();
      return column.name + ": '" + quoted(text) + "' is not a whole number" +
             (edited ? " (edited in a spreadsheet?)" : "");
    }
    case CellType::number: {
      if (const auto value = parse_number(text)) {
        cell = *value;
        return "";
      }
      const bool comma = text.find(',') != std::string::npos;
      return column.name + ": '" + quoted(text) + "' is not a number" +
             (comma ? " (decimal comma?)" : "");
    }
  }
  return "";
}

std::string TableReader::check_row(const std::vector<std::string>& cells) {
  const std::string stored =
      layout_.check >= 0 ? cells[static_cast<std::size_t>(layout_.check)] : "";
  if (stored.empty()) {
    ++table_.unprotected;
    return "";
  }
  known_.clear();
  for (const auto* places : {&layout_.common, &layout_.values}) {
    for (int at : *places) {
      known_.push_back(at >= 0 ? &cells[static_cast<std::size_t>(at)] : nullptr);
    }
  }
  const std::string expected = check_.of(known_);
  if (stored == expected || options_.accept_edited) return "";
  return "check: '" + shown_text(stored, 12) + "' does not fit the row (" + expected +
         "): damaged or edited; --accept-edited takes it";
}

std::string TableReader::read_row(std::string_view text, Row& row) {
  if (text == header_) return "repeated header";
  if (text.find('\r') != std::string_view::npos) {
    return "a carriage return inside the line: expected lines that end with LF or CRLF";
  }
  std::string problem;
  auto cells = split_record(text, &problem);
  if (!cells) return problem;
  while (cells->size() > layout_.width && cells->back().empty())
    cells->pop_back();  // spreadsheet padding
  if (cells->size() != layout_.width) {
    return "cell count: " + std::to_string(cells->size()) + ", expected " +
           std::to_string(layout_.width);
  }
  const auto common = [&](std::size_t i) -> const std::string& {
    return (*cells)[static_cast<std::size_t>(layout_.common[i])];
  };
  const std::string& tag = common(0);
  if (tag != schema_.tag()) {
    return "schema: '" + quoted(tag) + "', expected " + schema_.tag();
  }
  if (std::string why = check_row(*cells); !why.empty()) return why;
  row.device = common(1);
  if (row.device.empty()) return "device: empty, expected a name";
  const auto source = time_source_from(common(2));
  if (!source) return "time_source: '" + quoted(common(2)) + "' is not a time source";
  row.time_source = *source;
  const auto status = status_from(common(7));
  if (!status) return "status: '" + quoted(common(7)) + "' is not ok, throttled, skipped or failed";
  row.status = *status;
  row.reason = common(8);
  if (row.status != Status::ok && row.reason.empty())
    return "reason: empty, expected one unless ok";
  std::int64_t* const integers[] = {&row.point, &row.repetition, &row.order};
  for (std::size_t i = 3; i <= 5; ++i) {
    Cell cell;
    if (std::string why = convert(common_columns()[i], common(i), true, cell); !why.empty())
      return why;
    *integers[i - 3] = std::get<std::int64_t>(cell);
    if (*integers[i - 3] < 0) return common_columns()[i].name + ": negative";
  }
  const bool measured = row.status == Status::ok || row.status == Status::throttled;
  Cell start;
  if (std::string why = convert(common_columns()[6], common(6), measured, start); !why.empty())
    return why;
  row.start_s.reset();
  if (const auto* value = std::get_if<double>(&start)) row.start_s = *value;
  row.values.resize(schema_.size());
  for (std::size_t i = 0; i < schema_.size(); ++i) {
    const Column& column = schema_.column(i);
    // What was asked stands in every row, but a part of the key only where something was reached.
    const bool asked = i < schema_.axes.size() &&
                       std::find(schema_.extra_key.begin(), schema_.extra_key.end(), column.name) ==
                           schema_.extra_key.end();
    const bool must = column.required && (measured || asked);
    const int at = layout_.values[i];
    static const std::string kAbsent;
    const std::string& cell = at >= 0 ? (*cells)[static_cast<std::size_t>(at)] : kAbsent;
    if (std::string why = convert(column, cell, must, row.values[i]); !why.empty()) return why;
    if (measured && column.positive && !above_zero(row.values[i]))
      return column.name + ": " + cell.substr(0, 40) + " is not above zero";
  }
  return "";
}

void TableReader::bad(std::int64_t line, const std::string& why) {
  ++bad_count_;
  if (bad_lines_.size() < kMostBadLines) {
    bad_lines_.push_back(path_ + ":" + std::to_string(line) + ": " + why);
  }
}

void TableReader::add(Row row, std::int64_t line) {
  std::string key = std::to_string(row.point) + ',' + std::to_string(row.repetition);
  for (const std::string& name : schema_.extra_key) key += ',' + row.text(schema_, name);
  const auto [at, fresh] = keys_.emplace(std::move(key), table_.rows.size());
  if (fresh) {
    table_.rows.push_back(std::move(row));
    table_.lines.push_back(line);
    return;
  }
  if (row_cells(schema_, table_.rows[at->second]) == row_cells(schema_, row)) {
    if (++repeated_ > kMostBadLines) return;  // a warning each would be a second file
    table_.warnings.push_back(path_ + ":" + std::to_string(line) +
                              ": the same row a second time, left out");
  } else {
    bad(line, "point, repetition: " + std::to_string(row.point) + ", " +
                  std::to_string(row.repetition) + " appears twice with other values");
  }
}

Table TableReader::read() {
  std::int64_t line_number = 0;
  try {
    const std::shared_ptr<ByteSource> source = open_source(path_);
    io::LineReader lines(path_, std::make_unique<LineBytes>(source));
    const auto next = [&]() -> const char* {
      const char* text = lines.next_line();
      if (!source->error().empty())
        throw RefusedFile(path_ + ": cannot be read: " + source->error());
      if (source->nul_line() > 0) refuse(source->nul_line(), "NUL bytes: not a CSV file");
      if (text != nullptr) ++line_number;
      return text;
    };
    const char* header = next();
    if (header == nullptr) throw RefusedFile(path_ + ": is empty, expected a header and rows");
    read_header(header);
    std::string held;
    std::int64_t held_line = 0;
    const auto take = [&] {
      if (held_line == 0 || held.empty()) return;  // a blank line is no row
      Row row;
      if (std::string why = read_row(held, row); !why.empty())
        bad(held_line, why);
      else
        add(std::move(row), held_line);
    };
    // One line is held back: only at the end is it known whether the last one was whole.
    while (const char* text = next()) {
      take();
      held = text;
      held_line = line_number;
    }
    table_.whole_bytes = source->whole_bytes();
    if (source->last() == '\n') {
      take();
    } else {
      table_.cut_line = true;
      if (held_line == 0) refuse(1, "the header has no end of line: the file was cut");
      table_.warnings.push_back(
          path_ + ":" + std::to_string(held_line) +
          ": the last line has no newline (a run that died while writing): dropped");
    }
  } catch (const io::error::line_length_limit_exceeded&) {
    throw RefusedFile(path_ + ":" + std::to_string(line_number + 1) +
                      ": the line is longer than 16 MiB");
  }
  if (bad_count_ > 0 && !options_.skip_bad_rows) {
    std::string message = path_ + ": refused, " + format_count(bad_count_) +
                          (bad_count_ == 1 ? " bad row" : " bad rows") +
                          " (--skip-bad-rows leaves them out)";
    for (const std::string& line : bad_lines_) message += "\n" + line;
    throw RefusedFile(message);
  }
  table_.skipped = bad_count_;
  if (repeated_ > kMostBadLines) {
    table_.warnings.push_back(path_ + ": " + format_count(static_cast<std::int64_t>(repeated_)) +
                              " rows stand there a second time");
  }
  for (const std::string& line : bad_lines_) table_.warnings.push_back(line + ": left out");
  if (table_.unprotected > 0) {
    table_.warnings.push_back(path_ + ": " + format_count(table_.unprotected) +
                              " unprotected rows (no check)");
  }
  return std::move(table_);
}

}  // namespace

std::optional<std::vector<std::string>> split_record(std::string_view line, std::string* problem) {
  std::vector<std::string> cells;
  std::size_t at = 0;
  while (true) {
    std::string cell;
    if (at < line.size() && line[at] == '"') {
      ++at;
      bool closed = false;
      while (at < line.size()) {
        if (line[at] != '"') {
          cell += line[at++];
        } else if (at + 1 < line.size() && line[at + 1] == '"') {
          cell += '"';
          at += 2;
        } else {
          ++at;
          closed = true;
          break;
        }
      }
      if (!closed) {
        *problem = "cell " + std::to_string(cells.size() + 1) +
                   ": a quote is left open (a cell cannot hold a line break)";
        return std::nullopt;
      }
      if (at < line.size() && line[at] != ',') {
        *problem = "cell " + std::to_string(cells.size() + 1) + ": text after a closing quote";
        return std::nullopt;
      }
    } else {
      const std::size_t end = std::min(line.find(',', at), line.size());
      cell = std::string(line.substr(at, end - at));
      if (cell.find('"') != std::string::npos) {
        *problem = "cell " + std::to_string(cells.size() + 1) + ": a quote inside an unquoted cell";
        return std::nullopt;
      }
      at = end;
    }
    cells.push_back(std::move(cell));
    if (at >= line.size()) return cells;
    ++at;  // the comma
  }
}

Table read_table(const std::filesystem::path& path, const Schema& schema,
                 const ReadOptions& options) {
  return TableReader(path, schema, options).read();
}

std::optional<std::filesystem::path> find_table(const std::filesystem::path& dir,
                                                const std::string& probe) {
  std::optional<std::filesystem::path> found;
  for (const char* suffix : {".csv", ".csv.gz"}) {
    const std::filesystem::path path = dir / (probe + suffix);
    std::error_code ignored;
    if (!std::filesystem::exists(std::filesystem::symlink_status(path, ignored))) continue;
    if (found) {
      throw RefusedFile(path.string() + ": lies beside " + found->filename().string() +
                        ": keep the one that counts");
    }
    found = path;
  }
  return found;
}

}  // namespace sonde
