// The options of the stream and GEMM probes that reach into the simulated chip, as a user sees
// them.
#include <gtest/gtest.h>

#include <map>

#include "tests/support/programs.h"

namespace sonde::test {
namespace {

using Rows = std::vector<std::map<std::string, std::string>>;

/// Rows of a probe that prints them; no cell here holds a comma but the note, which is quoted.
Rows rows_of(std::vector<std::string> command) {
  const TemporaryDirectory scratch;
  for (const char* more : {"--repetitions", "1", "--order", "listed", "--no-progress", "--csv"}) {
    command.emplace_back(more);
  }
  command.emplace_back("-");
  const Result result = run(scratch.path(), command);
  EXPECT_EQ(result.exit_code, 0) << result.err;
  std::istringstream lines(result.out);
  std::string line;
  std::vector<std::string> names;
  Rows rows;
  while (std::getline(lines, line)) {
    std::vector<std::string> cells(1);
    bool quoted = false;
    for (char c : line) {
      if (c == '"') quoted = !quoted;
      if (c == ',' && !quoted) {
        cells.emplace_back();
      } else if (c != '"' && c != '\r') {
        cells.back() += c;
      }
    }
    if (names.empty()) {
      names = cells;
      continue;
    }
    EXPECT_EQ(cells.size(), names.size()) << line;
    std::map<std::string, std::string> row;
    for (std::size_t i = 0; i < cells.size(); ++i) row[names[i]] = cells[i];
    rows.push_back(std::move(row));
  }
  return rows;
}

const std::string kQuiet = "sim:950pr_9579?noise=off";

TEST(SimOptions, StreamShapesAreInTheRow) {
  const Rows rows = rows_of({"sonde-stream",
                             "--device",
                             kQuiet,
                             "--bytes",
                             "1000000",
                             "--kind",
                             "read",
                             "--cores",
                             "vector0",
                             "--request-bytes",
                             "512",
                             "--requests",
                             "8",
                             "--tile",
                             "8KiB",
                             "--buffers",
                             "3",
                             "--reread",
                             "4",
                             "--alignment",
                             "2"});
  ASSERT_EQ(rows.size(), 1U);
  const auto& row = rows[0];
  EXPECT_EQ(row.at("status"), "ok");
  EXPECT_EQ(row.at("tile_bytes"), "8192");
  EXPECT_EQ(row.at("buffers"), "3");
  EXPECT_EQ(row.at("reread"), "4");
  EXPECT_EQ(row.at("alignment_bytes"), "2");
  EXPECT_EQ(row.at("pattern"), "");
  EXPECT_EQ(row.at("moved_bytes"), "4000000");
  EXPECT_EQ(row.at("counting"), "each array as often as it is read");
}

TEST(SimOptions, PatternChangesASharedStream) {
  const auto seconds = [](const std::string& pattern) {
    const Rows rows = rows_of({"sonde-stream", "--device", kQuiet, "--bytes", "32MiB", "--kind",
                               "read", "--addresses", "shared", "--pattern", pattern});
    EXPECT_EQ(rows.at(0).at("pattern"), pattern);
    return std::stod(rows.at(0).at("elapsed_s"));
  };
  EXPECT_GT(seconds("same"), 1.2 * seconds("staggered"));
}

TEST(SimOptions, ADeviceThatCannotBeToldSkips) {
  const Rows rows = rows_of(
      {"sonde-stream", "--device", "host", "--bytes", "64KiB", "--kind", "read", "--tile", "4KiB"});
  ASSERT_FALSE(rows.empty());
  EXPECT_EQ(rows[0].at("status"), "skipped");
  EXPECT_EQ(rows[0].at("reason"),
            "no tiles, buffers, order, re-reads or alignment can be asked of host");
}

TEST(SimOptions, ShapesOfAStreamNeedItsBytes) {
  const TemporaryDirectory scratch;
  const auto fails = [&](const std::vector<std::string>& more) {
    std::vector<std::string> command = {"sonde-stream", "--device", kQuiet, "--csv", "-"};
    command.insert(command.end(), more.begin(), more.end());
    return run(scratch.path(), command).exit_code;
  };
  EXPECT_EQ(fails({"--tile", "4KiB"}), 2);
  EXPECT_EQ(fails({"--bytes", "1MiB", "--pattern", "staggered"}), 2);
  EXPECT_EQ(fails({"--bytes", "1MiB", "--reread", "0"}), 2);
}

TEST(SimOptions, GemmTakesTypesAndCores) {
  const Rows rows = rows_of({"sonde-gemm", "--device", kQuiet, "--shape", "4096x4096x4096",
                             "--dtype", "bf16,fp8", "--blocks", "7,28"});
  ASSERT_EQ(rows.size(), 4U);
  std::map<std::pair<std::string, std::string>, double> seconds;
  for (const auto& row : rows) {
    EXPECT_EQ(row.at("status"), "ok") << row.at("reason");
    const double elapsed = std::stod(row.at("elapsed_s"));
    seconds[{row.at("dtype"), row.at("blocks")}] = elapsed;
    EXPECT_EQ(row.at("placement"), row.at("blocks") == "7" ? "cube0-6" : "cube0-27");
    for (const char* pipe : {"mte2", "mte1", "cube", "fixpipe"}) {
      const double busy = std::stod(row.at(std::string(pipe) + "_busy_s"));
      EXPECT_GT(busy, 0);
      EXPECT_LT(busy, elapsed);
    }
    const double operand = row.at("dtype") == "fp8" ? 1 : 2;
    EXPECT_EQ(std::stod(row.at("least_bytes")), 4096.0 * 4096 * (2 * operand + 2));
  }
  EXPECT_NEAR((seconds[{"bf16", "7"}] / seconds[{"bf16", "28"}]), 4, 0.2);
  EXPECT_NEAR((seconds[{"bf16", "28"}] / seconds[{"fp8", "28"}]), 2, 0.1);
}

TEST(SimOptions, EpisodesMakeThrottledRows) {
  const TemporaryDirectory scratch;
  const Result result =
      run(scratch.path(),
          {"sonde-gemm", "--device", "sim:950pr_9579?noise=episodes", "--shape", "8192x8192x8192",
           "--seed", "2", "--repetitions", "60", "--no-progress", "--csv", "-"});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  std::size_t throttled = 0;
  for (std::size_t at = 0; (at = result.out.find(",throttled,", at)) != std::string::npos; ++at) {
    ++throttled;
  }
  EXPECT_GT(throttled, 0U);
  EXPECT_LT(throttled, 30U);
}

}  // namespace
}  // namespace sonde::test
