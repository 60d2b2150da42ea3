// Properties of stored rows: what is written is read back to the bit; what one byte of damage does
// is seen.
#include <gtest/gtest.h>

#include <regex>

#include "core/files.h"
#include "tests/support/programs.h"
#include "tests/support/sanitized.h"
#include "tests/unit/csv_rows.h"

namespace sonde {
namespace {

using namespace std::string_literals;

class EverySchema : public ::testing::TestWithParam<const Schema*> {
 protected:
  const Schema& schema_ = *GetParam();
};

TEST_P(EverySchema, IsReadBackBitForBit) {
  test::TemporaryDirectory directory;
  Rng rng(key_of({11, schema_.size()}));
  std::vector<Row> rows;
  for (std::int64_t i = 0; i < 300; ++i) rows.push_back(test::any_row(schema_, i, rng));
  test::write_rows(schema_, directory / "rows.csv", rows);
  const Table table = read_table(directory / "rows.csv", schema_);
  EXPECT_TRUE(test::same_rows(schema_, table.rows, rows));
  EXPECT_TRUE(table.warnings.empty());
  EXPECT_EQ(table.unprotected, 0);
}

/// Reads after one byte was damaged: what must hold is said in words.
class Damage {
 public:
  Damage(const Schema& schema, std::string text) : schema_(schema), text_(std::move(text)) {
    whole_ = try_read(text_).rows.whole();
    lines_ = static_cast<std::int64_t>(test::count_lines(text_));
  }

  void replace(std::size_t at, char byte) {
    std::string damaged = text_;
    damaged[at] = byte;
    check(damaged, at + 1 == text_.size(), 1);
  }
  void remove(std::size_t at) {
    std::string damaged = text_;
    damaged.erase(at, 1);
    check(damaged, at + 1 == text_.size(), 1);
  }
  void insert(std::size_t at, char byte) {
    std::string damaged = text_;
    damaged.insert(at, 1, byte);
    check(damaged, at == text_.size(), 0);
  }

  std::int64_t refused = 0, harmless = 0, dropped = 0;

 private:
  Table try_read(const std::string& text) {
    file_.set(text);
    return read_table(file_.path(), schema_);
  }

  /// `last`: the damage is at or behind the final newline, which costs at most `rows` rows.
  void check(const std::string& damaged, bool last, std::size_t rows) {
    try {
      const Table table = try_read(damaged);
      if (table.cut_line) {
        ASSERT_TRUE(last);
        ASSERT_EQ(table.warnings.size(), 1u);
        const std::vector<Row> left(whole_.begin(),
                                    whole_.end() - static_cast<std::ptrdiff_t>(rows));
        ASSERT_TRUE(test::same_rows(schema_, table.rows, left));
        ++dropped;
        return;
      }
      ASSERT_TRUE(test::same_rows(schema_, table.rows, whole_)) << "taken with other values";
      ++harmless;
    } catch (const RefusedFile& error) {
      static const std::regex line(":([0-9]+): ");
      std::smatch found;
      const std::string message = error.what();
      ASSERT_TRUE(std::regex_search(message, found, line)) << message;
      ASSERT_GE(std::stoll(found[1]), 1) << message;
      ASSERT_LE(std::stoll(found[1]), lines_ + 1) << message;
      ++refused;
    }
  }

  const Schema& schema_;
  std::string text_;
  std::vector<Row> whole_;
  std::int64_t lines_ = 0;
  fuzz::MemoryFile file_;
};

TEST_P(EverySchema, AnyDamagedByteIsRefusedWithItsLineOrChangesNothing) {
  constexpr std::size_t kStride = test::kSanitized ? 17 : 1;  // every so many bytes
  const std::string replacements = "\0\n\r,\" 09.-eA\t\x1f\xff"s;
  const std::string insertions = "\0\n\r,\" 0\xff"s;
  for (const int count : {1, 3}) {
    Rng rng(key_of({12, schema_.size()}));
    std::vector<Row> rows;
    for (int i = 0; i < count; ++i) {
      Row row = test::any_row(schema_, i, rng);
      row.device = "Acc, \"B\" \u00b5";  // short, with all that a cell may need
      for (Cell& cell : row.values) {
        if (auto* text = std::get_if<std::string>(&cell)) *text = text->substr(0, 12);
      }
      rows.push_back(std::move(row));
    }
    test::TemporaryDirectory directory;
    test::write_rows(schema_, directory / "rows.csv", rows);
    const std::string text = read_file(directory / "rows.csv");
    Damage damage(schema_, text);
    for (std::size_t at = static_cast<std::size_t>(count) % kStride; at < text.size();
         at += kStride) {
      SCOPED_TRACE("byte " + std::to_string(at) + " of " + std::to_string(text.size()));
      for (const char byte : replacements) {
        if (byte != text[at]) damage.replace(at, byte);
      }
      damage.replace(at, static_cast<char>(text[at] ^ 1));
      damage.replace(at, static_cast<char>(text[at] ^ 0x20));
      damage.remove(at);
      for (const char byte : insertions) damage.insert(at, byte);
      if (HasFatalFailure()) return;
    }
    for (const std::size_t at : {text.size() - 1, text.size()}) {
      if (at < text.size()) damage.remove(at);
      for (const char byte : insertions) damage.insert(at, byte);
    }
    EXPECT_GT(damage.dropped, 0);
    EXPECT_GT(damage.refused, damage.harmless);
    RecordProperty("refused_of_" + std::to_string(count) + "_rows", std::to_string(damage.refused));
    RecordProperty("harmless_of_" + std::to_string(count) + "_rows",
                   std::to_string(damage.harmless));
  }
}

INSTANTIATE_TEST_SUITE_P(Stored, EverySchema, ::testing::ValuesIn(all_schemas()),
                         [](const auto& parameter) { return parameter.param->probe; });

TEST(StoredRows, TheLineOfANulByteIsNamed) {
  fuzz::MemoryFile file;
  file.set(csv_header(chase_schema()) + "a\nb\nc\0d\n"s);
  try {
    read_table(file.path(), chase_schema());
    FAIL();
  } catch (const RefusedFile& error) {
    EXPECT_NE(std::string(error.what()).find(":4: NUL"), std::string::npos) << error.what();
  }
}

TEST(StoredRows, ALostNewlineAfterTheHeaderIsNotAnEmptyTable) {
  Rng rng(3);
  test::TemporaryDirectory directory;
  test::write_rows(copy_schema(), directory / "rows.csv", {test::any_row(copy_schema(), 0, rng)});
  std::string text = read_file(directory / "rows.csv");
  text.erase(text.find('\n'), 1);
  test::write_text(directory / "rows.csv", text);
  EXPECT_THROW(read_table(directory / "rows.csv", copy_schema()), RefusedFile);
}

TEST(StoredRows, RepeatedRowsAreCountedNotListed) {
  Rng rng(4);
  test::TemporaryDirectory directory;
  const Row row = test::any_row(copy_schema(), 0, rng);
  test::write_rows(copy_schema(), directory / "rows.csv", std::vector<Row>(500, row));
  const Table table = read_table(directory / "rows.csv", copy_schema());
  EXPECT_EQ(table.rows.size(), 1u);
  ASSERT_EQ(table.warnings.size(), 21u);
  EXPECT_NE(table.warnings.back().find("499 rows"), std::string::npos);
}

}  // namespace
}  // namespace sonde
