// Reading a result file: what is accepted, dropped, counted or refused, and in which words.
#include <gtest/gtest.h>
#include <zlib.h>

#include <algorithm>
#include <cmath>
#include <filesystem>

#include "core/rng.h"
#include "tests/unit/csv_file.h"

namespace sonde {
namespace {

using test::CsvFile;
using test::read_text;
using test::row_of;
using test::write_text;

TEST_F(CsvFile, ByteOrderMarkCrlfOrderAndExtraColumnsAreFine) {
  write_rows(3);
  std::string text = read_text(path());
  std::string changed = "\xEF\xBB\xBF";
  for (std::size_t at = 0, line = 0; at < text.size(); ++line) {
    const std::size_t end = text.find('\n', at);
    // An unknown column in front, `check` moved to the second place.
    std::string one = text.substr(at, end - at);
    const std::size_t comma = one.rfind(',');
    changed +=
        (line == 0 ? "extra," : "7,") + one.substr(comma + 1) + "," + one.substr(0, comma) + "\r\n";
    at = end + 1;
  }
  write_text(path(), changed);
  const Table table = read();
  ASSERT_EQ(table.rows.size(), 3u);
  EXPECT_EQ(table.unprotected, 0);
  EXPECT_EQ(table.rows[2].number(chase_schema(), "latency_ns"), 100.0 + 2 / 3.0);
}

TEST_F(CsvFile, GzipIsReadDirectly) {
  write_rows(5);
  const std::string text = read_text(path());
  const auto packed = directory_ / "chase.csv.gz";
  gzFile file = gzopen(packed.c_str(), "wb");
  ASSERT_EQ(gzwrite(file, text.data(), static_cast<unsigned>(text.size())),
            static_cast<int>(text.size()));
  gzclose(file);
  EXPECT_EQ(read_table(packed, chase_schema()).rows.size(), 5u);
  std::filesystem::remove(path());
  EXPECT_EQ(find_table(directory_.path(), "chase"), packed);
  // A cut archive is refused, not read as a shorter file.
  std::filesystem::resize_file(packed, std::filesystem::file_size(packed) / 2);
  EXPECT_THROW(read_table(packed, chase_schema()), RefusedFile);
}

TEST_F(CsvFile, LastLineWithoutNewlineIsDroppedWithAWarning) {
  write_rows(4);
  const std::string text = read_text(path());
  const std::size_t whole = text.substr(0, text.size() - 1).rfind('\n') + 1;
  for (std::size_t cut = whole + 1; cut < text.size(); ++cut) {
    write_text(path(), text.substr(0, cut));
    const Table table = read();
    ASSERT_EQ(table.rows.size(), 3u) << cut;
    ASSERT_TRUE(table.cut_line);
    ASSERT_EQ(table.whole_bytes, static_cast<std::int64_t>(whole)) << cut;
    ASSERT_EQ(table.warnings.size(), 1u);
  }
}

TEST_F(CsvFile, AnyDamagedByteIsRefusedWithItsLineOrHarmless) {
  write_rows(3);
  const std::string text = read_text(path());
  const Table whole = read();
  Rng rng(5);
  for (std::size_t at = 0; at < text.size(); ++at) {
    std::string damaged = text;
    char byte = damaged[at];
    while (byte == damaged[at]) byte = static_cast<char>(rng.below(256));
    damaged[at] = byte;
    write_text(path(), damaged);
    try {
      const Table table = read();
      if (at + 1 == text.size()) {
        EXPECT_TRUE(table.cut_line);
        continue;
      }
      // Taken: then every value must be what it was (an unknown column name in the header).
      ASSERT_EQ(table.rows.size(), whole.rows.size()) << at;
      const bool header = at < text.find('\n');
      for (std::size_t i = 0; i < table.rows.size() && !header; ++i) {
        ASSERT_EQ(row_cells(chase_schema(), table.rows[i].whole()),
                  row_cells(chase_schema(), whole.rows[i].whole()))
            << at;
      }
    } catch (const RefusedFile& error) {
      ASSERT_NE(std::string(error.what()).find("chase.csv"), std::string::npos);
    }
  }
}

TEST_F(CsvFile, EditedRowsNeedAcceptEdited) {
  write_rows(3);
  mutate("16384", "16385", 2);
  EXPECT_NE(refusal().find("chase.csv:3: check"), std::string::npos) << refusal();
  EXPECT_TRUE(refusal({.skip_bad_rows = false, .accept_edited = true}).empty());
  const Table table = read({.skip_bad_rows = true, .accept_edited = false});
  EXPECT_EQ(table.rows.size(), 2u);
  EXPECT_EQ(table.skipped, 1);
}

TEST_F(CsvFile, UnprotectedRowsAreCounted) {
  write_rows(3);
  edit_unprotected("16384", "16384");
  const Table table = read();
  EXPECT_EQ(table.unprotected, 3);
  EXPECT_EQ(table.warnings.size(), 1u);
}

TEST_F(CsvFile, BadNumbersAreNamedByLineAndColumn) {
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"nan", "latency_ns: 'nan' is not a number"},
      {"inf", "latency_ns: 'inf'"},
      {"N/A", "latency_ns: 'N/A'"},
      {"\"100,5\"", "decimal comma?"},
      {"", "latency_ns: empty"},
      {"0", "latency_ns: 0 is not above zero"},
      {"-0.5", "latency_ns: -0.5 is not above zero"},
      {" 100", "latency_ns"}};
  for (const auto& [text, message] : cases) {
    std::filesystem::remove(path());
    write_rows(2);
    edit_unprotected(",100,", "," + text + ",");
    EXPECT_NE(refusal().find("chase.csv:2: "), std::string::npos) << refusal();
    EXPECT_NE(refusal().find(message), std::string::npos) << refusal();
  }
}

