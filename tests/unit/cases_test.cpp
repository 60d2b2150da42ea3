// docs/cases.md promises a test for each case: they must be there.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <vector>

namespace {

namespace fs = std::filesystem;

std::string text_of(const fs::path& path) {
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

/// `Suite.Name` of every test of the sources.
std::set<std::string> tests_of_the_sources() {
  std::set<std::string> names;
  const std::regex shape(R"(\nTEST(?:_F|_P)?\((\w+),\s*(\w+)\))");
  for (const auto& entry : fs::recursive_directory_iterator(SONDE_SOURCE_DIR "/tests")) {
    if (entry.path().extension() != ".cpp") continue;
    const std::string text = text_of(entry.path());
    for (std::sregex_iterator at(text.begin(), text.end(), shape), end; at != end; ++at)
      names.insert((*at)[1].str() + "." + (*at)[2].str());
  }
  return names;
}

/// The first and the last cell of each row of a table.
std::vector<std::pair<int, std::string>> cases() {
  std::vector<std::pair<int, std::string>> rows;
  std::istringstream lines(text_of(SONDE_SOURCE_DIR "/docs/cases.md"));
  const std::regex shape(R"(^\| (\d+) \|.*\|([^|]*)\|$)");
  std::smatch match;
  for (std::string line; std::getline(lines, line);) {
    if (std::regex_match(line, match, shape)) rows.emplace_back(std::stoi(match[1]), match[2]);
  }
  return rows;
}

TEST(Cases, EachOfThe75IsThereOnceInOrder) {
  int expected = 1;
  for (const auto& [number, tests] : cases()) EXPECT_EQ(number, expected++);
  EXPECT_EQ(expected, 76);
}

TEST(Cases, EveryTestThatIsNamedExists) {
  const std::set<std::string> known = tests_of_the_sources();
  EXPECT_GT(known.size(), 400U);
  const std::regex name(R"(`(\w+\.\w+)`)");
  for (const auto& [number, tests] : cases()) {
    std::size_t count = 0;
    for (std::sregex_iterator at(tests.begin(), tests.end(), name), end; at != end; ++at, ++count)
      EXPECT_TRUE(known.contains((*at)[1])) << "case " << number << ": " << (*at)[1];
    EXPECT_GT(count, 0U) << "case " << number << " names no test";
  }
}

}  // namespace
