#include "core/row_parser.h"

#include <algorithm>

#include "core/csv_record.h"
#include "core/parse.h"
#include "core/text.h"

namespace sonde {
namespace {

/// A cell as a message quotes it.
std::string quoted(std::string_view cell) { return shown_text(cell, 40); }

/// An empty cell has no sign.
bool above_zero(const CellView& cell) {
  if (const auto* whole = std::get_if<std::int64_t>(&cell)) return *whole > 0;
  const auto* number = std::get_if<double>(&cell);
  return number == nullptr || *number > 0;
}

}  // namespace

RowParser::RowParser(const Schema& schema, const ReadOptions& options)
    : schema_(schema), options_(options), tag_(schema.tag()) {
  for (std::size_t i = 0; i < schema.size(); ++i) {
    // What was asked stands in every row, but a part of the key only where something was reached.
    const auto& key = schema.extra_key;
    asked_.push_back(i < schema.axes.size() &&
                     std::find(key.begin(), key.end(), schema.column(i).name) == key.end());
  }
}

std::string RowParser::read_header(std::string_view text) {
  header_ = std::string(text);
  if (text.find('\r') != std::string_view::npos) {
    return "carriage returns inside the header: expected lines that end with LF or CRLF";
  }
  std::string problem;
  const auto names = split_record(text, &problem);
  if (!names) return "header: " + problem;
  width_ = names->size();
  if (text.find(tag_) != std::string_view::npos) {
    return "a row stands in the line of the header: the end of that line is damaged";
  }
  std::vector<std::string> missing;
  std::string twice;
  const auto place = [&](const std::string& name, bool needed) {
    const auto first = std::find(names->begin(), names->end(), name);
    if (first == names->end()) {
      if (needed) missing.push_back(name);
      return -1;
    }
    if (twice.empty() && std::find(first + 1, names->end(), name) != names->end()) twice = name;
    const auto at = first - names->begin();
    if (name != "check") covered_.emplace_back(name + "=", static_cast<std::size_t>(at));
    return static_cast<int>(at);
  };
  for (const Column& column : common_columns()) common_.push_back(place(column.name, true));
  for (std::size_t i = 0; i < schema_.size(); ++i) {
    // A column that may be empty may be absent: files of before it came stay readable.
    places_.push_back(place(schema_.column(i).name, schema_.column(i).required));
  }
  check_ = place("check", false);
  if (!twice.empty()) return "column " + twice + " appears twice";
  std::sort(covered_.begin(), covered_.end(), [](const auto& a, const auto& b) {
    return a.first.substr(0, a.first.size() - 1) < b.first.substr(0, b.first.size() - 1);
  });
  if (!missing.empty()) {
    return "no column " + join_names(missing) + ": expected a " + tag_ + " file";
  }
  return "";
}

std::string RowParser::convert(const Column& column, std::string_view text, bool must,
                               CellView& cell) const {
  if (text.empty()) {
    cell = CellView();
    return must ? column.name + ": empty, expected a value" : "";
  }
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

std::string RowParser::check_row(Scratch& scratch) const {
  const std::vector<std::string_view>& cells = scratch.cells;
  const std::string_view stored =
      check_ >= 0 ? cells[static_cast<std::size_t>(check_)] : std::string_view();
  if (stored.empty()) {
    ++scratch.unprotected;
    return "";
  }
  if (options_.accept_edited) return "";
  std::string& lines = scratch.covered;
  lines.clear();
  for (const auto& [name, at] : covered_) {
    if (cells[at].empty()) continue;
    lines.append(name).append(cells[at]).push_back('\n');
  }
  const std::string expected = checksum(lines);
  if (stored == expected) return "";
  return "check: '" + shown_text(stored, 12) + "' does not fit the row (" + expected +
         "): damaged or edited; --accept-edited takes it";
}

std::string RowParser::parse(std::string_view text, RowCells& row, std::string& unquoted,
                             Scratch& scratch) const {
  std::vector<std::string_view>& cells = scratch.cells;
  if (text == header_) return "repeated header";
  if (text.find('\r') != std::string_view::npos) {
    return "a carriage return inside the line: expected lines that end with LF or CRLF";
  }
  std::string problem;
  if (!split_cells(text, cells, unquoted, &problem)) return problem;
  while (cells.size() > width_ && cells.back().empty()) cells.pop_back();  // spreadsheet padding
  if (cells.size() != width_) {
    return "cell count: " + std::to_string(cells.size()) + ", expected " + std::to_string(width_);
  }
  const auto common = [&](std::size_t i) { return cells[static_cast<std::size_t>(common_[i])]; };
  if (common(0) != tag_) {
    return "schema: '" + quoted(common(0)) + "', expected " + tag_;
  }
  if (std::string why = check_row(scratch); !why.empty()) return why;
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
  return values(cells, measured, row);
}

std::string RowParser::values(const std::vector<std::string_view>& cells, bool measured,
                              RowCells& row) const {
  row.values.resize(schema_.size());
  for (std::size_t i = 0; i < schema_.size(); ++i) {
    const Column& column = schema_.column(i);
    const bool must = column.required && (measured || asked_[i]);
    const std::string_view cell =
        places_[i] >= 0 ? cells[static_cast<std::size_t>(places_[i])] : std::string_view();
    if (std::string why = convert(column, cell, must, row.values[i]); !why.empty()) return why;
    if (measured && column.positive && !above_zero(row.values[i]))
      return column.name + ": " + std::string(cell.substr(0, 40)) + " is not above zero";
  }
  return "";
}

}  // namespace sonde
