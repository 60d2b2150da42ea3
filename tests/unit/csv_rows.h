#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <string>
#include <vector>

#include "core/csv_reader.h"
#include "core/csv_writer.h"
#include "core/rng.h"
#include "tests/fuzz/fuzz.h"

namespace sonde::test {

/// Any finite double, subnormals and both zeros too.
inline double any_number(Rng& rng) {
  static constexpr double kEnds[] = {
      0.0, -0.0, 5e-324,          -2.2250738585072014e-308, 1.7976931348623157e308,
      0.1, 1e-7, 123456789.123456};
  if (rng.below(4) == 0) return kEnds[rng.below(std::size(kEnds))];
  double value = 0;
  do {
    const std::uint64_t bits = rng();
    std::memcpy(&value, &bits, sizeof value);
  } while (!std::isfinite(value));
  return value;
}

inline std::int64_t any_integer(Rng& rng) {
  static constexpr std::int64_t kEnds[] = {0, -1, std::numeric_limits<std::int64_t>::min(),
                                           std::numeric_limits<std::int64_t>::max()};
  return rng.below(3) == 0 ? kEnds[rng.below(std::size(kEnds))] : static_cast<std::int64_t>(rng());
}

inline std::string any_text(Rng& rng) {
  // NOLINTBEGIN(misc-misleading-bidirectional): an escape here, the mark is for a file
  static const std::vector<std::string> kTexts = {"plain",
                                                  "a,b",
                                                  "say \"x\"",
                                                  "\"",
                                                  "\"\"",
                                                  " leading",
                                                  "trailing ",
                                                  "\ttab\t",
                                                  "\u00e9\u202e",
                                                  "'`$(x)`'",
                                                  "=1+1",
                                                  "-1",
                                                  "1.07E+09",
                                                  "nan",
                                                  ",",
                                                  "\xef\xbb\xbf",
                                                  "\xff\xfe",
                                                  "a;b|c",
                                                  "<b>&amp;</b>",
                                                  "%n@{}_^~\\",
                                                  "N/A",
                                                  std::string(5000, 'q')};
  // NOLINTEND(misc-misleading-bidirectional)
  return kTexts[rng.below(kTexts.size())];
}

/// A row of the schema with a value of its type in every column; those that may be empty are,
/// now and then.
inline Row any_row(const Schema& schema, std::int64_t point, Rng& rng) {
  Row row;
  row.device = any_text(rng);
  row.time_source = TimeSource::modelled;
  row.point = point;
  row.repetition = static_cast<std::int64_t>(rng.below(1000));
  row.order = std::numeric_limits<std::int64_t>::max() - point;
  row.start_s = any_number(rng);
  if (rng.below(3) == 0) {
    row.status = Status::throttled;
    row.reason = any_text(rng);
  }
  row.values.resize(schema.size());
  for (std::size_t i = 0; i < schema.size(); ++i) {
    const Column& column = schema.column(i);
    if (!column.required && rng.below(3) == 0) continue;
    switch (column.type) {
      case CellType::text:
        row.values[i] = any_text(rng);
        break;
      case CellType::integer:
        row.values[i] = any_integer(rng);
        if (column.positive) row.values[i] = static_cast<std::int64_t>(rng() >> 1 | 1);
        break;
      case CellType::number:
        row.values[i] = any_number(rng);
        if (column.positive) row.values[i] = std::max(5e-324, std::abs(any_number(rng)));
        break;
    }
  }
  return row;
}

inline void write_rows(const Schema& schema, const std::filesystem::path& path,
                       const std::vector<Row>& rows) {
  CsvWriter writer(schema, path);
  for (const Row& row : rows) writer.write(row);
  writer.close();
}

inline bool same_bits(const Cell& a, const Cell& b) {
  const auto* x = std::get_if<double>(&a);
  const auto* y = std::get_if<double>(&b);
  if (x != nullptr && y != nullptr)
    return std::bit_cast<std::uint64_t>(*x) == std::bit_cast<std::uint64_t>(*y);
  return a == b;
}

/// Whether the rows are those, to the bit.
inline bool same_rows(const Schema& schema, const Rows& read, const std::vector<Row>& b) {
  const std::vector<Row> a = read.whole();
  if (a.size() != b.size()) return false;
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (row_cells(schema, a[i]) != row_cells(schema, b[i])) return false;
    for (std::size_t k = 0; k < schema.size(); ++k) {
      if (!same_bits(a[i].values[k], b[i].values[k])) return false;
    }
  }
  return true;
}

}  // namespace sonde::test
