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