TEST(Schemas, EveryTimeRateAndCountOfWorkMustBeAboveZero) {
  for (const Schema* schema : all_schemas()) {
    std::size_t times = 0;
    for (const Column& column : schema->metrics) {
      const bool quantity = column.required && column.type != CellType::text;
      EXPECT_EQ(column.positive, quantity && column.name != "footprint_bytes" &&
                                     column.name != "address_bytes" &&
                                     column.name != "address_index")
          << schema->probe << " " << column.name;
      if (column.positive) ++times;
    }
    EXPECT_GE(times, 2u) << schema->probe;
  }
}

TEST_F(CsvFile, SpreadsheetIntegersAreRefused) {
  write_rows(2);
  edit_unprotected("16384", "1.64E+04");
  EXPECT_NE(refusal().find("edited in a spreadsheet?"), std::string::npos) << refusal();
}

TEST_F(CsvFile, SpreadsheetPaddingIsAccepted) {
  write_rows(2);
  std::string text = read_text(path());
  for (std::size_t at = text.find('\n'); at != std::string::npos; at = text.find('\n', at + 4)) {
    text.insert(at, ",,");
  }
  write_text(path(), text);
  EXPECT_EQ(read().rows.size(), 2u);
}

TEST_F(CsvFile, AnEmptyCellStaysEmptyBehindAFullOne) {
  {
    CsvWriter writer(chase_schema(), path());
    for (int i = 0; i < 4; ++i) {
      Row row = row_of(i, 0, 100);
      if (i % 2 == 0) {
        row.values[chase_schema().index("power_w")] = 300.0;
        row.values[chase_schema().index("note")] = std::string("warm");
      } else {
        row.status = Status::skipped;
        row.reason = "cold";
        row.start_s.reset();
      }
      writer.write(row);
    }
    writer.close();
  }
  const Table table = read();
  for (std::size_t i = 0; i < 4; ++i) {
    const RowView row = table.rows[i];
    EXPECT_EQ(row.number(chase_schema(), "power_w").has_value(), i % 2 == 0);
    EXPECT_EQ(row.text(chase_schema(), "note"), i % 2 == 0 ? "warm" : "");
    EXPECT_EQ(row.start_s().has_value(), i % 2 == 0);
    EXPECT_EQ(row.reason(), i % 2 == 0 ? "" : "cold");
  }
}

