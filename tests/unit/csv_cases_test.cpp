// What editors, spreadsheets and dying writers do to a file of rows.
#include <gtest/gtest.h>

#include <algorithm>
#include <sstream>

#include "core/files.h"
#include "tests/support/programs.h"
#include "tests/unit/csv_rows.h"

namespace sonde {
namespace {

using Lines = std::vector<std::vector<std::string>>;

class EditedFile : public ::testing::Test {
 protected:
  EditedFile() {
    Rng rng(31);
    for (std::int64_t i = 0; i < 25; ++i) rows_.push_back(test::any_row(gemm_schema(), i, rng));
    test::write_rows(gemm_schema(), directory_ / "gemm.csv", rows_);
    std::istringstream lines(read_file(directory_ / "gemm.csv"));
    std::string problem;
    for (std::string line; std::getline(lines, line);) {
      cells_.push_back(*split_record(line, &problem));
    }
  }
  std::string text(const Lines& lines, const std::string& end = "\n") const {
    std::string whole;
    for (const auto& cells : lines) {
      for (std::size_t i = 0; i < cells.size(); ++i)
        whole += (i > 0 ? "," : "") + quote_cell(cells[i]);
      whole += end;
    }
    return whole;
  }
  Table read(const std::string& text, const ReadOptions& options = {}) {
    file_.set(text);
    return read_table(file_.path(), gemm_schema(), options);
  }
  std::string refusal(const std::string& text) {
    try {
      read(text);
    } catch (const RefusedFile& error) {
      return error.what();
    }
    return "";
  }
  bool whole(const Table& table) const {
    return test::same_rows(gemm_schema(), table.rows, rows_) && table.unprotected == 0;
  }

  test::TemporaryDirectory directory_;
  fuzz::MemoryFile file_;
  std::vector<Row> rows_;
  Lines cells_;
};

TEST_F(EditedFile, MarkOfByteOrderBeforeAQuotedHeader) {
  std::string quoted = "\xEF\xBB\xBF\"schema\"" + text(cells_).substr(6);
  EXPECT_TRUE(whole(read(quoted)));
  EXPECT_TRUE(whole(read("\xEF\xBB\xBF" + text(cells_, "\r\n"))));
}

TEST_F(EditedFile, ColumnsInAnyOrderWithNewOnesAnywhere) {
  Rng rng(32);
  for (int turn = 0; turn < 20; ++turn) {
    std::vector<std::size_t> order(cells_[0].size());
    for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
    shuffle(order, rng);
    const std::size_t place = rng.below(order.size() + 1);
    Lines lines;
    for (const auto& cells : cells_) {
      auto& line = lines.emplace_back();
      for (const std::size_t i : order) line.push_back(cells[i]);
      line.insert(line.begin() + static_cast<std::ptrdiff_t>(place),
                  lines.size() == 1 ? "new" : "7");
    }
    EXPECT_TRUE(whole(read(text(lines))));
  }
}

TEST_F(EditedFile, EveryRequiredColumnIsMissedByNameAndNoOtherIs) {
  for (std::size_t i = 0; i < gemm_schema().size(); ++i) {
    const Column& column = gemm_schema().column(i);
    Lines lines = cells_;
    const auto at = std::find(lines[0].begin(), lines[0].end(), column.name) - lines[0].begin();
    for (auto& cells : lines) {
      cells.erase(cells.begin() + at);
      cells.back() = cells.back() == "check" ? "check" : "";  // as in a file of before it came
    }
    if (column.required) {
      EXPECT_NE(refusal(text(lines)).find("no column " + column.name), std::string::npos);
      continue;
    }
    const Table table = read(text(lines));
    ASSERT_EQ(table.rows.size(), rows_.size());
    for (const Row& row : table.rows.whole()) EXPECT_EQ(row.text(gemm_schema(), column.name), "");
  }
}

TEST_F(EditedFile, ShortAndLongRowsAreNamedAndCostOnlyThemselves) {
  Lines lines = cells_;
  lines[9].resize(lines[9].size() / 2);
  lines[19].insert(lines[19].begin() + 12, "x");
  const std::string said = refusal(text(lines));
  EXPECT_NE(said.find(":10: cell count"), std::string::npos) << said;
  EXPECT_NE(said.find(":20: cell count"), std::string::npos) << said;
  const Table table = read(text(lines), {.skip_bad_rows = true, .accept_edited = false});
  EXPECT_EQ(table.rows.size(), rows_.size() - 2);
  EXPECT_EQ(table.skipped, 2);
}

TEST_F(EditedFile, TextWhereANumberMustBeIsNamedByLineAndColumnAndLeftOutOnRequest) {
  const auto at = std::find(cells_[0].begin(), cells_[0].end(), "elapsed_s") - cells_[0].begin();
  for (const char* word : {"nan", "inf", "-inf", "N/A", "1,5", "1.5 "}) {
    Lines lines = cells_;
    std::size_t bad = 0;
    for (std::size_t i = 5; i < lines.size(); i += 5, ++bad) {
      lines[i][static_cast<std::size_t>(at)] = word;
      lines[i].back() = "";  // an unprotected row: the number itself must be what is seen
    }
    EXPECT_NE(refusal(text(lines)).find(":6: elapsed_s: '"), std::string::npos) << word;
    const Table table = read(text(lines), {.skip_bad_rows = true, .accept_edited = false});
    EXPECT_EQ(table.rows.size(), rows_.size() - bad);
    EXPECT_EQ(table.skipped, static_cast<std::int64_t>(bad));
  }
}

TEST_F(EditedFile, ALineOfALogIsNamed) {
  EXPECT_NE(refusal(text(cells_) + "finished OK\n").find(":27: cell count: 1"), std::string::npos);
  EXPECT_NE(refusal("# sonde gemm\n" + text(cells_)).find(":1: no column"), std::string::npos);
}

TEST_F(EditedFile, ALongFieldIsRefusedAtItsLine) {
  Lines lines = cells_;
  lines[3][4] = std::string(2'000'000, '7');
  const std::string said = refusal(text(lines));
  EXPECT_NE(said.find(":4: check"), std::string::npos);
  EXPECT_LT(said.size(), 1000u);  // what is quoted is cut
}

}  // namespace
}  // namespace sonde
