// The probes of several cores, the profile and the GEMM sweep as a user meets them.
#include <algorithm>
#include <map>
#include <set>
#include <sstream>

#include "core/csv_reader.h"
#include "core/csv_writer.h"
#include "tests/output/commands.h"

namespace sonde {
namespace {

using test::CommandLine;
using test::kChip;
using test::read_text;
using test::Result;

class Probes : public CommandLine {
 protected:
  /// Rows of a probe run on the simulated chip with these flags.
  Table rows(const Schema& schema, const std::vector<std::string>& flags, int code = 0) {
    const std::string out = "run" + std::to_string(++runs_);
    std::vector<std::string> command = {"sonde-" + schema.probe, "--device", kChip, "--out", out,
                                        "--no-progress"};
    command.insert(command.end(), flags.begin(), flags.end());
    const Result result = run(command);
    EXPECT_EQ(result.exit_code, code) << result.err;
    return read_table(directory_ / out / (schema.probe + ".csv"), schema);
  }
  std::string dry_run(const std::string& probe, const std::vector<std::string>& flags) {
    std::vector<std::string> command = {"sonde-" + probe, "--dry-run"};
    command.insert(command.end(), flags.begin(), flags.end());
    const Result result = run(command);
    EXPECT_EQ(result.exit_code, 0) << result.err;
    EXPECT_EQ(result.err, "");
    return result.out;
  }

