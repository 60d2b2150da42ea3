// Stored rows in an archive: whole to its last byte, or refused.
#include <gtest/gtest.h>
#include <zlib.h>

#include "core/files.h"
#include "tests/support/programs.h"
#include "tests/unit/csv_rows.h"

namespace sonde {
namespace {

class Archive : public ::testing::Test {
 protected:
  Archive() {
    Rng rng(21);
    for (std::int64_t i = 0; i < 4; ++i) rows_.push_back(test::any_row(copy_schema(), i, rng));
    test::write_rows(copy_schema(), directory_ / "rows.csv", rows_);
    text_ = read_file(directory_ / "rows.csv");
  }
  std::string packed(const std::string& text, int repeats = 1) {
    const auto path = directory_ / "packed.gz";
    gzFile file = gzopen(path.c_str(), "wb9");
    for (int i = 0; i < repeats; ++i) {
      gzwrite(file, text.data(), static_cast<unsigned>(text.size()));
    }
    gzclose(file);
    return read_file(path);
  }
  /// Empty when the bytes are read as the rows.
  std::string read(const std::string& bytes) {
    file_.set(bytes);
    try {
      const Table table = read_table(file_.path(), copy_schema());
      return test::same_rows(copy_schema(), table.rows, rows_) && !table.cut_line ? "" : "other";
    } catch (const RefusedFile& error) {
      return error.what();
    }
  }

  test::TemporaryDirectory directory_;
  fuzz::MemoryFile file_;
  std::vector<Row> rows_;
  std::string text_;
};

TEST_F(Archive, HoldsTheRowsToTheBit) {
  EXPECT_EQ(read(packed(text_)), "");
  const std::size_t half = text_.size() / 2;
  EXPECT_EQ(read(packed(text_.substr(0, half)) + packed(text_.substr(half))), "") << "two members";
}

TEST_F(Archive, CutAnywhereIsRefused) {
  const std::string whole = packed(text_);
  for (std::size_t size = 1; size < whole.size(); size += size < 30 ? 1 : 13) {
    EXPECT_NE(read(whole.substr(0, size)), "") << size;
  }
  EXPECT_NE(read(whole.substr(0, whole.size() - 1)).find("cut short"), std::string::npos);
}

TEST_F(Archive, DamageIsRefusedOrChangesNothing) {
  const std::string whole = packed(text_);
  int refused = 0, harmless = 0;
  for (std::size_t at = 0; at < whole.size(); at += 3) {
    for (const int bit : {1, 16, 128}) {
      std::string damaged = whole;
      damaged[at] = static_cast<char>(damaged[at] ^ bit);
      const std::string said = read(damaged);
      ASSERT_NE(said, "other") << at;
      ++(said.empty() ? harmless : refused);
    }
  }
  // A date in its header means nothing, and a run of one letter may be copied from elsewhere.
  EXPECT_GT(refused, 10 * harmless);
}

TEST_F(Archive, WhatStandsBehindItIsDamage) {
  const std::string whole = packed(text_);
  for (const std::string& behind : {std::string("x"), text_, std::string(100, '\0'), whole}) {
    EXPECT_NE(read(whole + behind), "") << behind.substr(0, 20);
  }
}

TEST_F(Archive, ABombIsRefusedEarly) {
  // 80 MiB of blank lines, of one line, and of one row again and again.
  const std::string lines(1 << 20, '\n');
  std::string rows;
  const std::string last = text_.substr(text_.rfind('\n', text_.size() - 2) + 1);
  while (rows.size() < (1 << 20)) rows += last;
  for (const std::string& much : {lines, rows}) {
    const std::string said = read(packed(text_) + packed(much, 80));
    EXPECT_NE(said.find("unpacks to more than"), std::string::npos) << said;
  }
  EXPECT_NE(read(packed(text_) + packed(std::string(1 << 20, 'a'), 80)), "");
}

}  // namespace
}  // namespace sonde
