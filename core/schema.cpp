#include "core/schema.h"

#include <algorithm>
#include <stdexcept>

#include "core/parse.h"

namespace sonde {

std::string format_cell(const Cell& cell) {
  if (const auto* integer = std::get_if<std::int64_t>(&cell)) return std::to_string(*integer);
  if (const auto* number = std::get_if<double>(&cell)) return format_number(*number);
  if (const auto* text = std::get_if<std::string>(&cell)) {
    std::string clean = *text;
    for (char& c : clean) {
      if (c == '\r' || c == '\n' || c == '\0') c = ' ';
    }
    return clean;
  }
  return {};
}

const char* to_string(Status status) {
  switch (status) {
    case Status::ok:
      return "ok";
    case Status::throttled:
      return "throttled";
    case Status::skipped:
      return "skipped";
    case Status::failed:
      return "failed";
  }
  return "";
}

std::optional<Status> status_from(std::string_view text) {
  for (Status status : {Status::ok, Status::throttled, Status::skipped, Status::failed}) {
    if (text == to_string(status)) return status;
  }
  return std::nullopt;
}

std::size_t Schema::index(std::string_view name) const {
  for (std::size_t i = 0; i < size(); ++i) {
    if (column(i).name == name) return i;
  }
  throw std::out_of_range("schema " + tag() + " has no column " + std::string(name));
}

std::optional<double> Row::number(const Schema& schema, std::string_view name) const {
  const Cell& cell = at(schema, name);
  if (const auto* value = std::get_if<double>(&cell)) return *value;
  if (const auto* value = std::get_if<std::int64_t>(&cell)) return static_cast<double>(*value);
  return std::nullopt;
}

std::optional<std::int64_t> Row::integer(const Schema& schema, std::string_view name) const {
  const Cell& cell = at(schema, name);
  if (const auto* value = std::get_if<std::int64_t>(&cell)) return *value;
  return std::nullopt;
}

std::string Row::text(const Schema& schema, std::string_view name) const {
  return format_cell(at(schema, name));
}

const std::vector<Column>& common_columns() {
  static const std::vector<Column> columns = {
      {"schema", CellType::text, true},        {"device", CellType::text, true},
      {"time_source", CellType::text, true},   {"point", CellType::integer, true},
      {"repetition", CellType::integer, true}, {"order", CellType::integer, true},
      {"start_s", CellType::number, true},     {"status", CellType::text, true},
      {"reason", CellType::text, false}};
  return columns;
}

std::vector<std::string> column_names(const Schema& schema) {
  std::vector<std::string> names;
  for (const Column& column : common_columns()) names.push_back(column.name);
  for (std::size_t i = 0; i < schema.size(); ++i) names.push_back(schema.column(i).name);
  return names;
}

std::vector<std::string> row_cells(const Schema& schema, const Row& row) {
  std::vector<std::string> cells = {schema.tag(),
                                    format_cell(row.device),
                                    to_string(row.time_source),
                                    std::to_string(row.point),
                                    std::to_string(row.repetition),
                                    std::to_string(row.order),
                                    row.start_s ? format_number(*row.start_s) : "",
                                    to_string(row.status),
                                    format_cell(row.reason)};
  cells.reserve(cells.size() + schema.size());
  for (std::size_t i = 0; i < schema.size(); ++i) cells.push_back(format_cell(row.values.at(i)));
  return cells;
}

}  // namespace sonde