  int runs_ = 0;
};

TEST_F(Probes, EveryPlanIsShownOnBothDevicesAndMeasuresNothing) {
  for (const std::string probe :
       {"chase", "profile", "interfere", "handoff", "stream", "copy", "gemm"}) {
    for (const char* device : {"host", kChip}) {
      for (const bool quick : {false, true}) {
        std::vector<std::string> flags = {"--device", device};
        if (quick) flags.emplace_back("--quick");
        const std::string plan = dry_run(probe, flags);
        EXPECT_TRUE(plan.starts_with("point\t")) << probe;
        EXPECT_NE(plan.find(" points to measure, "), std::string::npos) << probe;
      }
    }
  }
  EXPECT_FALSE(std::filesystem::exists(directory_ / "sonde-host"));
}

TEST_F(Probes, AProfileHasOneRowACoreAndAddress) {
  const Table table = rows(profile_schema(), {"--cores", "vector0,cube3", "--addresses", "300"});
  ASSERT_EQ(table.rows.size(), 600u);
  std::vector<std::int64_t> addresses[2];
  for (const Row& row : table.rows.whole()) {
    EXPECT_EQ(row.status, Status::ok);
    EXPECT_EQ(row.repetition, 0);
    addresses[row.point].push_back(*row.integer(profile_schema(), "address_bytes"));
  }
  EXPECT_EQ(addresses[0], addresses[1]);
  EXPECT_EQ(table.rows.back().integer(profile_schema(), "address_index"), 299);
  EXPECT_NE(
      dry_run("profile", {"--device", kChip}).find("84 of 84 points to measure, 1 repetition"),
      std::string::npos);
  // 4,096 addresses by default, 512 in a quick run.
  EXPECT_EQ(rows(profile_schema(), {"--cores", "vector0"}).rows.size(), 4096u);
  EXPECT_EQ(rows(profile_schema(), {"--cores", "vector0", "--quick"}).rows.size(), 512u);
}

TEST_F(Probes, AProfileCutAnywhereIsMeasuredAnew) {
  const std::vector<std::string> command = {
      "sonde-profile", "--device",  kChip,         "--out", "p",
      "--cores",       "vector0-2", "--addresses", "50",    "--no-progress"};
  ASSERT_EQ(run(command).exit_code, 0);
  const std::string whole = read_text(directory_ / "p/profile.csv");
  for (std::size_t kept : {whole.size() / 3, whole.size() / 2, whole.size() - 1,
                           whole.find('\n') + 1, whole.find('\n') + 30}) {
    test::write_text(directory_ / "p/profile.csv", whole.substr(0, kept));
    const Result again = run(command);
    EXPECT_EQ(again.exit_code, 0) << again.err;
    EXPECT_EQ(read_text(directory_ / "p/profile.csv"), whole) << kept;
  }
}

TEST_F(Probes, InterferenceTakesPairsAndSubsets) {
  const Table pairs = rows(interfere_schema(),
                           {"--cores", "vector0-2", "--aggressor", "load", "--repetitions", "2"});
  ASSERT_EQ(pairs.rows.size(), 2u * (3 + 6));  // alone, and each beside each other one
  const auto alone = std::count_if(pairs.rows.begin(), pairs.rows.end(), [](const RowView& row) {
    return row.text(interfere_schema(), "aggressors") == "none";
  });
  EXPECT_EQ(alone, 6);
  for (const Row& row : pairs.rows.whole()) {
    const bool beside = row.text(interfere_schema(), "aggressors") != "none";
    EXPECT_EQ(row.integer(interfere_schema(), "background_operations").has_value(), beside);
  }
  const Table subsets = rows(interfere_schema(), {"--design", "subsets", "--subsets", "5",
                                                  "--cores", "vector0-9", "--aggressor", "load"});
  ASSERT_EQ(subsets.rows.size(), 10u + 50);
  for (const Row& row : subsets.rows.whole()) {
    const auto set = parse_core_set(row.text(interfere_schema(), "aggressors"));
    EXPECT_TRUE(set.empty() || set.size() == 5);  // half of the other nine, rounded up
    for (const CoreName& core : set) {
      EXPECT_NE(core.str(), row.text(interfere_schema(), "victim"));
    }
  }
}

TEST_F(Probes, LatenciesAreThoseOfTheElapsedTime) {
  // Without noise a profile's elapsed time is the sum of its loads.
  const Result result = run({"sonde-profile", "--device", "sim:950pr_9579?noise=off", "--out", "q",
                             "--cores", "vector0", "--addresses", "100", "--no-progress"});
  ASSERT_EQ(result.exit_code, 0) << result.err;
  const Table profile = read_table(directory_ / "q/profile.csv", profile_schema());
  double sum_ns = 0;
  for (const Row& row : profile.rows.whole()) sum_ns += *row.number(profile_schema(), "latency_ns");
  EXPECT_NEAR(sum_ns, 1e9 * *profile.rows.front().number(profile_schema(), "elapsed_s"),
              0.01 * sum_ns);
  EXPECT_GT(sum_ns / 100, 100);
  EXPECT_LT(sum_ns / 100, 400);
  const Table pairs = rows(interfere_schema(), {"--cores", "vector0-1", "--repetitions", "1"});
  for (const Row& row : pairs.rows.whole()) {
    EXPECT_NEAR(*row.number(interfere_schema(), "latency_ns"),
                1e9 * *row.number(interfere_schema(), "elapsed_s") /
                    *row.number(interfere_schema(), "loads"),
                1e-6);
  }
  const Result host = run(
      {"sonde-handoff", "--device", "host", "--out", "h", "--repetitions", "2", "--no-progress"});
  ASSERT_EQ(host.exit_code, 0) << host.err;
  for (const Row& row : read_table(directory_ / "h/handoff.csv", handoff_schema()).rows.whole()) {
    if (row.status != Status::ok) continue;  // one core
    EXPECT_NEAR(*row.number(handoff_schema(), "latency_ns"),
                1e9 * *row.number(handoff_schema(), "elapsed_s") / 2 /
                    *row.number(handoff_schema(), "exchanges"),
                1e-6);
  }
}

TEST_F(Probes, RepeatsInAPlanAreMeasuredOnce) {
  EXPECT_EQ(rows(gemm_schema(), {"--shape", "64x64x64,64x64x64", "--repetitions", "1"}).rows.size(),
            1u);
  // Two cores have one subset each.
  EXPECT_EQ(rows(interfere_schema(),
                 {"--design", "subsets", "--cores", "vector0-1", "--aggressor", "load"})
                .rows.size(),
            4u);
}

TEST_F(Probes, LostRowsAreMissed) {
  rows(gemm_schema(), {"--shape", "64x64x64", "--repetitions", "8"});
  const std::string whole = read_text(directory_ / "run1/gemm.csv");
  test::write_text(directory_ / "run1/gemm.csv", whole.substr(0, whole.find('\n', 600) + 1));
  const Result report = run({"sonde-report", "--run", "run1"});
  EXPECT_EQ(report.exit_code, 0);
  EXPECT_NE(read_text(directory_ / "run1/report/index.html").find("8 were written"),
            std::string::npos);
}

TEST_F(Probes, ABadRowInAnIncompleteSampleGoesWithIt) {
  const std::vector<std::string> command = {
      "sonde-profile", "--device", kChip,           "--out",          "b", "--cores", "vector0-1",
      "--addresses",   "16",       "--no-progress", "--skip-bad-rows"};
  ASSERT_EQ(run(command).exit_code, 0);
  const std::string whole = read_text(directory_ / "b/profile.csv");
  std::size_t at = 0;
  for (int line = 0; line < 28; ++line) at = whole.find('\n', at) + 1;  // 11 rows of the second
  std::string cut = whole.substr(0, at);
  cut[cut.rfind("ok,")] = 'x';
  test::write_text(directory_ / "b/profile.csv", cut);
  EXPECT_EQ(run(command).exit_code, 0);
  EXPECT_EQ(read_text(directory_ / "b/profile.csv"), whole);
}

TEST_F(Probes, AMissingEngineIsASkippedRow) {
  const Table table = rows(handoff_schema(), {});
  ASSERT_EQ(table.rows.size(), 2u);
  for (const Row& row : table.rows.whole()) {
    EXPECT_EQ(row.status, Status::skipped);
    EXPECT_EQ(row.reason, "this device has no hand-off engine");
  }
}

TEST_F(Probes, StreamRowsSayWhatWasCounted) {
  const Table table = rows(stream_schema(), {"--bytes", "1MiB,4MiB", "--kind", "copy", "--cores",
                                             "vector0-1", "--passes", "2", "--repetitions", "1"});
  ASSERT_EQ(table.rows.size(), 2u);
  for (const Row& row : table.rows.whole()) {
    const double bytes = *row.number(stream_schema(), "bytes");
    // Two cores, two arrays, two passes.
    EXPECT_EQ(row.number(stream_schema(), "moved_bytes"), 8 * bytes);
    EXPECT_NEAR(*row.number(stream_schema(), "bandwidth_bytes_per_s"),
                8 * bytes / *row.number(stream_schema(), "elapsed_s"), 1);
    EXPECT_EQ(row.text(stream_schema(), "counting"), "each array once a pass and core");
  }
}

TEST_F(Probes, GemmRowsHoldWorkAndIntensity) {
  test::write_text(directory_ / "shapes.csv", "k,m,n,label\n64,32,128,\"a, b\"\n0,1,1,none\n");
  const Table table =
      rows(gemm_schema(), {"--shapes", (directory_ / "shapes.csv").string(), "--repetitions", "1"});
  ASSERT_EQ(table.rows.size(), 2u);
  const std::vector<Row> stored = table.rows.whole();
  const auto of = [&](std::int64_t point) {
    return *std::find_if(stored.begin(), stored.end(),
                         [&](const Row& row) { return row.point == point; });
  };
  const Row shape = of(0);
  EXPECT_EQ(shape.text(gemm_schema(), "label"), "a, b");
  EXPECT_EQ(shape.number(gemm_schema(), "flop"), 2.0 * 32 * 128 * 64);
  EXPECT_EQ(shape.number(gemm_schema(), "least_bytes"), 2.0 * (32 * 64 + 64 * 128 + 32 * 128));
  EXPECT_DOUBLE_EQ(*shape.number(gemm_schema(), "intensity_flop_per_byte"),
                   2.0 * 32 * 128 * 64 / (2.0 * (32 * 64 + 64 * 128 + 32 * 128)));
  EXPECT_NEAR(*shape.number(gemm_schema(), "flop_per_s"),
              2.0 * 32 * 128 * 64 / *shape.number(gemm_schema(), "elapsed_s"), 1);
  EXPECT_EQ(of(1).status, Status::skipped);
  EXPECT_EQ(of(1).reason, "no work: a dimension is 0");
  EXPECT_NE(dry_run("gemm", {"--device", kChip}).find("1081 of 1081 points"), std::string::npos)
      << "1,055 shapes, 3 roofs, 23 anchors";
}

TEST_F(Probes, ABudgetOnTheHostLeavesAStratifiedSampleAndSaysSo) {
  const Result result = run({"sonde-gemm", "--device", "host", "--out", "g", "--budget", "1",
                             "--repetitions", "1", "--no-progress"});
  ASSERT_EQ(result.exit_code, 0) << result.err;
  const Table table = read_table(directory_ / "g/gemm.csv", gemm_schema());
  std::int64_t measured = 0, shapes = 0;
  for (const Row& row : table.rows.whole()) {
    if (!row.text(gemm_schema(), "role").empty()) continue;
    ++shapes;
    measured += row.status == Status::ok;
    if (row.status == Status::skipped) {
      EXPECT_NE(row.reason.find("budget of 1 s"), std::string::npos);
    }
  }
  EXPECT_EQ(shapes, 1055);
  EXPECT_GE(measured, 1);
  EXPECT_LT(measured, 1055);
}

TEST_F(Probes, BadInputNamesTheFlag) {
  refused({"sonde-profile", "--addresses", "0"}, 2, {"--addresses", "0"});
  refused({"sonde-profile", "--addresses", "1,2"}, 2, {"--addresses", "list"});
  refused({"sonde-profile", "--device", kChip, "--bytes", "64", "--addresses", "2"}, 2,
          {"--addresses", "2", "1 lines"});
  refused({"sonde-profile", "--bytes", "64M"}, 2, {"--bytes", "64M"});
  refused({"sonde-interfere", "--design", "triples"}, 2, {"--design", "triples", "pairs"});
  refused({"sonde-interfere", "--aggressor", "lod"}, 2, {"--aggressor", "lod", "load"});
  refused({"sonde-interfere", "--subsets", "3"}, 2, {"--subsets", "--design"});
  refused({"sonde-interfere", "--design", "subsets", "--subsets", "0"}, 2, {"--subsets", "0"});
  refused({"sonde-handoff", "--kind", "give"}, 2, {"--kind", "give", "read"});
  refused({"sonde-stream", "--kind", "reed"}, 2, {"--kind", "reed", "read"});
  refused({"sonde-stream", "--bytes", "0"}, 2, {"--bytes", "0"});
  refused({"sonde-stream", "--request-bytes", "-64"}, 2, {"--request-bytes", "-64"});
  refused({"sonde-stream", "--requests", "0"}, 2, {"--requests", "0"});
  refused({"sonde-stream", "--passes", "2"}, 2, {"--passes", "--bytes"});
  refused({"sonde-gemm", "--shape", "4x4"}, 2, {"--shape", "4x4", "MxNxK"});
  refused({"sonde-gemm", "--shape", "4x-4x4"}, 2, {"--shape", "-4"});
  refused({"sonde-gemm", "--shapes", "nowhere.csv"}, 2, {"--shapes", "nowhere.csv"});
  refused({"sonde-gemm", "--shapes", "nowhere.csv", "--shape", "1x1x1"}, 2, {"exclude"});
  refused({"sonde-gemm", "--dtype", "fp64"}, 2, {"--dtype", "fp64", "bf16"});
  refused({"sonde-gemm", "--kernel", "magic"}, 2, {"--kernel", "magic", "auto"});
  refused({"sonde-gemm", "--kernel", "auto,eigen"}, 2, {"--kernel", "one kernel"});
  refused({"sonde-gemm", "--cores", "cpu99999", "--shape", "1x1x1"}, 2, {"--cores", "cpu99999"});
  refused({"sonde-gemm", "--cores", "cpu0", "--blocks", "1", "--shape", "1x1x1"}, 2,
          {"--blocks", "--cores", "exclude"});
  refused({"sonde-topology"}, 2, {"--run"});
  refused({"sonde-topology", "--run", "nowhere"}, 2, {"nowhere"});
  // Bare numbers mean nothing where a device has two kinds of cores.
  refused({"sonde-profile", "--device", kChip, "--cores", "0-3"}, 2, {"--cores", "vector"});
}

TEST_F(Probes, ACorruptingDeviceFailsEveryPointAndKeepsNoNumber) {
  const std::pair<const Schema*, std::vector<std::string>> runs[] = {
      {&profile_schema(), {"--cores", "vector0-1", "--addresses", "10"}},
      {&interfere_schema(), {"--cores", "vector0-1", "--aggressor", "load"}},
      {&stream_schema(), {"--cores", "vector0-1", "--bytes", "64KiB"}},
      {&gemm_schema(), {"--shape", "64x64x64"}}};
  for (const auto& [schema, flags] : runs) {
    std::vector<std::string> command = {"sonde-" + schema->probe,
                                        "--device",
                                        "sim:950pr_9579?fault=corrupt",
                                        "--out",
                                        schema->probe,
                                        "--no-progress"};
    command.insert(command.end(), flags.begin(), flags.end());
    EXPECT_EQ(run(command).exit_code, 1) << schema->probe;
    const Table table = read_table(directory_ / schema->probe / (schema->probe + ".csv"), *schema);
    ASSERT_FALSE(table.rows.empty());
    for (const Row& row : table.rows.whole()) {
      EXPECT_EQ(row.status, Status::failed) << schema->probe;
      EXPECT_TRUE(row.reason.starts_with("verify: ")) << row.reason;
      EXPECT_FALSE(row.number(*schema, "elapsed_s"));
    }
  }
}

TEST_F(Probes, ACopyPlanGrowsUntilTheSwitchIsBracketedByOneLine) {
  std::set<std::int64_t> sizes;
  for (const Row& row : rows(copy_schema(), {"--method", "auto"}).rows.whole()) {
    sizes.insert(*row.integer(copy_schema(), "bytes"));
  }
  EXPECT_TRUE(sizes.contains(400'000));
  EXPECT_TRUE(sizes.contains(400'064));
  // Sizes that were asked for stay what they are.
  sizes.clear();
  for (const Row& row :
       rows(copy_schema(), {"--bytes", "64KiB:4MiB:2x", "--repetitions", "8"}).rows.whole()) {
    sizes.insert(*row.integer(copy_schema(), "bytes"));
  }
  EXPECT_EQ(sizes.size(), 7u);
}

TEST_F(Probes, CopiesByNameOfMethodAndByAlignment) {
  std::set<std::string> methods;
  std::set<std::int64_t> alignments;
  for (const Row& row : rows(copy_schema(), {"--method", "all", "--alignment", "64,4096", "--bytes",
                                             "1MiB", "--repetitions", "1"})
                            .rows.whole()) {
    methods.insert(row.text(copy_schema(), "method"));
    alignments.insert(*row.integer(copy_schema(), "alignment_bytes"));
  }
  EXPECT_EQ(methods, (std::set<std::string>{"auto", "sdma", "tensor_move"}));
  EXPECT_EQ(alignments, (std::set<std::int64_t>{64, 4096}));
  for (const char* flag : {"--vary-threshold", "--cores=vector0"}) {
    const Result result = run({"sonde-copy", "--device", kChip, flag, "--csv", "-"});
    EXPECT_EQ(result.exit_code, 2) << flag;
  }
}

TEST_F(Probes, MovedThresholdsAreMeasuredByProgramsOfTheirOwnAndResume) {
  const std::vector<std::string> command = {
      "sonde-copy", "--device",      "host", "--vary-threshold", "--bytes", "64,4096", "--out",
      "varied",     "--repetitions", "2",    "--no-progress"};
  const Result result = run(command);
  ASSERT_EQ(result.exit_code, 0) << result.err;
  const std::string all = read_text(directory_ / "varied/copy.csv");
  std::map<std::string, int> settings;
  for (const Row& row : read_table(directory_ / "varied/copy.csv", copy_schema()).rows.whole()) {
    EXPECT_EQ(row.status, Status::ok) << row.reason;
    EXPECT_GT(*row.number(copy_schema(), "elapsed_s"), 0);
    EXPECT_NE(row.text(copy_schema(), "placement"), "");
    ++settings[row.text(copy_schema(), "tunables")];
  }
  EXPECT_EQ(settings,
            (std::map<std::string, int>{{"", 4},
                                        {"glibc.cpu.x86_non_temporal_threshold=16777216", 4},
                                        {"glibc.cpu.x86_non_temporal_threshold=1048576", 4},
                                        {"glibc.cpu.x86_rep_movsb_threshold=3072", 4}}));
  // Killed in the middle: the same command takes what is missing.
  test::write_text(directory_ / "varied/copy.csv", all.substr(0, all.size() / 2));
  ASSERT_EQ(run(command).exit_code, 0);
  EXPECT_EQ(read_table(directory_ / "varied/copy.csv", copy_schema()).rows.size(), 16u);
}

}  // namespace
}  // namespace sonde
