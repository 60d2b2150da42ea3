#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <string>

#include "core/csv_reader.h"
#include "core/csv_writer.h"
#include "tests/support/programs.h"

namespace sonde::test {

/// A good row of the chase, every column that must be filled.
inline Row row_of(std::int64_t point, std::int64_t repetition, double latency) {
  const Schema& schema = chase_schema();
  Row row;
  row.device = "Acc, \"B\" 2 GHz";
  row.time_source = TimeSource::modelled;
  row.point = point;
  row.repetition = repetition;
  row.order = point * 100 + repetition;
  row.start_s = 0.125;
  row.values.assign(schema.size(), {});
  row.values[schema.index("core")] = std::string("vector0");
  row.values[schema.index("blocks")] = std::int64_t{1};
  row.values[schema.index("footprint_bytes")] = std::int64_t{16384};
  row.values[schema.index("state")] = std::string("cold");
  row.values[schema.index("loads")] = std::int64_t{256};
  row.values[schema.index("elapsed_s")] = latency * 256e-9;
  row.values[schema.index("latency_ns")] = latency;
  return row;
}

class CsvFile : public ::testing::Test {
 protected:
  void write_rows(int count) {
    CsvWriter writer(chase_schema(), path());
    for (int i = 0; i < count; ++i) writer.write(row_of(i, 0, 100.0 + i / 3.0));
    writer.close();
  }
  Table read(const ReadOptions& options = {}) {
    return read_table(path(), chase_schema(), options);
  }
  std::string refusal(const ReadOptions& options = {}) {
    try {
      read(options);
    } catch (const RefusedFile& error) {
      EXPECT_EQ(error.code(), ExitCode::usage);
      return error.what();
    }
    return "";
  }
  void mutate(const std::string& from, const std::string& to, std::size_t occurrence = 1) {
    std::string text = read_text(path());
    std::size_t at = 0;
    for (std::size_t i = 0; i < occurrence; ++i) at = text.find(from, i == 0 ? 0 : at + 1);
    ASSERT_NE(at, std::string::npos) << from;
    write_text(path(), text.replace(at, from.size(), to));
  }
  /// Replaces text and drops every check, as a hand edit in an unprotected file would.
  void edit_unprotected(const std::string& from, const std::string& to) {
    std::string text = read_text(path());
    std::string result;
    for (std::size_t at = 0, line = 0; at < text.size(); ++line) {
      const std::size_t end = text.find('\n', at);
      std::string one = text.substr(at, end - at);
      if (line > 0) one = one.substr(0, one.rfind(',') + 1);
      result += one + "\n";
      at = end + 1;
    }
    write_text(path(), result);
    mutate(from, to);
  }
  std::filesystem::path path() const { return directory_ / "chase.csv"; }

  TemporaryDirectory directory_;
};

}  // namespace sonde::test
