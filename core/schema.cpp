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

std::vector<std::pair<std::string, std::string>> named_cells(const Schema& schema, const Row& row) {
  std::vector<std::pair<std::string, std::string>> cells = {
      {"schema", schema.tag()},
      {"device", format_cell(row.device)},
      {"time_source", to_string(row.time_source)},
      {"point", std::to_string(row.point)},
      {"repetition", std::to_string(row.repetition)},
      {"order", std::to_string(row.order)},
      {"start_s", row.start_s ? format_number(*row.start_s) : ""},
      {"status", to_string(row.status)},
      {"reason", format_cell(row.reason)}};
  for (std::size_t i = 0; i < schema.size(); ++i) {
    cells.emplace_back(schema.column(i).name, format_cell(row.values.at(i)));
  }
  return cells;
}

}  // namespace sonde
