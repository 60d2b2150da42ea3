// Files of more rows than one thread parses at a time: what comes back is what short files give.
#include <algorithm>
#include <sstream>

#include "tests/unit/csv_file.h"
#include "tests/unit/csv_rows.h"

namespace sonde {
namespace {

using test::row_of;

/// Rows of point 0, 1, 2, ..., one a line: point p stands in line p + 2.
class LongFile : public test::CsvFile {
 protected:
  static constexpr int kRows = 5000;

  std::vector<std::string> lines() const {
    std::vector<std::string> all;
    std::istringstream text(test::read_text(path()));
    for (std::string line; std::getline(text, line);) all.push_back(line);
    return all;
  }
  void set(const std::vector<std::string>& lines, const std::string& end = "\n") const {
    std::string text;
    for (const std::string& line : lines) text += line + "\n";
    text.erase(text.size() - 1);
    test::write_text(path(), text + end);
  }
  std::string at(std::int64_t line) const { return path().string() + ":" + std::to_string(line); }
};

TEST_F(LongFile, AnyRowsComeBackToTheBitInTheirOrder) {
  Rng rng(11);
  std::vector<Row> rows;
  for (std::int64_t i = 0; i < 3000; ++i) rows.push_back(test::any_row(gemm_schema(), i, rng));
  test::write_rows(gemm_schema(), directory_ / "gemm.csv", rows);
  const Table table = read_table(directory_ / "gemm.csv", gemm_schema());
  EXPECT_TRUE(test::same_rows(gemm_schema(), table.rows, rows));
  ASSERT_EQ(table.lines.size(), rows.size());
  for (std::size_t i = 0; i < rows.size(); ++i)
    ASSERT_EQ(table.lines[i], static_cast<std::int64_t>(i) + 2);
  EXPECT_TRUE(table.warnings.empty());
}

TEST_F(LongFile, BadLinesFarApartAreListedInTheirOrder) {
  write_rows(kRows);
  std::vector<std::string> text = lines();
  std::vector<std::size_t> damaged;
  for (std::size_t line = 100; line < kRows; line += 200) damaged.push_back(line);
  for (const std::size_t line : damaged) text[line - 1][text[line - 1].find(',') + 3] ^= 1;
  set(text);
  const std::string refused = refusal();
  EXPECT_NE(refused.find(path().string() + ": refused, 25 bad rows (--skip-bad-rows"),
            std::string::npos)
      << refused;
  std::size_t from = 0;
  for (std::size_t i = 0; i < damaged.size(); ++i) {
    const std::size_t found = refused.find("\n" + at(static_cast<std::int64_t>(damaged[i])) + ": ");
    if (i < 20) {
      ASSERT_NE(found, std::string::npos) << damaged[i];
      EXPECT_GT(found, from);
      from = found;
    } else {
      EXPECT_EQ(found, std::string::npos) << damaged[i];
    }
  }
  ReadOptions skip;
  skip.skip_bad_rows = true;
  const Table table = read(skip);
  EXPECT_EQ(table.skipped, 25);
  ASSERT_EQ(table.rows.size(), kRows - 25U);
  EXPECT_EQ(table.rows.points()[97], 97);
  EXPECT_EQ(table.rows.points()[98], 99);  // 98 stood in line 100
  EXPECT_EQ(table.rows.back().point(), kRows - 1);
}

TEST_F(LongFile, ARowThatStandsAgainFarBehindIsSeen) {
  write_rows(kRows);
  std::vector<std::string> text = lines();
  text.push_back(text[3]);
  set(text);
  const Table table = read();
  EXPECT_EQ(table.rows.size(), static_cast<std::size_t>(kRows));
  ASSERT_EQ(table.warnings.size(), 1U);
  EXPECT_EQ(table.warnings[0], at(kRows + 2) + ": the same row a second time, left out");

  CsvWriter writer(chase_schema(), directory_ / "other.csv");
  writer.write(row_of(2, 0, 7.0));
  writer.close();
  text.back() = test::read_text(directory_ / "other.csv");
  text.back() = text.back().substr(text.back().find('\n') + 1);
  text.back().pop_back();
  set(text);
  EXPECT_NE(refusal().find("\n" + at(kRows + 2) +
                           ": point, repetition: 2, 0 appears twice with other values"),
            std::string::npos);
}

TEST_F(LongFile, ALastLineThatWasCutIsDroppedWhereverItStands) {
  write_rows(kRows);
  const std::vector<std::string> text = lines();
  for (const std::size_t rows : {1U, 2U, 511U, 512U, 513U, 1024U, 1025U, 1537U, 4999U}) {
    std::vector<std::string> part(text.begin(), text.begin() + static_cast<long>(rows) + 1);
    set(part);
    EXPECT_EQ(read().rows.size(), rows);
    set(part, "");
    const Table table = read();
    EXPECT_TRUE(table.cut_line);
    ASSERT_EQ(table.rows.size(), rows - 1) << rows;
    ASSERT_EQ(table.warnings.size(), 1U);
    EXPECT_EQ(table.warnings[0],
              at(static_cast<std::int64_t>(rows) + 1) +
                  ": the last line has no newline (a run that died while writing): dropped");
    if (rows > 1) {
      EXPECT_EQ(table.rows.back().point(), static_cast<std::int64_t>(rows) - 2);
    }
  }
}

TEST_F(LongFile, BlankLinesAndRowsWithoutACheckAreCountedOverAllOfIt) {
  write_rows(kRows);
  std::vector<std::string> text = lines();
  for (std::size_t line = 5; line < text.size(); line += 500)
    text[line].erase(text[line].rfind(',') + 1);  // 10 of them
  for (const long line : {4000L, 1500L, 700L}) text.insert(text.begin() + line, "");
  set(text);
  const Table table = read();
  EXPECT_EQ(table.unprotected, 10);
  ASSERT_EQ(table.rows.size(), static_cast<std::size_t>(kRows));
  EXPECT_EQ(table.lines[100], 102);
  EXPECT_EQ(table.lines[4999], 5004);
  EXPECT_EQ(table.warnings.back(), path().string() + ": 10 unprotected rows (no check)");
}

TEST_F(LongFile, WhatEndsTheReadingEndsItWhileBatchesAreBeingParsed) {
  write_rows(kRows);
  const std::vector<std::string> text = lines();
  std::vector<std::string> nul = text;
  nul[4000][10] = '\0';
  set(nul);
  EXPECT_EQ(refusal(), at(4001) + ": NUL bytes: not a CSV file");
  std::vector<std::string> endless = text;
  endless[4000].insert(10, 17U << 20, 'q');
  set(endless);
  EXPECT_EQ(refusal(), at(4001) + ": the line is longer than 16 MiB");
}

TEST_F(LongFile, QuotedTextsStayWithTheirRows) {
  CsvWriter writer(chase_schema(), path());
  std::vector<Row> rows;
  for (int i = 0; i < 2000; ++i) {
    Row row = row_of(i, 0, 10.0 + i);
    row.device = i % 3 == 0 ? "plain" : "a \"quoted\", " + std::to_string(i / 7) + " name";
    row.status = Status::throttled;
    row.reason = "said \"" + std::string(static_cast<std::size_t>(i % 50), 'x') + "\", then more";
    rows.push_back(row);
    writer.write(row);
  }
  writer.close();
  EXPECT_TRUE(test::same_rows(chase_schema(), read().rows, rows));
}

}  // namespace
}  // namespace sonde
