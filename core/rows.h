#pragma once

#include <cstdint>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "core/columns.h"
#include "core/schema.h"

namespace sonde {

/// A cell whose text lies elsewhere.
using CellView = std::variant<std::monostate, std::int64_t, double, std::string_view>;
Cell whole_cell(const CellView& cell);

/// A row whose texts lie elsewhere, as a reader hands it over.
struct RowCells {
  std::string_view device;
  TimeSource time_source = TimeSource::host_clock;
  std::int64_t point = 0, repetition = 0, order = 0;
  std::optional<double> start_s;
  Status status = Status::ok;
  std::string_view reason;
  std::vector<CellView> values;  ///< schema.size() cells, of the types of the schema
};

class Rows;

/// One row of Rows, to look at; lives as long as they do and do not move.
class RowView {
 public:
  RowView(const Rows& rows, std::size_t index) : rows_(&rows), index_(index) {}

  std::size_t index() const { return index_; }
  const std::string& device() const;
  TimeSource time_source() const;
  std::int64_t point() const;
  std::int64_t repetition() const;
  std::int64_t order() const;
  std::optional<double> start_s() const;
  Status status() const;
  const std::string& reason() const;

  CellView cell(std::size_t column) const;
  std::optional<double> number(const Schema& schema, std::string_view name) const;
  std::optional<std::int64_t> integer(const Schema& schema, std::string_view name) const;
  std::string text(const Schema& schema, std::string_view name) const;
  /// A copy on its own.
  Row whole() const;

 private:
  const Rows* rows_;
  std::size_t index_;
};

/// Stored rows of one schema, kept by column: a cell costs what its column needs (columns.h), so
/// that ten million rows fit where few are written and analyses read only the columns they use.
class Rows {
 public:
  class Iterator {
   public:
    using iterator_category = std::input_iterator_tag;
    using value_type = RowView;
    using difference_type = std::ptrdiff_t;
    using pointer = const RowView*;
    using reference = RowView;
    Iterator(const Rows& rows, std::size_t index) : rows_(&rows), index_(index) {}
    RowView operator*() const { return {*rows_, index_}; }
    Iterator& operator++() {
      ++index_;
      return *this;
    }
    bool operator==(const Iterator& other) const { return index_ == other.index_; }

   private:
    const Rows* rows_;
    std::size_t index_;
  };

  Rows() = default;
  explicit Rows(const Schema& schema);
  Rows(const Schema& schema, const std::vector<Row>& rows);

  /// Cells of another type than their column's throw std::logic_error; a whole number in a column
  /// of numbers is one.
  void add(const Row& row);
  void add(const RowCells& row);

  std::size_t size() const { return point_.size(); }
  bool empty() const { return size() == 0; }
  RowView operator[](std::size_t i) const { return {*this, i}; }
  /// Throws std::out_of_range.
  RowView at(std::size_t i) const;
  RowView front() const { return at(0); }
  RowView back() const { return at(size() - 1); }
  Iterator begin() const { return {*this, 0}; }
  Iterator end() const { return {*this, size()}; }
  std::vector<Row> whole() const;

  Status status(std::size_t i) const { return static_cast<Status>(status_[i]); }
  TimeSource time_source(std::size_t i) const { return static_cast<TimeSource>(time_source_[i]); }
  /// What a statistic may use: ok, and of this clock.
  bool usable(std::size_t i, TimeSource source) const {
    return status(i) == Status::ok && time_source(i) == source;
  }

  /// Columns common to all probes.
  const TextColumn& devices() const { return device_; }
  const TextColumn& reasons() const { return reason_; }
  const Integers& points() const { return point_; }
  const Integers& repetitions() const { return repetition_; }
  const Integers& orders() const { return order_; }
  const NumberColumn& starts() const { return start_s_; }

  std::size_t columns() const { return cells_.size(); }
  /// Columns of the schema. Those of another type throw std::bad_variant_access.
  const IntegerColumn& integers(std::size_t column) const {
    return std::get<IntegerColumn>(cells_.at(column));
  }
  const NumberColumn& numbers(std::size_t column) const {
    return std::get<NumberColumn>(cells_.at(column));
  }
  const TextColumn& texts(std::size_t column) const {
    return std::get<TextColumn>(cells_.at(column));
  }
  CellView cell(std::size_t column, std::size_t row) const;
  bool all_equal(std::size_t column) const {
    return std::visit([](const auto& cells) { return cells.all_equal(); }, cells_.at(column));
  }
  /// What makes two cells of one column equal, and whether there is anything in them.
  std::pair<std::int64_t, bool> key(std::size_t column, std::size_t row) const;

 private:
  TextColumn device_, reason_;
  Integers time_source_, point_, repetition_, order_, status_;
  NumberColumn start_s_;
  std::vector<std::variant<IntegerColumn, NumberColumn, TextColumn>> cells_;  ///< axes, metrics
};

}  // namespace sonde
