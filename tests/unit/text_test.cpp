// Text from outside, made fit to be shown.
#include "core/text.h"

#include <gtest/gtest.h>

#include <set>

#include "core/error.h"
#include "core/json_fields.h"
#include "core/manifest.h"
#include "core/parse.h"
#include "core/stored_tree.h"

namespace sonde {
namespace {

TEST(ShownText, KeepsLettersAndReplacesWhatActs) {
  EXPECT_EQ(shown_text("\u00b5s \u4e2d\u6587 \u05d0"), "\u00b5s \u4e2d\u6587 \u05d0");
  EXPECT_EQ(shown_text("a\nb\r\tc\x1b[2J\x7f"), "a b  c [2J ");
  EXPECT_EQ(shown_text(std::string("a\0b", 3)), "a b");
  EXPECT_EQ(shown_text("\u0085\u009b\u2028"), "   ");  // C1 and line separators
  // NOLINTNEXTLINE(misc-misleading-bidirectional): escapes here, the marks are what is shown
  EXPECT_EQ(shown_text("a\u202eb\u2066c\u200fd\u061c"), "a?b?c?d?");  // marks of direction
  EXPECT_EQ(shown_text("\xff\xc3(\xe2\x82"), std::string("?") + "?(" + "?" + "?");
  EXPECT_EQ(shown_text("\xc0\xaf\xed\xa0\x80\xf4\x90\x80\x80"), "?????????");  // never valid
  EXPECT_EQ(shown_text("\U0001F600"), "\U0001F600");
}

std::string utf8(char32_t c) {
  if (c < 0x800) return {static_cast<char>(0xc0 | c >> 6), static_cast<char>(0x80 | (c & 0x3f))};
  return {static_cast<char>(0xe0 | c >> 12), static_cast<char>(0x80 | (c >> 6 & 0x3f)),
          static_cast<char>(0x80 | (c & 0x3f))};
}

TEST(ShownText, EveryMarkOfDirectionAndNothingBesideThem) {
  const std::set<char32_t> marks = {0x061c, 0x200e, 0x200f, 0x202a, 0x202b, 0x202c,
                                    0x202d, 0x202e, 0x2066, 0x2067, 0x2068, 0x2069};
  const std::set<char32_t> breaks = {0x2028, 0x2029};
  for (char32_t c = 0x0600; c < 0x2100; ++c) {
    const std::string expected = marks.contains(c) ? "?" : breaks.contains(c) ? " " : utf8(c);
    EXPECT_EQ(shown_text(utf8(c)), expected) << std::hex << static_cast<unsigned>(c);
  }
  for (char32_t c = 0x80; c < 0x100; ++c)
    EXPECT_EQ(shown_text(utf8(c)), c < 0xa0 ? " " : utf8(c)) << static_cast<unsigned>(c);
}

TEST(ShownText, CutsByCharacters) {
  EXPECT_EQ(shown_text("abc", 3), "abc");
  EXPECT_EQ(shown_text("\u00b5\u00b5\u00b5", 2), "\u00b5\u00b5\u2026");
}

TEST(ParseList, EndsAtTheLargestNumber) {
  constexpr std::int64_t kMax = 9223372036854775807;
  EXPECT_EQ(parse_list("9223372036854775805-9223372036854775807", "--f", false, 1, kMax).size(),
            3u);
  EXPECT_THROW(parse_list("1-9223372036854775807", "--f", false, 1, kMax), UsageError);
  EXPECT_THROW(parse_list("1:9223372036854775807:1", "--f", false, 1, kMax), UsageError);
}

std::string refusal(const std::string& text) {
  try {
    parse_manifest(text, "m.json");
  } catch (const UsageError& error) {
    return error.what();
  }
  return "";
}

TEST(Manifest, NumbersThatDoNotFitAreRefusedNotCut) {
  Manifest manifest;
  manifest.device.name = "sim:x";
  manifest.device.cores = {{"vector", 7}};
  manifest.device.memory = {{"L1", 16384, 64}, {"HBM", 4096, std::nullopt}};
  const std::string good = manifest_text(manifest);
  ASSERT_EQ(refusal(good), "");
  const auto with = [&](const std::string& from, const std::string& to) {
    std::string text = good;
    const std::size_t at = text.find(from);
    EXPECT_NE(at, std::string::npos) << from;
    return refusal(text.replace(at, from.size(), to));
  };
  for (const char* number : {"-1", "7.5", "1e308", "18446744073709551616", "true", "\"7\""}) {
    EXPECT_NE(with("7\n", std::string(number) + "\n").find("cores"), std::string::npos) << number;
    EXPECT_NE(with("16384", number).find("capacity_bytes"), std::string::npos) << number;
    EXPECT_NE(with("\"seed\": 1", std::string("\"seed\": ") + number).find("seed"),
              std::string::npos)
        << number;
  }
  EXPECT_NE(with("7\n", "4294967303\n").find("out of range"), std::string::npos);
  // A size that fits, of which twice all instances do not.
  manifest.device.memory[0].capacity_bytes = std::int64_t{1} << 62;
  EXPECT_EQ(parse_manifest(manifest_text(manifest), "m").device.memory_from_bytes(), std::nullopt);
}

TEST(Json, DeepNestsAreRefused) {
  const std::string deep(100'000, '[');
  EXPECT_NE(refusal(deep).find("nested too deeply"), std::string::npos);
  EXPECT_NE(refusal("{\"schema\":" + deep).find("nested too deeply"), std::string::npos);
  EXPECT_THROW(parse_tree("{\"levels\":" + deep, "t.json"), UsageError);
}

TEST(StoredTree, ReadsLevelsAndRefusesTheRest) {
  const StoredTree tree =
      parse_tree(R"({"levels":[{"groups":[["cpu0","cpu2"],["cpu1"]]}],"reason":"r"})", "t.json");
  ASSERT_EQ(tree.levels.size(), 1u);
  EXPECT_EQ(tree.levels[0][0][1], (CoreName{"cpu", 2}));
  for (const char* bad : {"", "{}", R"({"levels":[{}]})", R"({"levels":[{"groups":[["cpu"]]}]})",
                          R"({"levels":[{"groups":["cpu0"]}]})", R"({"levels":3})"}) {
    EXPECT_THROW(parse_tree(bad, "t.json"), UsageError) << bad;
  }
}

}  // namespace
}  // namespace sonde
