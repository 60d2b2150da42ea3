// Numbers under a comma locale, of C and of C++: a library that is loaded may have set one.
#include <gtest/gtest.h>

#include <clocale>
#include <cstdio>
#include <cstdlib>
#include <locale>

#include "core/csv_reader.h"
#include "core/csv_writer.h"
#include "core/manifest.h"
#include "core/parse.h"
#include "core/units.h"
#include "tests/support/programs.h"

namespace sonde {
namespace {

class CommaPunctuation : public std::numpunct<char> {
  char do_decimal_point() const override { return ','; }
  char do_thousands_sep() const override { return '.'; }
  std::string do_grouping() const override { return "\3"; }
};

/// As soon as it lives, both languages of this process write commas.
class CommaLocale {
 public:
  CommaLocale() : before_(std::locale(std::locale::classic(), new CommaPunctuation)) {
    const std::string folder = directory_.path().string();
    ::setenv("LOCPATH", folder.c_str(), 1);
    const std::string make =
        "localedef -i de_DE -f UTF-8 '" + folder + "/de_DE.UTF-8' >/dev/null 2>&1";
    static_cast<void>(std::system(make.c_str()));
    std::setlocale(LC_ALL, "de_DE.UTF-8");
    std::locale::global(before_);
    std::setlocale(LC_NUMERIC, "de_DE.UTF-8");
  }
  ~CommaLocale() {
    std::locale::global(std::locale::classic());
    std::setlocale(LC_ALL, "C");
    ::unsetenv("LOCPATH");
  }
  /// Whether C's own functions follow: where no locale can be made only C++'s do.
  static bool in_c() {
    char text[16];
    std::snprintf(text, sizeof text, "%.1f", 0.5);
    return std::string(text) == "0,5";
  }

 private:
  test::TemporaryDirectory directory_;
  std::locale before_;
};

void expect_points() {
  EXPECT_EQ(format_number(1234567.25), "1234567.25");
  EXPECT_EQ(format_number(0.1), "0.1");
  EXPECT_EQ(parse_number("1234.5"), 1234.5);
  EXPECT_FALSE(parse_number("1234,5"));
  EXPECT_EQ(format_count(1234567), "1,234,567");
  EXPECT_EQ(format_size(Bytes(1536)), "1.5 KiB");
}

TEST(Locale, NumbersRowsAndManifestsKeepTheirPoints) {
  test::TemporaryDirectory directory;
  const auto write = [&](const std::string& name) {
    std::filesystem::create_directory(directory / name);
    Row row;
    row.device = "host";
    row.time_source = TimeSource::host_clock;
    row.start_s = 1796088327.2016485;
    row.values.assign(copy_schema().size(), {});
    const auto put = [&](const char* column, const Cell& cell) {
      row.values.at(copy_schema().index(column)) = cell;
    };
    put("direction", std::string("d2d"));
    put("method", std::string("auto"));
    put("bytes", std::int64_t{1'048'576});
    put("alignment_bytes", std::int64_t{4096});
    put("state", std::string("warm"));
    put("bandwidth_bytes_per_s", 2.0561e9);
    put("counting", std::string("once"));
    put("elapsed_s", 0.00050994700000000001);
    CsvWriter writer(copy_schema(), directory / name / "copy.csv");
    writer.write(row);
    writer.close();
    Manifest manifest;
    manifest.device.name = "host";
    manifest.device.time_source = TimeSource::host_clock;
    manifest.device.memory_bytes = 34'359'738'368;
    manifest.device.reference_clock_hz = 2'900'000'000.5;
    manifest.idle_power_w = 203.3;
    write_manifest(directory / name, manifest);
  };
  write("plain");
  {
    const CommaLocale locale;
    if (!CommaLocale::in_c()) std::printf("no German locale of C here\n");
    expect_points();
    write("comma");
    const Table table = read_table(directory / "plain/copy.csv", copy_schema());
    ASSERT_EQ(table.rows.size(), 1U);
    EXPECT_EQ(table.rows[0].number(copy_schema(), "elapsed_s"), 0.00050994700000000001);
    const Manifest manifest = read_manifest(directory / "plain/manifest.json");
    EXPECT_EQ(manifest.idle_power_w, 203.3);
    EXPECT_EQ(manifest.device.reference_clock_hz, 2'900'000'000.5);
  }
  for (const char* file : {"copy.csv", "manifest.json"}) {
    EXPECT_EQ(test::read_text(directory / "comma" / file),
              test::read_text(directory / "plain" / file))
        << file;
  }
}

}  // namespace
}  // namespace sonde
