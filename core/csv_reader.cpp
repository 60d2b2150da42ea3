#include "core/csv_reader.h"

#define CSV_IO_NO_THREAD
// The library cuts the file name in its own error texts on purpose; GCC reports that from the
// place it is inlined into, where a SYSTEM include does not silence it.
#pragma GCC diagnostic ignored "-Wstringop-truncation"
#include <libfccp/csv.h>

#include <algorithm>
#include <memory>

#include "core/byte_source.h"
#include "core/csv_record.h"
#include "core/key_index.h"
#include "core/parse.h"
#include "core/text.h"

namespace sonde {
namespace {

constexpr std::size_t kMostBadLines = 20;

/// A cell as a message quotes it.
std::string quoted(std::string_view cell) { return shown_text(cell, 40); }

/// An empty cell has no sign.
bool above_zero(const CellView& cell) {
  if (const auto* whole = std::get_if<std::int64_t>(&cell)) return *whole > 0;
  const auto* number = std::get_if<double>(&cell);
  return number == nullptr || *number > 0;
}

/// For LineReader, which takes a short read for the end of the file, stops at an embedded NUL
/// without a word and hides a missing last newline: ByteSource notices both.
class LineBytes : public io::ByteSourceBase {
 public:
  LineBytes(std::shared_ptr<ByteSource> source, std::uint32_t& crc)
      : source_(std::move(source)), crc_(crc) {}
  int read(char* buffer, int size) override {
    const int count = source_->read(buffer, size);
    if (count > 0) crc_ = extend_crc32(crc_, {buffer, static_cast<std::size_t>(count)});
    return count;
  }

 private:
  std::shared_ptr<ByteSource> source_;
  std::uint32_t& crc_;
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
      : path_(path.string()), schema_(schema), options_(options), tag_(schema.tag()) {
    for (std::size_t i = 0; i < schema.size(); ++i) {
      // What was asked stands in every row, but a part of the key only where something was reached.
      const auto& key = schema.extra_key;
      asked_.push_back(i < schema.axes.size() &&
                       std::find(key.begin(), key.end(), schema.column(i).name) == key.end());
    }
    for (const std::string& name : schema.extra_key) extra_key_.push_back(schema.index(name));
    row_.values.resize(schema.size());
    table_.rows = Rows(schema);
  }

  Table read();

 private:
  [[noreturn]] void refuse(std::int64_t line, const std::string& why) const {
    throw RefusedFile(path_ + ":" + std::to_string(line) + ": " + why);
  }
  void read_header(std::string_view text);
  /// Reads into row_. Empty when the row is good, else "column: reason".
  std::string read_row(std::string_view text);
  std::string convert(const Column& column, std::string_view text, bool must, CellView& cell) const;
  std::string check_row();
  void add(std::int64_t line);
  /// Of a stored row.
  void key_of(std::size_t row, std::vector<std::int64_t>& key) const;
  /// Index of the stored row with the key of row_; nullopt when it is the first.
  std::optional<std::size_t> find_same();
  void bad(std::int64_t line, const std::string& why);

