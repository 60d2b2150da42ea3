// Writing a result file: its header, its cells, its check.
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstring>
#include <thread>

#include "core/rng.h"
#include "tests/unit/csv_file.h"

namespace sonde {
namespace {

using test::CsvFile;
using test::read_text;
using test::row_of;

TEST_F(CsvFile, HeaderIsTheContract) {
  EXPECT_EQ(csv_header(chase_schema()),
            "schema,device,time_source,point,repetition,order,start_s,status,reason,"
            "core,blocks,footprint_bytes,state,loads,elapsed_s,latency_ns,placement,clock_mhz,"
            "power_w,temperature_c,waited_s,note,end_s,check\n");
  EXPECT_EQ(csv_header(copy_schema()),
            "schema,device,time_source,point,repetition,order,start_s,status,reason,"
            "direction,method,bytes,alignment_bytes,state,cores,tunables,elapsed_s,"
            "bandwidth_bytes_per_s,counting,store,placement,clock_mhz,power_w,temperature_c,waited_"
            "s,note,end_s,check\n");
}

TEST_F(CsvFile, WhatIsWrittenIsReadBackBitForBit) {
  std::vector<Row> rows;
  Rng rng(17);
  // NOLINTBEGIN(misc-misleading-bidirectional): an escape here, the mark is for a file
  const std::vector<std::string> texts = {"",         "plain",
                                          "a,b",      "say \"x\"",
                                          " leading", "trailing ",
                                          "tab\t",    "\xC3\xA9\xE2\x80\xAE",
                                          "'`$(x)`'", std::string(70000, 'q')};
  // NOLINTEND(misc-misleading-bidirectional)
  {
    CsvWriter writer(chase_schema(), path());
    for (int i = 0; i < 200; ++i) {
      Row row = row_of(i, i % 3, 1);
      row.values[chase_schema().index("note")] = texts[rng.below(texts.size())].empty()
                                                     ? Cell()
                                                     : Cell(texts[rng.below(texts.size() - 1) + 1]);
      // Any finite double, subnormals too, and negative ones where a column may hold them.
      double value = 0;
      do {
        const std::uint64_t bits = rng();
        std::memcpy(&value, &bits, sizeof value);
      } while (!std::isfinite(value));
      row.values[chase_schema().index("latency_ns")] = std::abs(value);
      row.values[chase_schema().index("temperature_c")] = value;
      if (i % 7 == 0) {
        row.status = Status::skipped;
        row.reason = "because, \"quoted\"";
        row.start_s.reset();
        row.values[chase_schema().index("latency_ns")] = Cell();
      }
      writer.write(row);
      rows.push_back(std::move(row));
    }
    writer.close();
  }
  const Table table = read();
  ASSERT_EQ(table.rows.size(), rows.size());
  EXPECT_TRUE(table.warnings.empty());
  for (std::size_t i = 0; i < rows.size(); ++i) {
    EXPECT_EQ(row_cells(chase_schema(), table.rows[i].whole()), row_cells(chase_schema(), rows[i]))
        << i;
    for (const char* column : {"latency_ns", "temperature_c"}) {
      EXPECT_EQ(table.rows[i].whole().values[chase_schema().index(column)],
                rows[i].values[chase_schema().index(column)]);
    }
  }
}

TEST(QuoteCell, QuotesWhatAReaderWouldTakeApartOrTrim) {
  EXPECT_EQ(quote_cell(""), "");
  EXPECT_EQ(quote_cell("a b"), "a b");
  EXPECT_EQ(quote_cell("a,b"), "\"a,b\"");
  EXPECT_EQ(quote_cell("a\"b"), "\"a\"\"b\"");
  for (const std::string text : {" a", "a ", "\ta", "a\t", " "}) {
    EXPECT_EQ(quote_cell(text), '"' + text + '"');
  }
}

TEST_F(CsvFile, EverybodyMayReadIt) {
  const mode_t before = ::umask(022);
  write_rows(1);
  ::umask(before);
  struct stat info {};
  ASSERT_EQ(::stat(path().c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 07777, 0644U);
}

TEST_F(CsvFile, LineBreaksAndNulInTextBecomeBlanks) {
  Row row = row_of(0, 0, 1);
  row.status = Status::failed;
  row.reason = std::string("a\nb\rc\0d", 7);
  {
    CsvWriter writer(chase_schema(), path());
    writer.write(row);
    writer.close();
  }
  EXPECT_EQ(read().rows.at(0).reason(), "a b c d");
}

TEST_F(CsvFile, WriterSaysWhatCannotBeWritten) {
  EXPECT_THROW(CsvWriter(chase_schema(), directory_ / "none/chase.csv"), OutputError);
  EXPECT_THROW(
      {
        CsvWriter writer(chase_schema(), "/dev/full");
        writer.write(row_of(0, 0, 1));
      },
      OutputError);
}

TEST_F(CsvFile, WriterSaysThatItsFileWasRemoved) {
  const auto message = [](auto call) -> std::string {
    try {
      call();
    } catch (const OutputError& error) {
      return error.what();
    }
    return "";
  };
  CsvWriter closed(chase_schema(), path());
  closed.write(row_of(0, 0, 1));
  std::filesystem::remove(path());
  EXPECT_EQ(message([&] { closed.close(); }),
            path().string() + ": was removed while it was written to");
  // A long run notices it within about a second.
  CsvWriter writer(chase_schema(), path());
  std::filesystem::remove(path());
  std::string said;
  for (int i = 0; i < 300 && said.empty(); ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    said = message([&] { writer.write(row_of(i, 0, 1)); });
  }
  EXPECT_NE(said.find("was removed"), std::string::npos);
}

TEST_F(CsvFile, ADashIsStandardOutput) {
  write_rows(3);
  ::testing::internal::CaptureStdout();
  {
    CsvWriter writer(chase_schema(), "-");
    for (int i = 0; i < 3; ++i) writer.write(row_of(i, 0, 100.0 + i / 3.0));
    writer.close();
  }
  EXPECT_EQ(::testing::internal::GetCapturedStdout(), read_text(path()));
}

TEST(RowCheck, IsTheCrcOfSortedLines) {
  // CRC-32 of "a=1\nb=2\n" by an independent implementation (zlib's crc32 through Python).
  EXPECT_EQ(RowCheck({"b", "empty", "a"}).of(std::vector<std::string>{"2", "", "1"}), "85788353");
}

}  // namespace
}  // namespace sonde
