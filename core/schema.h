#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "core/description.h"

namespace sonde {

enum class CellType { integer, number, text };

/// One column of a result file: the unit is the last part of the name (`latency_ns`).
struct Column {
  std::string name;
  CellType type = CellType::text;
  bool required = false;  ///< must be filled in a row whose status is ok or throttled
  bool positive = false;  ///< of such a row: above zero where filled
};

/// An empty cell is unknown; never 0 and never "nan".
using Cell = std::variant<std::monostate, std::int64_t, double, std::string>;

/// Text of a cell as it is stored, before quoting. Text loses CR, LF and NUL to a space.
std::string format_cell(const Cell& cell);

template <class T>
Cell cell_of(const std::optional<T>& value) {
  return value ? Cell(*value) : Cell();
}

enum class Status { ok, throttled, skipped, failed };
const char* to_string(Status status);
std::optional<Status> status_from(std::string_view text);

/// Columns of `<probe>.csv`. New columns do not change `major`; a change of meaning does.
/// The columns common to all probes come first and `check` last; neither is listed here.
struct Schema {
  std::string probe;
  int major = 1;
  std::vector<Column> axes;     ///< what was asked; filled in every row, extra_key in good ones
  std::vector<Column> metrics;  ///< what came out
  /// Axes of whole numbers that, with (point, repetition), make the key of a row (`address_index`
  /// of a profile).
  std::vector<std::string> extra_key;

  std::string tag() const { return probe + "." + std::to_string(major); }
  std::size_t size() const { return axes.size() + metrics.size(); }
  const Column& column(std::size_t i) const {
    return i < axes.size() ? axes[i] : metrics[i - axes.size()];
  }
  /// Position among axes then metrics; throws std::out_of_range for a name that is not there.
  std::size_t index(std::string_view name) const;
};

/// One raw sample.
struct Row {
  std::string device;
  TimeSource time_source = TimeSource::host_clock;
  std::int64_t point = 0;
  std::int64_t repetition = 0;
  std::int64_t order = 0;         ///< position in the run, resumed parts included
  std::optional<double> start_s;  ///< device time: Unix time on a real device, modelled otherwise
  Status status = Status::ok;
  std::string reason;
  std::vector<Cell> values;  ///< schema.size() cells: axes then metrics

  const Cell& at(const Schema& schema, std::string_view name) const {
    return values[schema.index(name)];
  }
  std::optional<double> number(const Schema& schema, std::string_view name) const;
  std::optional<std::int64_t> integer(const Schema& schema, std::string_view name) const;
  std::string text(const Schema& schema, std::string_view name) const;
};

/// Names of the columns common to all probes, in file order.
const std::vector<Column>& common_columns();

/// Names of all columns of a file in its order, `check` left out.
std::vector<std::string> column_names(const Schema& schema);

/// The cells of a whole row as text, in the order of column_names().
std::vector<std::string> row_cells(const Schema& schema, const Row& row);

/// CRC-32 (8 hex digits) over `name=value` lines of a row's cells, sorted by name, empty ones left
/// out: columns may be reordered, a damaged value is noticed. The order is found once for all rows.
class RowCheck {
 public:
  explicit RowCheck(std::vector<std::string> names);
  /// `cells[i]` belongs to `names[i]`; a null one is absent.
  std::string of(const std::vector<const std::string*>& cells);
  std::string of(const std::vector<std::string>& cells);

 private:
  std::vector<std::string> names_;
  std::vector<std::size_t> order_;  ///< by name
  std::string lines_;               ///< kept for its memory
};

/// CRC-32 of a text, 8 hex digits.
std::string checksum(std::string_view text);
/// CRC-32 of what came before and `more`; 0 before anything.
std::uint32_t extend_crc32(std::uint32_t crc, std::string_view more);
/// 8 hex digits.
std::string hex_digits(std::uint32_t value);

/// Every schema this build knows, one line each; a probe and its readers share the same object.
const Schema& chase_schema();
const Schema& profile_schema();
const Schema& interfere_schema();
const Schema& handoff_schema();
const Schema& stream_schema();
const Schema& copy_schema();
const Schema& gemm_schema();

/// All of them, in the order of a page.
const std::vector<const Schema*>& all_schemas();

}  // namespace sonde
