#include "core/core_name.h"

#include <gtest/gtest.h>

#include "core/error.h"

namespace sonde {
namespace {

std::vector<CoreName> cores(const std::string& kind, std::initializer_list<int> numbers) {
  std::vector<CoreName> list;
  for (int n : numbers) list.push_back({kind, n});
  return list;
}

TEST(CoreSet, WritesRunsAndReadsThemBack) {
  EXPECT_EQ(format_core_set(cores("sm", {7, 0, 1, 2, 3})), "sm0-3+sm7");
  EXPECT_EQ(format_core_set({}), "none");
  EXPECT_EQ(format_core_set({{"vector", 1}, {"cube", 0}}), "cube0+vector1");
  for (const char* text : {"sm0-3+sm7", "none", "cube0+vector1", "cpu5"}) {
    EXPECT_EQ(format_core_set(parse_core_set(text)), text);
  }
  EXPECT_THROW(parse_core_set("3-4"), UsageError);
  EXPECT_THROW(parse_core_set("sm4-1"), UsageError);
  EXPECT_THROW(parse_core_set(""), UsageError);
}

std::string refusal(auto call) {
  try {
    call();
  } catch (const UsageError& error) {
    return error.what();
  }
  return "accepted";
}

TEST(CoreSet, HasAtMost65536CoresOfNineDigits) {
  EXPECT_EQ(parse_core_set("sm0-65535").size(), 65536U);
  EXPECT_EQ(refusal([] { parse_core_set("sm0-65536"); }), "core set: more than 65,536 cores");
  EXPECT_EQ(refusal([] { parse_core_set("sm0-65534+cpu0-1"); }),
            "core set: more than 65,536 cores");
  EXPECT_EQ(parse_core_name("sm999999999").number, 999'999'999);
  EXPECT_THROW(parse_core_name("sm1000000000"), UsageError);
  EXPECT_EQ(format_core_set({{"sm", 3}, {"sm", 3}, {"sm", 5}}), "sm3+sm5");
  EXPECT_EQ(parse_core_set("vector2-vector4").size(), 3U);
  EXPECT_THROW(parse_core_set("vector2-cube4"), UsageError);
  EXPECT_EQ(parse_core_set("sm3-3"), cores("sm", {3}));
}

TEST(CoreName, IsOneNameAndIsQuotedShort) {
  EXPECT_EQ(parse_core_name("cpu3"), (CoreName{"cpu", 3}));
  EXPECT_EQ(parse_core_name("cpu3-3"), (CoreName{"cpu", 3}));
  EXPECT_EQ(refusal([] { parse_core_name("cpu3-4"); }),
            "core: 'cpu3-4' is not one core name such as cpu3");
  EXPECT_EQ(refusal([] { parse_core_name("7"); }), "core: '7' is not one core name such as cpu3");
  EXPECT_EQ(refusal([] { parse_core_name("az`3"); }),
            "core: 'az`3' is not a core: expected a name such as cpu3 or a range such as cpu0-3");
  EXPECT_EQ(parse_core_name("az3").kind, "az");
  std::string range(56, 'a');
  range += "3-45";
  const std::string quoted = range;
  const char* no_name = "' is not one core name such as cpu3";
  EXPECT_EQ(refusal([&] { parse_core_name(range); }), "core: '" + quoted + no_name);
  range += '6';
  EXPECT_EQ(refusal([&] { parse_core_name(range); }), "core: '" + quoted + "\u2026" + no_name);
  // A text from outside is quoted up to 60 characters.
  const std::string whole(60, 'X'), longer = whole + "X";
  for (const auto& call : std::initializer_list<void (*)(const std::string&)>{
           [](const std::string& text) { parse_core_name(text); },
           [](const std::string& text) { parse_core_set(text); },
           [](const std::string& text) {
             parse_core_list(text, {{"cpu", 0}});
           }}) {
    EXPECT_NE(refusal([&] { call(whole); }).find("'" + whole + "'"), std::string::npos);
    EXPECT_NE(refusal([&] { call(longer); }).find("'" + whole + "\u2026'"), std::string::npos)
        << refusal([&] { call(longer); });
  }
}

TEST(CoreList, SaysWhatItNeeds) {
  const std::vector<CoreName> two = {{"vector", 0}, {"cube", 0}, {"vector", 1}};
  EXPECT_EQ(refusal([&] { parse_core_list("0", two); }),
            "--cores: '0' needs a kind: this device has vector and cube cores");
  EXPECT_EQ(refusal([&] { parse_core_list("cube0,cube0", two); }), "--cores: cube0 is named twice");
  EXPECT_EQ(refusal([&] { parse_core_list("cube1", two); }),
            "--cores: cube1 cannot be used here; available: cube0+vector0-1");
  EXPECT_EQ(refusal([&] { parse_core_list("cub0", two); }),
            "--cores: cub0 cannot be used here; available: cube0+vector0-1 (did you mean cube?)");
}

TEST(CoreList, TakesNamesRangesAndBareNumbers) {
  const auto available = cores("cpu", {1, 3, 4, 9});
  EXPECT_EQ(parse_core_list("3-4,cpu9", available), cores("cpu", {3, 4, 9}));
  EXPECT_EQ(parse_core_list("cpu1", available), cores("cpu", {1}));
}

TEST(CoreList, NamesTheCoreThatCannotBeUsed) {
  const auto available = cores("cpu", {1, 3});
  try {
    parse_core_list("1,2", available);
    FAIL();
  } catch (const UsageError& error) {
    EXPECT_NE(std::string(error.what()).find("cpu2"), std::string::npos) << error.what();
    EXPECT_NE(std::string(error.what()).find("cpu1+cpu3"), std::string::npos) << error.what();
  }
}

TEST(CoreList, BareNumbersNeedOneKind) {
  const std::vector<CoreName> two = {{"vector", 0}, {"cube", 0}};
  EXPECT_THROW(parse_core_list("0", two), UsageError);
  EXPECT_EQ(parse_core_list("cube0", two), cores("cube", {0}));
}

TEST(CoreList, RefusesJunk) {
  const auto available = cores("cpu", {0, 1});
  for (const char* bad :
       {"", "cpu", "-1", "0,,1", "0-", "cpu1-0", "0,0", "cpu0x", "CPU0", "99999999999"}) {
    EXPECT_THROW(parse_core_list(bad, available), UsageError) << bad;
  }
}

}  // namespace
}  // namespace sonde