TEST_F(CsvFile, WrongCellCountsAndStrayLinesAreNamed) {
  write_rows(4);
  std::string text = read_text(path());
  const std::size_t third = text.find('\n', text.find('\n', text.find('\n') + 1) + 1) + 1;
  text.insert(third, "finished OK\n" + csv_header(chase_schema()));
  write_text(path(), text);
  EXPECT_NE(refusal().find("chase.csv:4: cell count: 1"), std::string::npos) << refusal();
  EXPECT_NE(refusal().find("chase.csv:5: repeated header"), std::string::npos) << refusal();
  EXPECT_EQ(read({.skip_bad_rows = true, .accept_edited = false}).rows.size(), 4u);
}

TEST_F(CsvFile, OnlyTwentyBadLinesArePrinted) {
  write_rows(50);
  std::string text = read_text(path());
  std::string bad = text.substr(0, text.find('\n') + 1);
  for (int i = 0; i < 30; ++i) bad += "x\n";
  write_text(path(), bad);
  EXPECT_EQ(test::count_lines(refusal()), 20u);
  EXPECT_NE(refusal().find("30 bad rows"), std::string::npos);
}

TEST_F(CsvFile, RepeatedKeys) {
  {
    CsvWriter writer(chase_schema(), path());
    writer.write(row_of(0, 0, 1));
    writer.write(row_of(0, 0, 1));
    writer.close();
  }
  const Table same = read();
  EXPECT_EQ(same.rows.size(), 1u);
  EXPECT_EQ(same.warnings.size(), 1u);
  {
    CsvWriter writer(chase_schema(), path());
    writer.write(row_of(0, 0, 2));
    writer.close();
  }
  EXPECT_NE(refusal().find("chase.csv:4: point, repetition: 0, 0 appears twice"), std::string::npos)
      << refusal();
}

