#include "core/columns.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <limits>
#include <map>
#include <stdexcept>

#include "core/key_index.h"
#include "core/rng.h"
#include "core/rows.h"

namespace sonde {
namespace {

constexpr std::int64_t kLeast = std::numeric_limits<std::int64_t>::min();
constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();

/// What is added is what is there, whichever value made the column wider.
TEST(Columns, WholeNumbersKeepTheirValuesAsTheColumnWidens) {
  const std::vector<std::vector<std::int64_t>> series = {
      {},
      {5, 5, 5},
      {0, 127, -128},
      {7, 128},
      {7, -129},
      {1, 32767, -32768, 32768},
      {1, 200, -32769},
      {-5, 2147483647, -2147483648LL, 2147483648LL},
      {1, 40000, -2147483649LL, 3},
      {kMost, kLeast, 0},
      {kLeast, kLeast, 1},
      {128, 128, 129},
      {40000, 40000, 1},
      {1, 300, 70000, kMost, 2}};
  for (const auto& values : series) {
    Integers column;
    for (std::size_t i = 0; i < values.size(); ++i) {
      column.add(values[i]);
      ASSERT_EQ(column.size(), i + 1);
      for (std::size_t k = 0; k <= i; ++k) ASSERT_EQ(column[k], values[k]) << i << ' ' << k;
    }
    const bool equal = std::all_of(values.begin(), values.end(),
                                   [&](std::int64_t value) { return value == values.front(); });
    EXPECT_EQ(column.all_equal(), equal);
  }
}

TEST(Columns, EmptyCellsOfWholeNumbersAreNotZeros) {
  IntegerColumn none, all, mixed, late;
  for (int i = 0; i < 3; ++i) none.add_empty();
  for (int i = 0; i < 3; ++i) all.add(0);
  mixed.add(0);
  mixed.add_empty();
  mixed.add(7);
  for (int i = 0; i < 3; ++i) late.add_empty();
  late.add(0);
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_FALSE(none.at(i));
    EXPECT_EQ(all.at(i), 0);
    EXPECT_FALSE(late.at(i));
  }
  EXPECT_EQ(mixed.at(0), 0);
  EXPECT_FALSE(mixed.at(1));
  EXPECT_EQ(mixed.at(2), 7);
  EXPECT_EQ(late.at(3), 0);
  EXPECT_TRUE(none.all_equal());
  EXPECT_TRUE(all.all_equal());
  EXPECT_FALSE(mixed.all_equal());
  EXPECT_FALSE(late.all_equal());
}

TEST(Columns, NumbersKeepTheirBits) {
  const double numbers[] = {0.0, 0.0, -0.0, 1.5, std::numeric_limits<double>::denorm_min()};
  NumberColumn column;
  for (double number : numbers) column.add(number);
  column.add_empty();
  for (std::size_t i = 0; i < std::size(numbers); ++i) {
    ASSERT_TRUE(column.at(i));
    EXPECT_EQ(std::bit_cast<std::uint64_t>(*column.at(i)),
              std::bit_cast<std::uint64_t>(numbers[i]));
  }
  EXPECT_FALSE(column.at(std::size(numbers)));
  NumberColumn empty;
  for (int i = 0; i < 4; ++i) empty.add_empty();
  EXPECT_FALSE(empty.at(3));
  EXPECT_TRUE(empty.all_equal());
}

TEST(Columns, EqualTextsHaveOneNumber) {
  TextColumn column;
  for (const char* text : {"a", "b", "", "a", "a", "b"}) column.add(text);
  EXPECT_EQ(column.code(0), column.code(3));
  EXPECT_NE(column.code(0), column.code(1));
  EXPECT_EQ(column.code(2), 0u);
  EXPECT_EQ(column.at(5), "b");
  EXPECT_EQ(column.texts(), (std::vector<std::string>{"", "a", "b"}));
  EXPECT_EQ(column.find("b"), column.code(1));
  EXPECT_FALSE(column.find("c"));
  const TextColumn copy = column;  // its own texts
  column.add("c");
  EXPECT_FALSE(copy.find("c"));
  EXPECT_EQ(copy.at(1), "b");
}

/// Against a plain list, over sizes that make the index grow several times.
TEST(KeyIndex, FindsWhatWasAddedAndNothingElse) {
  Rng rng(4);
  std::vector<std::vector<std::int64_t>> keys;
  const auto key_of = [&](std::size_t entry, std::vector<std::int64_t>& key) { key = keys[entry]; };
  KeyIndex<decltype(key_of)> index(key_of);
  std::map<std::vector<std::int64_t>, std::size_t> known;
  for (int i = 0; i < 20'000; ++i) {
    const std::vector<std::int64_t> key = {static_cast<std::int64_t>(rng.below(120)) - 60,
                                           static_cast<std::int64_t>(rng.below(120)) << 40};
    const auto found = index.find_or_add(key, keys.size());
    const auto expected = known.find(key);
    ASSERT_EQ(found.has_value(), expected != known.end());
    if (found) {
      ASSERT_EQ(*found, expected->second);
    } else {
      known.emplace(key, keys.size());
      keys.push_back(key);
    }
  }
  EXPECT_GT(keys.size(), 8000u);
}

TEST(Rows, ARowIsWhatWasAdded) {
  const Schema& schema = copy_schema();
  Row row;
  row.device = "d";
  row.time_source = TimeSource::device_event;
  row.point = 3;
  row.repetition = 2;
  row.order = 9;
  row.status = Status::throttled;
  row.reason = "hot";
  row.values.resize(schema.size());
  row.values[schema.index("direction")] = std::string("d2d");
  row.values[schema.index("bytes")] = std::int64_t{4096};
  row.values[schema.index("elapsed_s")] = 1.5;
  Row other = row;
  other.start_s = 12.5;
  other.reason = "";
  other.values[schema.index("elapsed_s")] = std::int64_t{2};  // a whole number of seconds
  Rows rows(schema, {row, other});
  ASSERT_EQ(rows.size(), 2u);
  EXPECT_EQ(row_cells(schema, rows[0].whole()), row_cells(schema, row));
  EXPECT_EQ(row_cells(schema, rows[1].whole()), row_cells(schema, other));
  EXPECT_EQ(rows[0].whole().values, row.values);
  EXPECT_EQ(rows[1].number(schema, "elapsed_s"), 2.0);
  EXPECT_EQ(rows[0].number(schema, "bytes"), 4096.0);
  EXPECT_EQ(rows[0].integer(schema, "bytes"), 4096);
  EXPECT_FALSE(rows[0].integer(schema, "elapsed_s"));
  EXPECT_FALSE(rows[0].number(schema, "clock_mhz"));
  EXPECT_EQ(rows[0].text(schema, "direction"), "d2d");
  EXPECT_FALSE(rows[0].start_s());
  EXPECT_EQ(rows[1].start_s(), 12.5);
  EXPECT_FALSE(rows.usable(0, TimeSource::device_event));
  EXPECT_EQ(rows.key(schema.index("bytes"), 0), rows.key(schema.index("bytes"), 1));
  EXPECT_NE(rows.key(schema.index("elapsed_s"), 0), rows.key(schema.index("elapsed_s"), 1));
  EXPECT_THROW(rows.at(2), std::out_of_range);
  row.values[schema.index("bytes")] = 1.5;
  EXPECT_THROW(rows.add(row), std::logic_error);
  row.values.pop_back();
  EXPECT_THROW(rows.add(row), std::logic_error);
}

/// Empty and 0 are different keys: an axis that is not known makes a point of its own.
TEST(Rows, AnEmptyCellIsNoKeyOfZero) {
  const Schema& schema = gemm_schema();
  Row row;
  row.values.resize(schema.size());
  Row zero = row;
  zero.values[schema.index("blocks")] = std::int64_t{0};
  const Rows rows(schema, {row, zero});
  EXPECT_NE(rows.key(schema.index("blocks"), 0), rows.key(schema.index("blocks"), 1));
}

}  // namespace
}  // namespace sonde
