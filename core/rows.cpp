#include "core/rows.h"

#include <bit>
#include <stdexcept>

namespace sonde {

Cell whole_cell(const CellView& cell) {
  if (const auto* integer = std::get_if<std::int64_t>(&cell)) return *integer;
  if (const auto* number = std::get_if<double>(&cell)) return *number;
  if (const auto* text = std::get_if<std::string_view>(&cell)) return std::string(*text);
  return {};
}

const std::string& RowView::device() const { return rows_->devices().at(index_); }
TimeSource RowView::time_source() const { return rows_->time_source(index_); }
std::int64_t RowView::point() const { return rows_->points()[index_]; }
std::int64_t RowView::repetition() const { return rows_->repetitions()[index_]; }
std::int64_t RowView::order() const { return rows_->orders()[index_]; }
std::optional<double> RowView::start_s() const { return rows_->starts().at(index_); }
Status RowView::status() const { return rows_->status(index_); }
const std::string& RowView::reason() const { return rows_->reasons().at(index_); }

CellView RowView::cell(std::size_t column) const { return rows_->cell(column, index_); }

std::optional<double> RowView::number(const Schema& schema, std::string_view name) const {
  const CellView value = cell(schema.index(name));
  if (const auto* number = std::get_if<double>(&value)) return *number;
  if (const auto* integer = std::get_if<std::int64_t>(&value)) return static_cast<double>(*integer);
  return std::nullopt;
}

std::optional<std::int64_t> RowView::integer(const Schema& schema, std::string_view name) const {
  const CellView value = cell(schema.index(name));
  const auto* integer = std::get_if<std::int64_t>(&value);
  return integer == nullptr ? std::nullopt : std::optional(*integer);
}

std::string RowView::text(const Schema& schema, std::string_view name) const {
  return format_cell(whole_cell(cell(schema.index(name))));
}

Row RowView::whole() const {
  Row row{device(), time_source(), point(), repetition(), order(), start_s(),
          status(), reason(),      {}};
  row.values.reserve(rows_->columns());
  for (std::size_t i = 0; i < rows_->columns(); ++i) row.values.push_back(whole_cell(cell(i)));
  return row;
}

Rows::Rows(const Schema& schema) {
  cells_.reserve(schema.size());
  for (std::size_t i = 0; i < schema.size(); ++i) {
    switch (schema.column(i).type) {
      case CellType::integer:
        cells_.emplace_back(IntegerColumn());
        break;
      case CellType::number:
        cells_.emplace_back(NumberColumn());
        break;
      case CellType::text:
        cells_.emplace_back(TextColumn());
        break;
    }
  }
}

Rows::Rows(const Schema& schema, const std::vector<Row>& rows) : Rows(schema) {
  for (const Row& row : rows) add(row);
}

void Rows::add(const Row& row) {
  RowCells cells{row.device, row.time_source, row.point, row.repetition, row.order, row.start_s,
                 row.status, row.reason,      {}};
  cells.values.reserve(row.values.size());
  for (const Cell& cell : row.values) {
    CellView& view = cells.values.emplace_back();
    if (const auto* integer = std::get_if<std::int64_t>(&cell)) view = *integer;
    if (const auto* number = std::get_if<double>(&cell)) view = *number;
    if (const auto* text = std::get_if<std::string>(&cell)) view = std::string_view(*text);
  }
  add(cells);
}

void Rows::add(const RowCells& row) {
  if (row.values.size() != cells_.size()) throw std::logic_error("a row of another schema");
  for (std::size_t i = 0; i < cells_.size(); ++i) {
    const CellView& cell = row.values[i];
    const auto* integer = std::get_if<std::int64_t>(&cell);
    const auto* number = std::get_if<double>(&cell);
    const auto* text = std::get_if<std::string_view>(&cell);
    const bool nothing = cell.index() == 0;
    if (auto* integers = std::get_if<IntegerColumn>(&cells_[i]); integers && (integer || nothing)) {
      nothing ? integers->add_empty() : integers->add(*integer);
    } else if (auto* numbers = std::get_if<NumberColumn>(&cells_[i]); numbers && !text) {
      nothing ? numbers->add_empty()
              : numbers->add(number != nullptr ? *number : static_cast<double>(*integer));
    } else if (auto* texts = std::get_if<TextColumn>(&cells_[i]); texts && (text || nothing)) {
      texts->add(nothing ? std::string_view() : *text);
    } else {
      throw std::logic_error("cell " + std::to_string(i) + " is of another type than its column");
    }
  }
  device_.add(row.device);
  time_source_.add(static_cast<std::int64_t>(row.time_source));
  point_.add(row.point);
  repetition_.add(row.repetition);
  order_.add(row.order);
  row.start_s ? start_s_.add(*row.start_s) : start_s_.add_empty();
  status_.add(static_cast<std::int64_t>(row.status));
  reason_.add(row.reason);
}

RowView Rows::at(std::size_t i) const {
  if (i >= size())
    throw std::out_of_range("row " + std::to_string(i) + " of " + std::to_string(size()));
  return {*this, i};
}

std::vector<Row> Rows::whole() const {
  std::vector<Row> rows;
  rows.reserve(size());
  for (const RowView row : *this) rows.push_back(row.whole());
  return rows;
}

CellView Rows::cell(std::size_t column, std::size_t row) const {
  if (const auto* integers = std::get_if<IntegerColumn>(&cells_.at(column))) {
    return integers->filled(row) ? CellView(integers->value(row)) : CellView();
  }
  if (const auto* numbers = std::get_if<NumberColumn>(&cells_[column])) {
    const auto number = numbers->at(row);
    return number ? CellView(*number) : CellView();
  }
  const std::string& text = std::get<TextColumn>(cells_[column]).at(row);
  return text.empty() ? CellView() : CellView(std::string_view(text));
}

std::pair<std::int64_t, bool> Rows::key(std::size_t column, std::size_t row) const {
  if (const auto* integers = std::get_if<IntegerColumn>(&cells_.at(column))) {
    return {integers->value(row), integers->filled(row)};
  }
  if (const auto* numbers = std::get_if<NumberColumn>(&cells_[column])) {
    return {std::bit_cast<std::int64_t>(numbers->value(row)), true};
  }
  return {static_cast<std::int64_t>(std::get<TextColumn>(cells_[column]).code(row)), true};
}

}  // namespace sonde
