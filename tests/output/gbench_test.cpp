// Every probe is also a Google Benchmark program.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tests/support/programs.h"

namespace sonde {
namespace {

using test::Result;
using test::TemporaryDirectory;

constexpr const char* kChip = "sim:950pr_9579";

TEST(GoogleBenchmark, ListsThePoints) {
  TemporaryDirectory directory;
  const Result list = test::run(directory.path(), {"sonde-copy", "--device", kChip, "--bytes",
                                                   "64,1MiB", "--benchmark_list_tests"});
  EXPECT_EQ(list.exit_code, 0) << list.err;
  EXPECT_EQ(test::count_lines(list.out), 2u) << list.out;
  EXPECT_NE(list.out.find("copy/d2d/auto/1048576"), std::string::npos) << list.out;
}

TEST(GoogleBenchmark, OneIterationIsOneRunOfTheEngine) {
  TemporaryDirectory directory;
  const Result result =
      test::run(directory.path(),
                {"sonde-copy", "--device", "sim:950pr_9579?noise=off", "--bytes", "64,1MiB",
                 "--repetitions", "5", "--benchmark_filter=1048576", "--benchmark_format=json"});
  ASSERT_EQ(result.exit_code, 0) << result.err;
  const auto json = nlohmann::json::parse(result.out);
  EXPECT_EQ(json["context"]["sonde_time_source"], "modelled");
  EXPECT_FALSE(json["context"]["sonde_build_preset"].get<std::string>().empty());
  ASSERT_EQ(json["benchmarks"].size(), 1u);
  EXPECT_EQ(json["benchmarks"][0]["iterations"], 5);
  // The same time as a row of the harness: the device's own clock, not the host's.
  const Result rows =
      test::run(directory.path(), {"sonde-copy", "--device", "sim:950pr_9579?noise=off", "--bytes",
                                   "1MiB", "--repetitions", "1", "--csv", "-"});
  const std::size_t line = rows.out.find('\n') + 1;
  std::string cells = rows.out.substr(line);
  double elapsed = 0;
  for (int column = 0; column < 16; ++column) cells = cells.substr(cells.find(',') + 1);
  elapsed = std::stod(cells);
  EXPECT_NEAR(json["benchmarks"][0]["real_time"].get<double>(), elapsed * 1e6,
              elapsed * 1e6 * 1e-6);
  // No CSV, no run directory.
  for (const auto& entry : std::filesystem::directory_iterator(directory.path())) {
    EXPECT_TRUE(entry.path().filename().string().starts_with(".std"));
  }
}

TEST(GoogleBenchmark, DefaultIsEightIterations) {
  TemporaryDirectory directory;
  const Result result = test::run(directory.path(), {"sonde-chase", "--device", kChip, "--blocks",
                                                     "1,2", "--benchmark_format=json"});
  ASSERT_EQ(result.exit_code, 0) << result.err;
  const auto json = nlohmann::json::parse(result.out);
  ASSERT_EQ(json["benchmarks"].size(), 2u);
  for (const auto& entry : json["benchmarks"]) EXPECT_EQ(entry["iterations"], 8);
}

TEST(GoogleBenchmark, NothingMatchedIsExitTwo) {
  TemporaryDirectory directory;
  EXPECT_EQ(test::run(directory.path(), {"sonde-copy", "--device", kChip, "--benchmark_filter=zzz"})
                .exit_code,
            2);
  EXPECT_EQ(
      test::run(directory.path(), {"sonde-copy", "--device", kChip, "--benchmark_zzz=1"}).exit_code,
      2);
}

TEST(GoogleBenchmark, ItsFlagsFollowOurExitCodes) {
  TemporaryDirectory directory;
  const auto code = [&](const std::string& flag) {
    return test::run(directory.path(), {"sonde-copy", "--device", kChip, "--bytes", "64", flag})
        .exit_code;
  };
  EXPECT_EQ(code("--benchmark_format=xml"), 2);
  EXPECT_EQ(code("--benchmark_out=/nonexistent/x.json"), 4);
  EXPECT_EQ(test::run(directory.path(),
                      {"sonde-copy", "--device", kChip, "--csv", "-", "--benchmark_list_tests"})
                .exit_code,
            2);
}

TEST(GoogleBenchmark, FailuresAreReportedAndExitOne) {
  TemporaryDirectory directory;
  const Result result =
      test::run(directory.path(), {"sonde-copy", "--device", "sim:950pr_9579?fault=corrupt",
                                   "--bytes", "64", "--benchmark_format=json"});
  EXPECT_EQ(result.exit_code, 1) << result.err;
  EXPECT_NE(result.out.find("verify: "), std::string::npos) << result.out;
}

}  // namespace
}  // namespace sonde
