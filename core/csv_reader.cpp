#include "core/csv_reader.h"

#define CSV_IO_NO_THREAD
// The library cuts the file name in its own error texts on purpose; GCC reports that from the
// place it is inlined into, where a SYSTEM include does not silence it.
#pragma GCC diagnostic ignored "-Wstringop-truncation"
#include <libfccp/csv.h>

#include <algorithm>
#include <memory>

#include "core/byte_source.h"
#include "core/key_index.h"
#include "core/parse.h"
#include "core/row_batches.h"
#include "core/row_parser.h"

namespace sonde {
namespace {

constexpr std::size_t kMostBadLines = 20;

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

class TableReader {
 public:
  TableReader(const std::filesystem::path& path, const Schema& schema, const ReadOptions& options)
      : path_(path.string()), schema_(schema), options_(options), table_(schema) {
    for (const std::string& name : schema.extra_key) extra_key_.push_back(schema.index(name));
  }

  Table read();

 private:
  [[noreturn]] void refuse(std::int64_t line, const std::string& why) const {
    throw RefusedFile(path_ + ":" + std::to_string(line) + ": " + why);
  }
  void read_rows();
  void add(std::int64_t line, const RowCells& row);
  /// Of a stored row.
  void key_of(std::size_t row, std::vector<std::int64_t>& key) const;
  /// Index of the stored row with the same key; nullopt when it is the first.
  std::optional<std::size_t> find_same(const RowCells& row);
  void bad(std::int64_t line, const std::string& why);

  std::string path_;
  const Schema& schema_;
  ReadOptions options_;
  std::vector<std::size_t> extra_key_;  // columns
  std::vector<std::int64_t> key_;       // kept for its memory
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

std::optional<std::size_t> TableReader::find_same(const RowCells& row) {
  constexpr std::int64_t kMostPoints = 1 << 22;  // a point beyond is no reason to take memory
  if (counting_ && extra_key_.empty() && row.point < kMostPoints) {
    const auto point = static_cast<std::size_t>(row.point);
    if (point >= next_.size()) next_.resize(std::max(point + 1, 2 * next_.size()), 0);
    if (row.repetition == next_[point]) {
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
  key_.assign({row.point, row.repetition});
  for (std::size_t at : extra_key_) {
    const auto* part = std::get_if<std::int64_t>(&row.values[at]);
    key_.push_back(part == nullptr ? 0 : *part);
    key_.push_back(part != nullptr);
  }
  return keys_.find_or_add(key_, table_.rows.size());
}

void TableReader::add(std::int64_t line, const RowCells& row) {
  const std::optional<std::size_t> same = find_same(row);
  if (!same) {
    table_.rows.add(row);
    table_.lines.add(line);
    return;
  }
  Rows one(schema_);
  one.add(row);
  if (row_cells(schema_, table_.rows[*same].whole()) == row_cells(schema_, one[0].whole())) {
    if (++repeated_ > kMostBadLines) return;  // a warning each would be a second file
    table_.warnings.push_back(path_ + ":" + std::to_string(line) +
                              ": the same row a second time, left out");
  } else {
    bad(line, "point, repetition: " + std::to_string(row.point) + ", " +
                  std::to_string(row.repetition) + " appears twice with other values");
  }
}

void TableReader::read_rows() {
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
    RowParser parser(schema_, options_);
    if (const std::string why = parser.read_header(header); !why.empty()) refuse(1, why);
    RowBatches batches(parser,
                       [this](std::int64_t line, const RowCells& row, const std::string& why) {
                         why.empty() ? add(line, row) : bad(line, why);
                       });
    bool blank = true;  // the last line: no row
    while (const char* text = next()) {
      blank = *text == '\0';
      if (!blank) batches.add(line_number, text);
    }
    table_.whole_bytes = source->whole_bytes();
    table_.content_bytes = source->bytes();
    table_.crc32 = hex_digits(crc);
    table_.cut_line = source->last() != '\n';
    if (table_.cut_line && line_number == 1)
      refuse(1, "the header has no end of line: the file was cut");
    // Only now is it known whether the last line was whole.
    if (table_.cut_line && !blank) batches.drop_last();
    batches.finish();
    table_.unprotected = batches.unprotected();
  } catch (const io::error::line_length_limit_exceeded&) {
    throw RefusedFile(path_ + ":" + std::to_string(line_number + 1) +
                      ": the line is longer than 16 MiB");
  }
  if (table_.cut_line) {
    table_.warnings.push_back(
        path_ + ":" + std::to_string(line_number) +
        ": the last line has no newline (a run that died while writing): dropped");
  }
}

Table TableReader::read() {
  read_rows();
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
                              (table_.unprotected == 1 ? " unprotected row" : " unprotected rows") +
                              " (no check)");
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
