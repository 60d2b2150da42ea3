// Exit codes, messages and files of every command as a user meets them.
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <algorithm>
#include <csignal>
#include <nlohmann/json.hpp>
#include <sstream>

#include "core/csv_reader.h"
#include "core/csv_writer.h"
#include "core/parse.h"
#include "tests/output/commands.h"

namespace sonde {
namespace {

using test::read_text;
using test::Result;

using test::CommandLine;
using test::kChip;

TEST_F(CommandLine, EveryCommandHasHelpAndVersion) {
  const std::vector<std::string> probes = {"chase",  "profile", "interfere", "handoff",
                                           "stream", "copy",    "gemm"};
  std::vector<std::string> commands = probes;
  commands.insert(commands.end(), {"topology", "report", "campaign", "check-model", "devices"});
  for (const std::string& command : commands) {
    const Result help = run({"sonde", command, "--help"});
    EXPECT_EQ(help.exit_code, 0) << command << help.err;
    EXPECT_NE(help.out.find("--help"), std::string::npos) << help.out;
    EXPECT_EQ(help.err, "");
  }
  std::vector<std::string> programs = {"sonde", "sonde-topology", "sonde-report"};
  for (const std::string& probe : probes) programs.push_back("sonde-" + probe);
  for (const std::string& name : programs) {
    const Result version = run({name, "--version"});
    EXPECT_EQ(version.exit_code, 0) << name;
    EXPECT_TRUE(version.out.starts_with("sonde 0.")) << version.out;
  }
  const Result front = run({"sonde", "--help"});
  EXPECT_EQ(front.exit_code, 0);
  for (const std::string& command : commands) {
    EXPECT_NE(front.out.find("  " + command + " "), std::string::npos) << command;
  }
  EXPECT_EQ(run({"sonde"}).exit_code, 2);
}

TEST_F(CommandLine, HelpNamesTheDefaultsThatAreUsed) {
  const std::string help = run({"sonde-chase", "--help"}).out;
  for (const char* text :
       {"--device TEXT=host", "--seed TEXT=1", "--confidence-width TEXT=5", "=random"})
    EXPECT_NE(help.find(text), std::string::npos) << text;
  ASSERT_EQ(run({"sonde-copy", "--device", kChip, "--out", "r", "--bytes", "64", "--no-progress"})
                .exit_code,
            0);
  const auto manifest = nlohmann::json::parse(read_text(directory_ / "r/manifest.json"));
  const auto& options = manifest["steps"][0]["options"];
  EXPECT_EQ(manifest["seed"], 1);
  EXPECT_EQ(options["order"], "random");
  EXPECT_EQ(options["confidence-width"], "5");
  EXPECT_EQ(options["method"], "auto");
}

TEST_F(CommandLine, WrongUseIsOneLineAndExitTwo) {
  refused({"sonde", "chse"}, 2, {"chse", "did you mean chase?"});
  refused({"sonde-chase", "--blcks", "3"}, 2, {"--blcks", "did you mean --blocks?"});
  refused({"sonde-chase", "--device", "cuda:0"}, 2, {"cuda:0", "host", "sim:950pr_9579"});
  refused({"sonde-chase", "--device", "sim:950pr_9578"}, 2, {"950pr_9578", "950pr_9579"});
  refused({"sonde-chase", "--device", "sim:950pr_9579?fault=x"}, 2, {"fault"});
  refused({"sonde-chase", "--device", kChip, "--cores", "vector99"}, 2, {"vector99", "vector0-55"});
  refused({"sonde-chase", "--cores", "cpu4000"}, 2, {"cpu4000", "available"});
  refused({"sonde-chase", "--footprint", "0"}, 2, {"--footprint", "0"});
  refused({"sonde-chase", "--footprint", "64"}, 2, {"--footprint", "64 B"});
  refused({"sonde-chase", "--footprint", "8000GiB"}, 2, {"--footprint", "8000GiB"});
  refused({"sonde-chase", "--blocks", "0"}, 2, {"--blocks", "0"});
  refused({"sonde-chase", "--seed", "x"}, 2, {"--seed", "x"});
  refused({"sonde-chase", "--repetitions", "0"}, 2, {"--repetitions", "0"});
  refused({"sonde-chase", "--repetitions=-1"}, 2, {"--repetitions", "-1"});
  refused({"sonde-chase", "--confidence-width", "0"}, 2, {"--confidence-width"});
  refused({"sonde-chase", "--budget", "-0.5"}, 2, {"--budget"});
  refused({"sonde-chase", "--order", "sorted"}, 2, {"--order", "sorted"});
  refused({"sonde-copy", "--bytes", "64M"}, 2, {"--bytes", "64M", "MiB"});
  refused({"sonde-copy", "--bytes", "1e9"}, 2, {"--bytes", "1e9"});
  refused({"sonde-copy", "--bytes", "0"}, 2, {"--bytes", "0"});
  refused({"sonde-copy", "--bytes", "99999999999999999999"}, 2, {"--bytes", "too large"});
  refused({"sonde-copy", "--bytes", ""}, 2, {"--bytes"});
  refused({"sonde-copy", "--direction", "up"}, 2, {"--direction", "up", "d2d"});
  refused({"sonde-copy", "--method", "magic"}, 2, {"--method", "magic", "auto"});
  refused({"sonde-copy", "--csv", "x"}, 2, {"--csv"});
  refused({"sonde", "campaign", "--device", "nothing"}, 2, {"nothing", "host"});
  refused({"sonde-report"}, 2, {"--run"});
  refused({"sonde-report", "--run", "none"}, 2, {"none"});
  // None of these left a run behind.
  for (const auto& entry : std::filesystem::directory_iterator(directory_.path())) {
    EXPECT_TRUE(entry.path().filename().string().starts_with(".std")) << entry.path();
  }
}

TEST_F(CommandLine, OutputThatCannotBeWrittenIsExitFour) {
  test::write_text(directory_ / "file", "x");
  refused({"sonde-copy", "--device", kChip, "--out", "file", "--bytes", "64"}, 4, {"file"});
  refused({"sonde-copy", "--device", kChip, "--out", "/proc/none/run", "--bytes", "64"}, 4,
          {"/proc/none"});
  refused({"sonde", "campaign", "--device", kChip, "--out", "file"}, 4, {"file"});
}

TEST_F(CommandLine, AFullDiskKeepsTheWholeRows) {
  // A file size limit is met like a full disk: the write comes back short, then fails.
  const pid_t child = [&] {
    rlimit before{}, limit{};
    getrlimit(RLIMIT_FSIZE, &before);
    limit = before;
    limit.rlim_cur = 20'000;
    signal(SIGXFSZ, SIG_IGN);
    setrlimit(RLIMIT_FSIZE, &limit);
    const pid_t started = test::start(
        directory_.path(), {"sonde-copy", "--device", kChip, "--out", "run", "--no-progress"});
    setrlimit(RLIMIT_FSIZE, &before);
    signal(SIGXFSZ, SIG_DFL);
    return started;
  }();
  const Result result = test::wait_for(directory_.path(), child);
  EXPECT_EQ(result.exit_code, 4) << result.err;
  EXPECT_NE(result.err.find("copy.csv"), std::string::npos) << result.err;
  const std::string partial = read_text(directory_ / "run/copy.csv");
  EXPECT_EQ(partial.back(), '\n');
  EXPECT_GT(test::count_lines(partial), 20u);
  const std::vector<std::string> again = {"sonde-copy", "--device", kChip,
                                          "--out",      "run",      "--no-progress"};
  EXPECT_EQ(run(again).exit_code, 0);
  EXPECT_TRUE(read_text(directory_ / "run/copy.csv").starts_with(partial));
}

TEST_F(CommandLine, CorruptedResultsAreFailedRowsWithoutNumbers) {
  const Result result = run({"sonde-copy", "--device", "sim:950pr_9579?fault=corrupt", "--out",
                             "run", "--bytes", "64,1MiB", "--no-progress"});
  EXPECT_EQ(result.exit_code, 1) << result.err;
  const std::string rows = read_text(directory_ / "run/copy.csv");
  EXPECT_EQ(test::count_lines(rows), 3u);
  EXPECT_NE(rows.find(",failed,\"verify: "), std::string::npos) << rows;
  const auto manifest = nlohmann::json::parse(read_text(directory_ / "run/manifest.json"));
  EXPECT_EQ(manifest["steps"][0]["state"], "complete");
  // Complete, and still not a success.
  EXPECT_EQ(run({"sonde-copy", "--device", "sim:950pr_9579?fault=corrupt", "--out", "run",
                 "--bytes", "64,1MiB"})
                .exit_code,
            1);
}

TEST_F(CommandLine, StandardOutputHoldsRowsOnlyWithCsvDash) {
  const Result rows = run(
      {"sonde-copy", "--device", kChip, "--csv", "-", "--bytes", "64,128", "--repetitions", "3"});
  EXPECT_EQ(rows.exit_code, 0);
  EXPECT_TRUE(rows.out.starts_with(csv_header(copy_schema())));
  EXPECT_EQ(test::count_lines(rows.out), 7u);
  const Result created = run(
      {"sonde-copy", "--device", kChip, "--bytes", "64", "--repetitions", "1", "--no-progress"});
  EXPECT_EQ(created.exit_code, 0);
  EXPECT_TRUE(created.out.starts_with("sonde-sim-950pr_9579-")) << created.out;
  EXPECT_TRUE(std::filesystem::exists(
      directory_ / (created.out.substr(0, created.out.size() - 1) + "/copy.csv")));
}

TEST_F(CommandLine, TwoRunsOfOneSecondGetTwoDirectories) {
  const std::vector<std::string> command = {"sonde-copy", "--device",      kChip, "--bytes",
                                            "64",         "--repetitions", "1"};
  const std::string a = run(command).out;
  const std::string b = run(command).out;
  EXPECT_NE(a, b);
}

TEST_F(CommandLine, AStepWithOtherOptionsSeedOrDeviceIsRefused) {
  const std::vector<std::string> base = {"sonde-copy", "--device", kChip,
                                         "--out",      "run",      "--no-progress"};
  const auto with = [&](std::vector<std::string> more) {
    std::vector<std::string> all = base;
    all.insert(all.end(), more.begin(), more.end());
    return all;
  };
  ASSERT_EQ(run(with({"--bytes", "64"})).exit_code, 0);
  refused(with({"--bytes", "128"}), 2, {"other options", "bytes=64", "bytes=128"});
  refused(with({"--bytes", "64", "--seed", "2"}), 2, {"--seed 1"});
  refused({"sonde-copy", "--device", "host", "--out", "run", "--bytes", "64"}, 2, {kChip, "host"});
  // Another probe joins the directory.
  EXPECT_EQ(
      run({"sonde-chase", "--device", kChip, "--out", "run", "--blocks", "1", "--no-progress"})
          .exit_code,
      0);
}

TEST_F(CommandLine, DamagedStoredRowsAreRefusedOnResume) {
  const std::vector<std::string> command = {"sonde-copy", "--device", kChip,    "--out",
                                            "run",        "--bytes",  "64,128", "--no-progress"};
  ASSERT_EQ(run(command).exit_code, 0);
  std::string rows = read_text(directory_ / "run/copy.csv");
  const std::size_t at = rows.find(",128,");
  rows[at + 1] = '9';
  test::write_text(directory_ / "run/copy.csv", rows);
  const Result result = run(command);
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_NE(result.err.find("copy.csv:"), std::string::npos) << result.err;
  EXPECT_EQ(read_text(directory_ / "run/copy.csv"), rows);
}

TEST_F(CommandLine, LostRowsAreMeasuredAgainWhateverTheManifestSays) {
  const std::vector<std::string> command = {"sonde-copy", "--device",     kChip,    "--out",
                                            "run",        "--bytes",      "64,128", "--repetitions",
                                            "4",          "--no-progress"};
  ASSERT_EQ(run(command).exit_code, 0);
  const std::string rows = read_text(directory_ / "run/copy.csv");
  for (const std::size_t kept :
       {std::size_t{0}, rows.find('\n') + 1, rows.size() / 2, rows.size() - 1}) {
    test::write_text(directory_ / "run/copy.csv", rows.substr(0, kept));
    EXPECT_EQ(run(command).exit_code, 0) << kept;
    EXPECT_EQ(read_text(directory_ / "run/copy.csv"), rows) << kept;
  }
  std::filesystem::remove(directory_ / "run/copy.csv");
  EXPECT_EQ(run(command).exit_code, 0);
  EXPECT_EQ(read_text(directory_ / "run/copy.csv"), rows);
  std::filesystem::remove(directory_ / "run/manifest.json");
  refused(command, 2, {"run", "no manifest.json"});
}

TEST_F(CommandLine, AnotherVersionOfTheChipFileIsAnotherDevice) {
  const std::vector<std::string> command = {"sonde-copy", "--device", kChip, "--out",
                                            "run",        "--bytes",  "64",  "--no-progress"};
  ASSERT_EQ(run(command).exit_code, 0);
  const Result result = run(command, edited_chip("value = 118", "value = 119"));
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_NE(result.err.find("chip file"), std::string::npos) << result.err;
}

TEST_F(CommandLine, AnIgnoredChildSignalDoesNotHangACampaign) {
  signal(SIGCHLD, SIG_IGN);
  const pid_t child =
      test::start(directory_.path(), {"sonde", "campaign", "--device", kChip, "--quick",
                                      "--repetitions", "1", "--no-progress", "--out", "run"});
  signal(SIGCHLD, SIG_DFL);
  EXPECT_EQ(test::wait_for(directory_.path(), child).exit_code, 0);
}

TEST_F(CommandLine, ACampaignTakesTheFlagsThatProbesShare) {
  const Result plan =
      run({"sonde", "campaign", "--device", kChip, "--quick", "--dry-run", "--out", "run"});
  EXPECT_EQ(plan.exit_code, 0) << plan.err;
  EXPECT_NE(plan.out.find("points to measure"), std::string::npos);
  EXPECT_FALSE(std::filesystem::exists(directory_ / "run"));
  EXPECT_EQ(run({"sonde", "campaign", "--device", kChip, "--quick", "--budget", "0.001", "--order",
                 "listed", "--no-progress", "--out", "run"})
                .exit_code,
            0);
  EXPECT_NE(read_text(directory_ / "run/chase.csv").find("budget of 0.001 s"), std::string::npos);
}

TEST_F(CommandLine, DryRunPrintsThePlanAndMeasuresNothing) {
  const Result plan =
      run({"sonde-copy", "--device", kChip, "--dry-run", "--bytes", "64,1MiB", "--out", "run"});
  EXPECT_EQ(plan.exit_code, 0);
  EXPECT_NE(plan.out.find("1048576"), std::string::npos) << plan.out;
  EXPECT_NE(plan.out.find("2 of 2 points"), std::string::npos) << plan.out;
  EXPECT_FALSE(std::filesystem::exists(directory_ / "run"));
}

TEST_F(CommandLine, FewRepetitionsLeaveNoNanAndNoInf) {
  for (const char* repetitions : {"1", "2"}) {
    const std::string out = std::string("r") + repetitions;
    ASSERT_EQ(run({"sonde-copy", "--device", kChip, "--out", out, "--bytes", "64,1MiB",
                   "--repetitions", repetitions, "--no-progress"})
                  .exit_code,
              0);
    const Result report = run({"sonde-report", "--run", out});
    EXPECT_EQ(report.exit_code, 0) << report.err;
    const std::string findings = read_text(directory_ / out / "report/findings.csv");
    EXPECT_EQ(findings.find("nan"), std::string::npos);
    EXPECT_EQ(findings.find("inf"), std::string::npos);
    EXPECT_NE(findings.find("copy.peak_bytes_per_s,"), std::string::npos);
  }
}

TEST_F(CommandLine, RatesFollowFromTheStoredColumns) {
  const Result rows = run({"sonde-copy", "--device", kChip, "--csv", "-", "--repetitions", "2",
                           "--bytes", "1KiB:256MiB:2x"});
  std::istringstream text(rows.out);
  std::string line, problem;
  std::getline(text, line);
  const auto header = *split_record(line, &problem);
  const auto column = [&](const std::string& name) {
    return static_cast<std::size_t>(std::find(header.begin(), header.end(), name) - header.begin());
  };
  int checked = 0;
  while (std::getline(text, line)) {
    const auto cells = *split_record(line, &problem);
    const double bytes = *parse_number(cells[column("bytes")]);
    const double elapsed = *parse_number(cells[column("elapsed_s")]);
    const double rate = *parse_number(cells[column("bandwidth_bytes_per_s")]);
    EXPECT_NEAR(rate / (bytes / elapsed), 1, 1e-12);
    ++checked;
  }
  EXPECT_EQ(checked, 2 * 19);
}

TEST_F(CommandLine, DevicesListsWhatIsUsable) {
  const Result text = run({"sonde", "devices"});
  EXPECT_EQ(text.exit_code, 0);
  EXPECT_NE(text.out.find("host"), std::string::npos);
  EXPECT_NE(text.out.find("sim:950pr_9579"), std::string::npos);
  const auto json = nlohmann::json::parse(run({"sonde", "devices", "--json"}).out);
  bool found = false;
  for (const auto& entry : json) {
    if (entry["name"] != kChip) continue;
    found = true;
    EXPECT_EQ(entry["device"]["cores"]["vector"].size(), 56u);
    EXPECT_EQ(entry["device"]["time_source"], "modelled");
    // A simulated device declares no structure; its chip file's parameters stand beside it, each
    // with its source, and reach no manifest.
    EXPECT_EQ(entry["device"].dump().find("die"), std::string::npos);
    EXPECT_EQ(entry["device"].dump().find("group"), std::string::npos);
    EXPECT_GT(entry["parameters"].size(), 50u);
    for (const auto& parameter : entry["parameters"]) {
      EXPECT_FALSE(parameter["source"].get<std::string>().empty()) << parameter.dump();
      EXPECT_FALSE(parameter["confidence"].get<std::string>().empty()) << parameter.dump();
    }
  }
  EXPECT_TRUE(found);
}

TEST_F(CommandLine, ABadChipFileIsNamedAndHidesNoOtherDevice) {
  const test::Environment environment = edited_chip("value = 1650", "value = -165");
  const Result chase = run({"sonde-chase", "--device", kChip, "--csv", "-"}, environment);
  EXPECT_EQ(chase.exit_code, 2);
  EXPECT_NE(chase.err.find("950pr_9579.toml:13: [clock] core"), std::string::npos) << chase.err;
  const Result devices = run({"sonde", "devices"}, environment);
  EXPECT_EQ(devices.exit_code, 0);
  EXPECT_NE(devices.out.find("not usable: 950pr_9579.toml:13"), std::string::npos) << devices.out;
  const Result nowhere =
      run({"sonde", "devices"}, {{"SONDE_DATA=" + (directory_ / "none").string()}});
  EXPECT_EQ(nowhere.exit_code, 0) << nowhere.err;
  EXPECT_NE(nowhere.out.find("host"), std::string::npos);
  EXPECT_NE(nowhere.out.find("sim"), std::string::npos);
}

TEST_F(CommandLine, AMissingProbeProgramCostsItsStepOnly) {
  // The front and what it runs are copied without sonde-copy and sonde-topology.
  std::filesystem::create_directory(directory_ / "bin");
  for (const char* name : {"sonde", "sonde-chase", "sonde-profile", "sonde-interfere",
                           "sonde-stream", "sonde-gemm", "sonde-report"}) {
    std::filesystem::copy_file(test::program(name), directory_ / "bin" / name);
  }
  const std::vector<std::string> command = {(directory_ / "bin/sonde").string(),
                                            "campaign",
                                            "--device",
                                            kChip,
                                            "--out",
                                            "run",
                                            "--quick",
                                            "--no-progress",
                                            "--repetitions",
                                            "1"};
  const Result result = run(command);
  EXPECT_EQ(result.exit_code, 4) << result.err;
  EXPECT_NE(result.err.find("sonde-copy: cannot be started"), std::string::npos) << result.err;
  EXPECT_TRUE(std::filesystem::exists(directory_ / "run/report/index.html"));
  EXPECT_NE(result.err.find("sonde-topology: cannot be started"), std::string::npos) << result.err;
  for (const char* name : {"sonde-copy", "sonde-topology"}) {
    std::filesystem::copy_file(test::program(name), directory_ / "bin" / name);
  }
  const Result resumed = run(command);
  EXPECT_EQ(resumed.exit_code, 0) << resumed.err;
  EXPECT_TRUE(std::filesystem::exists(directory_ / "run/copy.csv"));
}

TEST_F(CommandLine, CommaLocaleChangesNothing) {
  const std::vector<std::string> command = {"sonde-copy", "--device", kChip,           "--csv", "-",
                                            "--bytes",    "64,1MiB",  "--repetitions", "2"};
  const std::string plain = run(command).out;
  EXPECT_EQ(run(command, {{"LC_ALL=de_DE.UTF-8", "LANG=de_DE.UTF-8"}}).out, plain);
}

}  // namespace
}  // namespace sonde