  std::string path_;
  const Schema& schema_;
  ReadOptions options_;
  Layout layout_;
  std::string header_;
  std::string tag_;
  std::vector<bool> asked_;              // by column: filled in every row
  std::vector<std::size_t> extra_key_;   // columns
  std::vector<std::string_view> cells_;  // of one row, kept for their memory, as are the next
  std::string unquoted_, lines_;
  RowCells row_;
  std::vector<std::int64_t> key_;
  /// What the check of a row covers, sorted by name: "name=" and the cell's place in the file.
  std::vector<std::pair<std::string, std::size_t>> covered_;
  // Repetitions of a point come in order in what was not edited: then counting them is enough.
  // From the first that does not on, all keys are held.
  bool counting_ = true;
  std::vector<std::int64_t> next_;  // by point: repetition not seen yet
  struct KeyOfRow {
    const TableReader* reader;
    void operator()(std::size_t row, std::vector<std::int64_t>& key) const {
      reader->key_of(row, key);
    }
  };
  KeyIndex<KeyOfRow> keys_{KeyOfRow{this}};
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
  const std::vector<std::string> known = column_names(schema_);
  for (std::size_t i = 0; i < known.size(); ++i) {
    const std::size_t commons = layout_.common.size();
    const int at = i < commons ? layout_.common[i] : layout_.values[i - commons];
    if (at >= 0) covered_.emplace_back(known[i] + "=", static_cast<std::size_t>(at));
  }
  std::sort(covered_.begin(), covered_.end(), [](const auto& a, const auto& b) {
    return a.first.substr(0, a.first.size() - 1) < b.first.substr(0, b.first.size() - 1);
  });
  if (!missing.empty()) {
    refuse(1, "no column " + join_names(missing) + ": expected a " + schema_.tag() + " file");
  }
}

std::string TableReader::convert(const Column& column, std::string_view text, bool must,
                                 CellView& cell) const {
  cell = CellView();
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

std::string TableReader::check_row() {
  const std::string_view stored =
      layout_.check >= 0 ? cells_[static_cast<std::size_t>(layout_.check)] : std::string_view();
  if (stored.empty()) {
    ++table_.unprotected;
    return "";
  }
  if (options_.accept_edited) return "";
  lines_.clear();
  for (const auto& [name, at] : covered_) {
    if (cells_[at].empty()) continue;
    lines_ += name;
    lines_ += cells_[at];
    lines_ += '\n';
  }
  const std::string expected = checksum(lines_);
  if (stored == expected) return "";
  return "check: '" + shown_text(stored, 12) + "' does not fit the row (" + expected +
         "): damaged or edited; --accept-edited takes it";
}

std::string TableReader::read_row(std::string_view text) {
  RowCells& row = row_;
  if (text == header_) return "repeated header";
  if (text.find('\r') != std::string_view::npos) {
    return "a carriage return inside the line: expected lines that end with LF or CRLF";
  }
  std::string problem;
  if (!split_cells(text, cells_, unquoted_, &problem)) return problem;
  while (cells_.size() > layout_.width && cells_.back().empty())
    cells_.pop_back();  // spreadsheet padding
  if (cells_.size() != layout_.width) {
    return "cell count: " + std::to_string(cells_.size()) + ", expected " +
           std::to_string(layout_.width);
  }
  const auto common = [&](std::size_t i) {
    return cells_[static_cast<std::size_t>(layout_.common[i])];
  };
  if (common(0) != tag_) {
    return "schema: '" + quoted(common(0)) + "', expected " + tag_;
  }
  if (std::string why = check_row(); !why.empty()) return why;
  row.device = common(1);
  if (row.device.empty()) return "device: empty, expected a name";
  const auto source = time_source_from(std::string(common(2)));
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
    CellView cell;
    if (std::string why = convert(common_columns()[i], common(i), true, cell); !why.empty())
      return why;
    *integers[i - 3] = std::get<std::int64_t>(cell);
    if (*integers[i - 3] < 0) return common_columns()[i].name + ": negative";
  }
  const bool measured = row.status == Status::ok || row.status == Status::throttled;
  CellView start;
  if (std::string why = convert(common_columns()[6], common(6), measured, start); !why.empty())
    return why;
  row.start_s.reset();
  if (const auto* value = std::get_if<double>(&start)) row.start_s = *value;
  for (std::size_t i = 0; i < schema_.size(); ++i) {
    const Column& column = schema_.column(i);
    const bool must = column.required && (measured || asked_[i]);
    const int at = layout_.values[i];
    const std::string_view cell =
        at >= 0 ? cells_[static_cast<std::size_t>(at)] : std::string_view();
    if (std::string why = convert(column, cell, must, row.values[i]); !why.empty()) return why;
    if (measured && column.positive && !above_zero(row.values[i]))
      return column.name + ": " + std::string(cell.substr(0, 40)) + " is not above zero";
  }
  return "";
}

void TableReader::bad(std::int64_t line, const std::string& why) {
  ++bad_count_;
  if (bad_lines_.size() < kMostBadLines) {
    bad_lines_.push_back(path_ + ":" + std::to_string(line) + ": " + why);
  }
}

void TableReader::key_of(std::size_t row, std::vector<std::int64_t>& key) const {
  const Rows& rows = table_.rows;
  key.assign({rows.points()[row], rows.repetitions()[row]});
  for (std::size_t at : extra_key_) {
    const IntegerColumn& cells = rows.integers(at);
    key.push_back(cells.value(row));
    key.push_back(cells.filled(row));
  }
}

std::optional<std::size_t> TableReader::find_same() {
  constexpr std::int64_t kMostPoints = 1 << 22;  // a point beyond is no reason to take memory
  if (counting_ && extra_key_.empty() && row_.point < kMostPoints) {
    const auto point = static_cast<std::size_t>(row_.point);
    if (point >= next_.size()) next_.resize(std::max(point + 1, 2 * next_.size()), 0);
    if (row_.repetition == next_[point]) {
      ++next_[point];
      return std::nullopt;
    }
  }
  if (counting_) {
    counting_ = false;
    for (std::size_t i = 0; i < table_.rows.size(); ++i) {
      key_of(i, key_);
      keys_.find_or_add(key_, i);
    }
    next_ = {};
  }
  key_.assign({row_.point, row_.repetition});
  for (std::size_t at : extra_key_) {
    const auto* part = std::get_if<std::int64_t>(&row_.values[at]);
    key_.push_back(part == nullptr ? 0 : *part);
    key_.push_back(part != nullptr);
  }
  return keys_.find_or_add(key_, table_.rows.size());
}

void TableReader::add(std::int64_t line) {
  const std::optional<std::size_t> same = find_same();
  if (!same) {
    table_.rows.add(row_);
    table_.lines.add(line);
    return;
  }
  Rows one(schema_);
  one.add(row_);
  if (row_cells(schema_, table_.rows[*same].whole()) == row_cells(schema_, one[0].whole())) {
    if (++repeated_ > kMostBadLines) return;  // a warning each would be a second file
    table_.warnings.push_back(path_ + ":" + std::to_string(line) +
                              ": the same row a second time, left out");
  } else {
    bad(line, "point, repetition: " + std::to_string(row_.point) + ", " +
                  std::to_string(row_.repetition) + " appears twice with other values");
  }
}

Table TableReader::read() {
  std::int64_t line_number = 0;
  std::uint32_t crc = 0;
  try {
    const std::shared_ptr<ByteSource> source = open_source(path_);
    io::LineReader lines(path_, std::make_unique<LineBytes>(source, crc));
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
      if (std::string why = read_row(held); !why.empty())
        bad(held_line, why);
      else
        add(held_line);
    };
    // One line is held back: only at the end is it known whether the last one was whole.
    while (const char* text = next()) {
      take();
      held = text;
      held_line = line_number;
    }
    table_.whole_bytes = source->whole_bytes();
    table_.content_bytes = source->bytes();
    table_.crc32 = hex_digits(crc);
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
