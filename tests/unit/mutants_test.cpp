#include "tests/torture/mutants.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

namespace sonde::mutation {
namespace {

std::set<std::string> results(const std::string& text) {
  std::set<std::string> all;
  for (const Mutant& mutant : find_mutants("core/x.cpp", text)) {
    EXPECT_EQ(text.substr(mutant.at, mutant.length), mutant.from);
    all.insert(apply(text, mutant));
  }
  return all;
}

TEST(Mutants, OneLineGivesTheseAndNoOthers) {
  EXPECT_EQ(results("  if (a < b && !c)\n    x = y + 2;\n"),
            (std::set<std::string>{
                "  if (a <= b && !c)\n    x = y + 2;\n", "  if (a >= b && !c)\n    x = y + 2;\n",
                "  if (a < b || !c)\n    x = y + 2;\n", "  if (a < b && c)\n    x = y + 2;\n",
                "  if (a < b && !c)\n    x = y - 2;\n", "  if (a < b && !c)\n    x = y + 3;\n",
                "  if (a < b && !c)\n    x = y + 1;\n", "  if (a < b && !c)\n    ;\n"}));
}

TEST(Mutants, ReturnsExtremesAndFractions) {
  EXPECT_EQ(results("  return std::min(a, 0.5);\n"),
            (std::set<std::string>{"  return {};\n", "  return std::max(a, 0.5);\n",
                                   "  return std::min(a, (2 * 0.5 + (0.5 == 0)));\n"}));
  EXPECT_EQ(results("  return true;\n"), (std::set<std::string>{"  return false;\n"}));
}

TEST(Mutants, TextCommentsAndTemplatesAreLeftAlone) {
  EXPECT_TRUE(results("// a < b + 1\n#define X 1 + 2\nstd::vector<int> a;\nconst char* b = "
                      "\"1 < 2 \\\" && 3\";\nchar c = '<';\n")
                  .empty());
  EXPECT_TRUE(results("const char* raw = R\"(1 < 2)\";\nint* p;\n").empty());
}

TEST(Mutants, SizesOfPiecesAreLeftAloneAndNothingBesideThem) {
  EXPECT_TRUE(results("  cells.reserve(1 + 2 * n);\n").empty());
  EXPECT_TRUE(results("constexpr int kRowsInBatch = 512;\nconstexpr unsigned kMostWorkers = 2;\n"
                      "constexpr std::size_t kBuffer = 1 << 16;\n")
                  .empty());
  EXPECT_EQ(results("constexpr int kMostRows = 5;\n").size(), 2U);
  EXPECT_EQ(
      results("  cells.reserve(9);\n  x = 5;\n"),
      (std::set<std::string>{"  cells.reserve(9);\n  x = 6;\n", "  cells.reserve(9);\n  x = 4;\n",
                             "  cells.reserve(9);\n  ;\n"}));
}

TEST(Mutants, AMutantKnowsItsLine) {
  const auto found = find_mutants("core/x.cpp", "void f() {\n  int a = b;\n  g(a);\n}\n");
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].line, 3U);
  EXPECT_EQ(found[0].kind, "statement");
  EXPECT_EQ(found[0].from, "g(a)");
}

}  // namespace
}  // namespace sonde::mutation
