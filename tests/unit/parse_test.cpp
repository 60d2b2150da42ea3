#include "core/parse.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "core/error.h"
#include "core/units.h"

namespace sonde {
namespace {

constexpr std::int64_t kMax = std::numeric_limits<std::int64_t>::max();

std::string refusal(const std::string& text, bool sizes = true) {
  try {
    parse_list(text, "--flag", sizes, 1, 1 * kGiB);
  } catch (const UsageError& error) {
    return error.what();
  }
  return "";
}

TEST(ParseSize, TakesBinarySuffixesOnly) {
  EXPECT_EQ(parse_size("64", "--b"), 64);
  EXPECT_EQ(parse_size("64KiB", "--b"), 65536);
  EXPECT_EQ(parse_size("3MiB", "--b"), 3 * kMiB);
  EXPECT_EQ(parse_size("2GiB", "--b"), 2 * kGiB);
  for (const char* bad : {"64M", "1e9", "0x10", " 64", "64 ", "", "-1", "+5", "1.5MiB", "KiB",
                          "99999999999999999999", "9223372036854775807KiB"}) {
    EXPECT_THROW(parse_size(bad, "--b"), UsageError) << bad;
  }
}

TEST(ParseSize, RefusalNamesFlagAndText) {
  try {
    parse_size("64M", "--bytes");
    FAIL();
  } catch (const UsageError& error) {
    EXPECT_NE(std::string(error.what()).find("--bytes"), std::string::npos);
    EXPECT_NE(std::string(error.what()).find("64M"), std::string::npos);
  }
}

TEST(ParseList, RangesIncludeTheirEnds) {
  using List = std::vector<std::int64_t>;
  EXPECT_EQ(parse_list("1,2,4-8", "--f", false, 1, kMax), (List{1, 2, 4, 5, 6, 7, 8}));
  EXPECT_EQ(parse_list("1:10:4", "--f", false, 1, kMax), (List{1, 5, 9, 10}));
  EXPECT_EQ(parse_list("1:9:4", "--f", false, 1, kMax), (List{1, 5, 9}));
  EXPECT_EQ(parse_list("1:20:2x", "--f", false, 1, kMax), (List{1, 2, 4, 8, 16, 20}));
  EXPECT_EQ(parse_list("1KiB:1MiB:4x", "--f", true, 1, kMax),
            (List{kKiB, 4 * kKiB, 16 * kKiB, 64 * kKiB, 256 * kKiB, kMiB}));
  EXPECT_EQ(parse_list("10:100:1.5x", "--f", false, 1, kMax), (List{10, 15, 23, 34, 51, 76, 100}));
  EXPECT_EQ(parse_list("3,3,3", "--f", false, 1, kMax), (List{3}));
}

TEST(ParseList, RefusesWhatIsNotAList) {
  for (const char* bad : {"", ",", "1,,2", "8-4", "1:2", "4:1:1", "1:8:0", "1:8:1x", "1:8:0.5x",
                          "a", "0", "2GiB", "1:8:x", "-5"}) {
    EXPECT_FALSE(refusal(bad).empty()) << bad;
    EXPECT_NE(refusal(bad).find("--flag"), std::string::npos) << bad;
  }
}

TEST(ParseNumber, WholeTextOrNothing) {
  EXPECT_EQ(parse_number("0.1"), 0.1);
  EXPECT_EQ(parse_number("1e-7"), 1e-7);
  EXPECT_EQ(parse_number("123456789.123456"), 123456789.123456);
  for (const char* bad :
       {"", "nan", "inf", "-inf", "N/A", "1,5", "1.5 ", " 1", "0x1p3", "1e999", "1.2.3"}) {
    EXPECT_FALSE(parse_number(bad)) << bad;
  }
}

TEST(FormatNumber, ReadsBackBitForBit) {
  for (double value :
       {0.1, 1e-7, 123456789.123456, 1.0 / 3, 5e-324, 1.7976931348623157e308, 0.0, 400000.0}) {
    EXPECT_EQ(parse_number(format_number(value)), value);
  }
  EXPECT_THROW(format_number(std::nan("")), std::invalid_argument);
  EXPECT_THROW(format_number(std::numeric_limits<double>::infinity()), std::invalid_argument);
}

TEST(FormatSize, IsExact) {
  EXPECT_EQ(format_size(Bytes(16 * kKiB)), "16 KiB");
  EXPECT_EQ(format_size(Bytes(kMiB + kMiB / 2)), "1.5 MiB");
  EXPECT_EQ(format_size(Bytes(400'000)), "400,000 B");
  EXPECT_EQ(format_size(Bytes(0)), "0 B");
}

TEST(FormatCount, GroupsDigits) {
  EXPECT_EQ(format_count(999), "999");
  EXPECT_EQ(format_count(1000), "1,000");
  EXPECT_EQ(format_count(-1234567), "-1,234,567");
}

TEST(NearestName, SuggestsTypingErrorsOnly) {
  const std::vector<std::string> names = {"chase", "copy", "campaign"};
  EXPECT_EQ(nearest_name("chse", names), "chase");
  EXPECT_EQ(nearest_name("copyy", names), "copy");
  EXPECT_FALSE(nearest_name("zzzzz", names));
  // Half of what was typed may be wrong, more may not.
  EXPECT_EQ(nearest_name("chxx", {"chase"}), std::nullopt);
  EXPECT_EQ(nearest_name("coxx", {"copy"}), "copy");
  EXPECT_EQ(nearest_name("cxxx", {"copy"}), std::nullopt);
  EXPECT_EQ(nearest_name("a", {"b"}), std::nullopt);
  EXPECT_EQ(nearest_name("ab", {"b"}), "b");
  EXPECT_EQ(nearest_name("hase", {"chase"}), "chase");
  EXPECT_EQ(nearest_name("cgase", {"chase"}), "chase");
  // The nearest, of equally near ones the first.
  EXPECT_EQ(nearest_name("capy", {"cape", "copy", "capy2"}), "cape");
  EXPECT_EQ(nearest_name("copies", {"copy", "copie"}), "copie");
  EXPECT_EQ(did_you_mean("chse", names), " (did you mean chase?)");
  EXPECT_EQ(did_you_mean("zzzzz", names), "");
}

}  // namespace
}  // namespace sonde
