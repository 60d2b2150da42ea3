// The reader of result files: what it takes is written and read back bit for bit.
#include <algorithm>
#include <cstring>

#include "core/csv_reader.h"
#include "core/csv_writer.h"
#include "tests/fuzz/fuzz.h"

namespace sonde {
namespace {

/// The schema that the input names first.
const Schema& schema_of(std::string_view text) {
  const Schema* best = &chase_schema();
  std::size_t first = std::string_view::npos;
  for (const Schema* schema : all_schemas()) {
    const std::size_t at = text.find(schema->tag());
    if (at < first) {
      first = at;
      best = schema;
    }
  }
  return *best;
}

bool same_bits(const Cell& a, const Cell& b) {
  if (const auto* x = std::get_if<double>(&a)) {
    const auto* y = std::get_if<double>(&b);
    return y != nullptr && std::memcmp(x, y, sizeof *x) == 0;
  }
  return a == b;
}

bool same_row(const Schema& schema, const Row& a, const Row& b) {
  bool same = row_cells(schema, a) == row_cells(schema, b) && a.values.size() == b.values.size();
  for (std::size_t i = 0; same && i < a.values.size(); ++i) {
    same = same_bits(a.values[i], b.values[i]);
  }
  return same;
}

void check_written(const Schema& schema, const Table& table) {
  static fuzz::MemoryFile file;
  file.set("");
  {
    CsvWriter writer(schema, file.path());
    for (const Row& row : table.rows.whole()) writer.write(row);
    writer.close();
  }
  const Table back = read_table(file.path(), schema);
  fuzz::require(back.rows.size() == table.rows.size() && back.warnings.empty() &&
                    back.unprotected == 0 && !back.cut_line,
                "rows that were written are not read back");
  for (std::size_t i = 0; i < back.rows.size(); ++i) {
    fuzz::require(same_row(schema, back.rows[i].whole(), table.rows[i].whole()),
                  "a row is read back as another");
  }
}

void check_table(const Table& table, std::size_t bytes) {
  fuzz::require(table.rows.size() == table.lines.size(), "a row without its line");
  for (std::size_t i = 0; i < table.lines.size(); ++i) {
    fuzz::require(table.lines[i] > (i == 0 ? 1 : table.lines[i - 1]), "lines out of order");
  }
  fuzz::require(table.whole_bytes >= 0, "a size below zero");
  fuzz::require(table.warnings.size() < 50, "warnings without end");
  fuzz::require(table.rows.size() <= bytes, "more rows than bytes");
}

}  // namespace
}  // namespace sonde

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace sonde;
  static fuzz::MemoryFile file;
  const std::string_view text = fuzz::text_of(data, size);
  const Schema& schema = schema_of(text);
  file.set(text);
  const std::string path = file.path().string();
  Table strict;
  const bool taken = fuzz::reads(path + ":", [&] { strict = read_table(path, schema); });
  for (const bool edited : {false, true}) {
    Table lenient;
    const bool read = fuzz::reads(path + ":", [&] {
      lenient = read_table(path, schema, {.skip_bad_rows = true, .accept_edited = edited});
    });
    fuzz::require(read || !taken, "refused with bad rows left out, taken without");
    if (!read) continue;
    const bool packed = text.starts_with("\x1f\x8b");
    if (!packed) check_table(lenient, size);
    check_written(schema, lenient);
    if (!taken) continue;
    fuzz::require(lenient.rows.size() == strict.rows.size(), "options change what is good");
  }
  return 0;
}
