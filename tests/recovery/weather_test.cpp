// A fixed part of `make score`: drift, throttling episodes and steps of the clock, planted in the
// simulator, do not become structure.
#include <gtest/gtest.h>

#include "core/csv_reader.h"
#include "device/registry.h"
#include "report/compare.h"
#include "report/findings.h"
#include "tests/support/chip_rows.h"
#include "tests/support/programs.h"
#include "tests/support/sanitized.h"
#include "topology/core_tree.h"

namespace sonde::test {
namespace {

constexpr const char* kWeather[] = {"on+drift", "on+episodes", "on+steps"};

StoredRun measure(const TemporaryDirectory& scratch, std::vector<std::string> command,
                  const std::string& device, const std::string& seed) {
  const std::filesystem::path out = scratch / ("run " + seed);
  std::filesystem::remove_all(out);
  for (const std::string& word :
       {std::string("--device"), device, std::string("--seed"), seed, std::string("--no-progress"),
        std::string("--out"), out.string()}) {
    command.push_back(word);
  }
  const Result result = run(scratch.path(), command);
  EXPECT_EQ(result.exit_code, 0) << result.err;
  return load_run(out, {});
}

std::map<std::string, Finding> findings_of(const StoredRun& run) {
  std::map<std::string, Finding> found;
  for (const Finding& finding : find_findings(analyse_run(run))) found[finding.name] = finding;
  return found;
}

std::int64_t throttled_rows(const StoredRun& run) {
  std::int64_t count = 0;
  for (const ProbeRows& probe : run.probes) {
    if (!probe.table) continue;
    for (const Row& row : probe.table->rows.whole())
      count += row.status == Status::throttled ? 1 : 0;
  }
  return count;
}

TEST(Weather, ChipsWithoutStructureStayWithoutIt) {
  int chips = 0;
  for (const char* weather : kWeather) {
    for (const int seed : {8, 13, 21}) {
      const auto device = open_device("sim:random?seed=" + std::to_string(seed) +
                                      "&structure=none&noise=" + weather);
      if (device->description().cores.size() > 60) continue;
      ++chips;
      ChipRows rows(device->description());
      measure_profiles(*device, 256, rows);
      measure_pairs(*device, 3, rows);
      EXPECT_TRUE(infer_core_tree(rows.run()).levels.empty()) << seed << ' ' << weather;
    }
  }
  EXPECT_GE(chips, 3);
}

TEST(Weather, CopiesKeepTheirSwitchAndGetNoOther) {
  const TemporaryDirectory scratch;
  std::int64_t throttled = 0;
  for (const char* weather : kWeather) {
    const std::string noise = std::string("?noise=") + weather;
    const auto plain = findings_of(measure(scratch, {"sonde-copy"}, "sim:h100_sxm" + noise, "2"));
    EXPECT_FALSE(plain.contains("copy.switch_bytes")) << weather;
    const StoredRun run = measure(scratch, {"sonde-copy"}, "sim:950pr_9579" + noise, "2");
    const auto found = findings_of(run);
    ASSERT_TRUE(found.contains("copy.switch_bytes")) << weather;
    EXPECT_LE(*found.at("copy.switch_bytes").low, 400'000) << weather;
    EXPECT_GT(*found.at("copy.switch_bytes").high, 400'000) << weather;
    EXPECT_FALSE(found.contains("copy.switch_bytes.2")) << weather;
    if (std::string(weather) == "on+episodes") {
      throttled = throttled_rows(run);
    } else {
      EXPECT_EQ(throttled_rows(run), 0) << weather;
    }
  }
  EXPECT_GT(throttled, 0) << "rows that met an episode say so";
}

TEST(Weather, AChaseKeepsItsLevelsAndItsWave) {
  const TemporaryDirectory scratch;
  const auto quiet =
      findings_of(measure(scratch, {"sonde-chase"}, "sim:950pr_9579?noise=off", "4"));
  for (const char* weather : kWeather) {
    if (kSanitized && weather != kWeather[1]) continue;
    const auto found = findings_of(
        measure(scratch, {"sonde-chase"}, std::string("sim:950pr_9579?noise=") + weather, "4"));
    for (const auto* names : {&quiet, &found}) {
      for (const auto& [name, finding] : *names) {
        if (!name.starts_with("chase.level_") && !name.starts_with("chase.wave")) continue;
        EXPECT_TRUE(quiet.contains(name) && found.contains(name)) << name << ' ' << weather;
      }
    }
  }
}

TEST(Weather, TheClockExplainsWhatItsStepsDo) {
  // Two runs of one device at different times of its clock: what differs is not called a speed-up
  // of the chip, but the clock's.
  const TemporaryDirectory scratch;
  const std::vector<std::string> command = {"sonde-gemm", "--shape",
                                            "4096x4096x4096,2048x4096x4096", "--repetitions", "12"};
  const std::string device = "sim:950pr_9579?noise=on+steps";
  const Comparison compared = compare_runs(measure(scratch, command, device, "1"),
                                           measure(scratch, command, device, "2"), {});
  for (const PointComparison& point : compared.points) {
    if (point.verdict != Verdict::slower && point.verdict != Verdict::faster) continue;
    EXPECT_TRUE(point.clock_explains) << point.label;
  }
}

}  // namespace
}  // namespace sonde::test