TEST_F(CsvFile, RepeatedKeysAreFoundInAnyOrderOfRows) {
  // Repetitions in order, then one that jumps, then keys of both kinds again.
  const std::vector<std::pair<std::int64_t, std::int64_t>> keys = {
      {0, 0}, {1, 0}, {0, 1}, {5, 3}, {1, 1}, {7'000'000'000, 0}, {0, 2}};
  for (const auto& again : keys) {
    std::filesystem::remove(path());
    {
      CsvWriter writer(chase_schema(), path());
      for (const auto& [point, repetition] : keys) writer.write(row_of(point, repetition, 100));
      writer.write(row_of(again.first, again.second, 100));
      writer.write(row_of(again.first, again.second, 101));
      writer.close();
    }
    const std::string key = std::to_string(again.first) + ", " + std::to_string(again.second);
    EXPECT_NE(refusal().find("chase.csv:10: point, repetition: " + key + " appears twice"),
              std::string::npos)
        << refusal();
    const Table table = read({.skip_bad_rows = true});
    EXPECT_EQ(table.rows.size(), keys.size());
    EXPECT_EQ(table.skipped, 1);
  }
}

TEST_F(CsvFile, ContentIsTheSamePackedOrNot) {
  write_rows(3);
  const std::string text = read_text(path());
  const Table plain = read();
  EXPECT_EQ(plain.content_bytes, static_cast<std::int64_t>(text.size()));
  EXPECT_EQ(plain.crc32, checksum(text));
  gzFile packed = gzopen(path().c_str(), "wb");
  gzwrite(packed, text.data(), static_cast<unsigned>(text.size()));
  gzclose(packed);
  EXPECT_EQ(read().crc32, plain.crc32);
  EXPECT_EQ(read().content_bytes, plain.content_bytes);
}

TEST_F(CsvFile, MissingColumnsAreNamedAndOptionalOnesMayBeAbsent) {
  write_rows(2);
  mutate("latency_ns", "latencyns");
  EXPECT_NE(refusal().find("no column latency_ns"), std::string::npos) << refusal();
  std::filesystem::remove(path());
  write_rows(2);
  mutate("power_w", "powerw");
  EXPECT_EQ(read().rows.size(), 2u);  // nothing was stored in it
}

TEST_F(CsvFile, AxesThatMayBeEmptyMayBeAbsentTooOthersNot) {
  const auto rewritten = [&](const std::string& from, const std::string& to) {
    std::filesystem::remove(path());
    {
      CsvWriter writer(gemm_schema(), path());
      Row row;
      row.device = "host";
      row.time_source = TimeSource::host_clock;
      row.start_s = 1;
      row.values.resize(gemm_schema().size());
      for (const char* name : {"m", "n", "k"}) {
        row.values[gemm_schema().index(name)] = std::int64_t{64};
      }
      row.values[gemm_schema().index("dtype")] = "bf16";
      row.values[gemm_schema().index("kernel")] = "auto";
      for (const char* name : {"elapsed_s", "flop", "flop_per_s", "least_bytes"}) {
        row.values[gemm_schema().index(name)] = 1.5;
      }
      row.values[gemm_schema().index("intensity_flop_per_byte")] = 1.5;
      writer.write(row);
      writer.close();
    }
    mutate(from, to);
  };
  // Rows of before these columns came; their check leaves empty cells out.
  rewritten(",state,cores,role,", ",was1,was2,was3,");
  const Table table = read_table(path(), gemm_schema());
  ASSERT_EQ(table.rows.size(), 1u);
  EXPECT_EQ(table.rows[0].text(gemm_schema(), "role"), "");
  EXPECT_EQ(table.rows[0].number(gemm_schema(), "elapsed_s"), 1.5);
  rewritten(",dtype,", ",type,");
  EXPECT_THROW(read_table(path(), gemm_schema()), RefusedFile);
}

TEST_F(CsvFile, OtherSchemaIsRefused) {
  write_rows(1);
  EXPECT_THROW(read_table(path(), copy_schema()), RefusedFile);
  edit_unprotected("\nchase.1,", "\nchase.2,");
  EXPECT_NE(refusal().find("'chase.2', expected chase.1"), std::string::npos) << refusal();
}

TEST_F(CsvFile, EmptyMissingDirectoryHeaderOnlyAreFiveDifferentAnswers) {
  EXPECT_NE(refusal().find("No such file"), std::string::npos) << refusal();
  write_text(path(), "");
  EXPECT_NE(refusal().find("is empty"), std::string::npos) << refusal();
  write_text(path(), csv_header(chase_schema()));
  EXPECT_EQ(read().rows.size(), 0u);
  std::filesystem::remove(path());
  std::filesystem::create_directory(path());
  EXPECT_NE(refusal().find("is a directory"), std::string::npos) << refusal();
}

TEST_F(CsvFile, AHeaderWithoutItsEndOfLineWasCut) {
  std::string header = csv_header(chase_schema());
  header.pop_back();
  write_text(path(), header);
  EXPECT_NE(refusal().find("the header has no end of line"), std::string::npos) << refusal();
}

TEST_F(CsvFile, WordsThatAreNoneOfTheirColumnAreRefused) {
  const auto refused = [&](const std::string& from, const std::string& to) {
    std::filesystem::remove(path());
    write_rows(2);
    edit_unprotected(from, to);
    return refusal();
  };
  EXPECT_NE(refused(",modelled,", ",guessed,").find("time_source: 'guessed' is not a time source"),
            std::string::npos);
  EXPECT_NE(
      refused(",ok,", ",fine,").find("status: 'fine' is not ok, throttled, skipped or failed"),
      std::string::npos);
  EXPECT_NE(refused(",ok,", ",failed,").find("reason: empty, expected one unless ok"),
            std::string::npos);
}

TEST_F(CsvFile, NulBytesBehindTheLastRowAreACutLine) {
  write_rows(3);
  const std::string text = read_text(path());
  for (const std::string& tail :
       {std::string(1, '\0'), std::string(5000, '\0'), std::string("copy.1,si\0\0", 11)}) {
    write_text(path(), text + tail);
    const Table table = read();
    EXPECT_EQ(table.rows.size(), 3U);
    EXPECT_TRUE(table.cut_line);
    EXPECT_EQ(table.whole_bytes, std::ssize(text));
    write_text(path(), text + tail + "\n");
    EXPECT_NE(refusal().find(":5: NUL"), std::string::npos) << refusal();
  }
}

TEST_F(CsvFile, NulBytesLoneCarriageReturnsAndOpenQuotesAreExplained) {
  write_rows(3);
  const std::string text = read_text(path());
  std::string changed = text;
  changed[changed.size() - 20] = '\0';
  write_text(path(), changed);
  EXPECT_NE(refusal().find("NUL"), std::string::npos) << refusal();
  changed = text;
  std::replace(changed.begin(), changed.end(), '\n', '\r');
  write_text(path(), changed);
  EXPECT_NE(refusal().find("carriage return"), std::string::npos) << refusal();
  changed = text;
  for (std::size_t at = changed.find('\n'); at != std::string::npos;
       at = changed.find('\n', at + 3)) {
    changed.replace(at, 1, "\r\r\n");
  }
  write_text(path(), changed);
  EXPECT_NE(refusal().find("carriage return"), std::string::npos) << refusal();
  write_text(path(), text + "\"open\n");
  EXPECT_NE(refusal().find("quote is left open"), std::string::npos) << refusal();
}

TEST_F(CsvFile, LongLines) {
  write_rows(1);
  const std::string text = read_text(path());
  write_text(path(), text + "\"" + std::string(2'000'000, 'a') + "\"\n");
  EXPECT_NE(refusal().find("chase.csv:3: cell count"), std::string::npos);
  write_text(path(), text + std::string(17 << 20, 'a') + "\n");
  EXPECT_NE(refusal().find("longer than 16 MiB"), std::string::npos);
}

TEST(SplitRecord, FollowsRfc4180) {
  using Cells = std::vector<std::string>;
  std::string problem;
  EXPECT_EQ(*split_record("a,b,,c", &problem), (Cells{"a", "b", "", "c"}));
  EXPECT_EQ(*split_record("\"a,\"\"b\"\"\",c", &problem), (Cells{"a,\"b\"", "c"}));
  EXPECT_EQ(*split_record("a,", &problem), (Cells{"a", ""}));
  EXPECT_FALSE(split_record("\"a\"b,c", &problem));
  EXPECT_FALSE(split_record("a\"b", &problem));
  EXPECT_FALSE(split_record("\"a", &problem));
}

TEST_F(CsvFile, ColumnsThatCameLaterMayBeAbsent) {
  write_text(
      path(),
      "schema,device,time_source,point,repetition,order,start_s,status,reason,direction,method,"
      "bytes,alignment_bytes,state,elapsed_s,bandwidth_bytes_per_s,counting\n"
      "copy.1,host,host_clock,0,0,0,1,ok,,d2d,auto,4096,64,warm,1e-6,4.096e9,once\n");
  const Table table = read_table(path(), copy_schema());
  ASSERT_EQ(table.rows.size(), 1u);
  EXPECT_EQ(table.rows[0].integer(copy_schema(), "bytes"), 4096);
  EXPECT_EQ(table.rows[0].text(copy_schema(), "tunables"), "");
}

}  // namespace
}  // namespace sonde
