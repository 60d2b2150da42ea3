// What goes wrong around a campaign: signals, calls that fail, children that crash, hang or write
// half a row, devices that are lost, two at once, folders that vanish. After each: what was stored
// is there and valid, the exit code and the message are right, and the same command goes on.
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <nlohmann/json.hpp>
#include <thread>

#include "core/csv_reader.h"
#include "tests/output/commands.h"
#include "tests/support/disturb.h"

namespace sonde {
namespace {

using test::read_text;
using test::Result;
namespace fs = std::filesystem;

bool holds(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

class Faults : public test::CommandLine {
 protected:
  /// A folder with all programs, so that one can be put in place of another.
  fs::path copied_programs() {
    fs::path bin = directory_ / "bin";
    fs::create_directories(bin);
    fs::copy_file(test::program("sonde"), bin / "sonde");
    for (const auto& entry : fs::directory_iterator(SONDE_BIN_DIR)) {
      if (entry.path().filename() == "sonde") continue;
      fs::create_symlink(entry.path(), bin / entry.path().filename());
    }
    return bin;
  }
  /// A file may be made in a folder while its others are removed.
  static void remove_while_written(const fs::path& folder) {
    std::error_code ignored;
    while (fs::exists(folder)) fs::remove_all(folder, ignored);
  }
  void replace(const fs::path& program, const std::string& script) {
    fs::remove(program);
    test::write_text(program, "#!/bin/sh\n" + script);
    fs::permissions(program, fs::perms::owner_all);
  }
  std::vector<std::string> copy(const std::string& device, const std::string& out) {
    return {"sonde-copy", "--device",      device,          "--out", out,
            "--bytes",    "1KiB:64KiB:2x", "--repetitions", "40",    "--no-progress"};
  }
};

TEST_F(Faults, ACampaignStruckAnyhowKeepsItsRowsAndResumes) {
  const test::SmallCampaign campaign(directory_.path());
  Rng rng(4);
  for (int kind = 0; kind < test::kBlows; ++kind) {
    const test::Blow& blow = test::kBlowKinds[kind];
    const fs::path run = directory_ / blow.name / "run";
    for (const double share : {0.35, 0.5}) {
      const test::Struck struck =
          test::strike(campaign, run, blow, share * campaign.seconds(), rng);
      EXPECT_EQ(struck.problem, "") << blow.name;
      if (kind > 2) break;  // kill -9 comes twice on one directory
    }
    EXPECT_EQ(test::finish(campaign, run), "") << blow.name;
  }
}

TEST_F(Faults, ACallThatFailsIsToldAndTheRowsStay) {
  const test::SmallCampaign campaign(directory_.path());
  int at = 1;
  // Seven of the twelve kinds; tests/torture has them all, at ever later moments.
  for (const int kind : {0, 3, 5, 6, 8, 10, 11}) {
    const test::FailingCall& failing = test::kFailingCallKinds[kind];
    at = at * 5 % 37;
    const std::string call = failing.call;
    const int moment = call == "write" ? at + 20 : call == "mkdir" ? 1 : at % 4 + 1;
    bool struck = false;
    const fs::path run = directory_ / call / failing.error / std::to_string(failing.count) / "run";
    EXPECT_EQ(test::fail_and_finish(campaign, run, failing, moment, struck), "")
        << call << " " << failing.error << " at " << moment;
    EXPECT_TRUE(struck) << call << " " << failing.error << " at " << moment;
  }
}

TEST_F(Faults, ALostDeviceFailsWhatIsLeftAndKeepsWhatWas) {
  const std::string device = std::string(test::kChip) + "?fault=lost";
  const Result lost = run(copy(device, "lost"));
  EXPECT_EQ(lost.exit_code, 1) << lost.err;
  EXPECT_TRUE(holds(lost.err, "the device is lost")) << lost.err;
  ASSERT_EQ(run(copy(test::kChip, "whole")).exit_code, 0);
  const Table rows = read_table(directory_ / "lost/copy.csv", copy_schema());
  const Table whole = read_table(directory_ / "whole/copy.csv", copy_schema());
  std::size_t good = 0;
  while (good < rows.rows.size() && rows.rows[good].status() == Status::ok) ++good;
  EXPECT_GT(good, 20U);
  for (std::size_t i = 0; i < good; ++i) {
    EXPECT_EQ(rows.rows[i].whole().values, whole.rows[i].whole().values);
  }
  for (std::size_t i = good; i < rows.rows.size(); ++i) {
    EXPECT_EQ(rows.rows[i].status(), Status::failed);
    EXPECT_FALSE(rows.rows[i].number(copy_schema(), "elapsed_s"));
  }
  EXPECT_EQ(rows.rows.size() - good, 7U) << "each point fails once";
  // Cut anywhere, the resume comes to the same rows.
  const std::string text = read_text(directory_ / "lost/copy.csv");
  for (const std::size_t kept : {text.size() / 3, text.size() - 20}) {
    test::write_text(directory_ / "lost/copy.csv", text.substr(0, kept));
    EXPECT_EQ(run(copy(device, "lost")).exit_code, 1);
    EXPECT_EQ(read_text(directory_ / "lost/copy.csv"), text);
  }
}

TEST_F(Faults, OutOfMemoryIsSkippedWithThatReason) {
  const Result result = run(copy(std::string(test::kChip) + "?fault=memory", "run"));
  EXPECT_EQ(result.exit_code, 0) << result.err;
  int skipped = 0;
  for (const Row& row : read_table(directory_ / "run/copy.csv", copy_schema()).rows.whole()) {
    if (row.status == Status::ok) continue;
    ++skipped;
    EXPECT_EQ(row.status, Status::skipped);
    EXPECT_EQ(row.reason, "out of memory");
  }
  EXPECT_GE(skipped, 3);
}

TEST_F(Faults, AClockThatIsSetMovesNothingButTheStamps) {
  const auto adaptive = [](const std::string& device, const std::string& out) {
    return std::vector<std::string>{"sonde-copy", "--device", device,          "--out",
                                    out,          "--bytes",  "1KiB:16MiB:2x", "--no-progress"};
  };
  const std::string device = std::string(test::kChip) + "?fault=clock";
  ASSERT_EQ(run(adaptive(device, "set")).exit_code, 0);
  ASSERT_EQ(run(adaptive(test::kChip, "steady")).exit_code, 0);
  const Schema& schema = copy_schema();
  const Table set = read_table(directory_ / "set/copy.csv", schema);
  const Table steady = read_table(directory_ / "steady/copy.csv", schema);
  ASSERT_EQ(set.rows.size(), steady.rows.size());
  int ahead = 0, back = 0;
  for (std::size_t i = 0; i < set.rows.size(); ++i) {
    EXPECT_EQ(set.rows[i].number(schema, "elapsed_s"), steady.rows[i].number(schema, "elapsed_s"));
    EXPECT_EQ(set.rows[i].status(), Status::ok);
    ahead += *set.rows[i].start_s() > *steady.rows[i].start_s();
    back += i > 0 && *set.rows[i].start_s() < *set.rows[i - 1].start_s();
  }
  EXPECT_GT(ahead, 0);
  EXPECT_EQ(back, 1);
  const std::string text = read_text(directory_ / "set/copy.csv");
  for (const std::size_t kept : {text.size() / 4, text.size() / 2, text.size() - 1}) {
    test::write_text(directory_ / "set/copy.csv", text.substr(0, kept));
    EXPECT_EQ(run(adaptive(device, "set")).exit_code, 0);
    EXPECT_EQ(read_text(directory_ / "set/copy.csv"), text) << kept;
  }
}

TEST_F(Faults, AHangingStepIsEndedAtItsLimitAndTheOthersRun) {
  const std::string device = std::string(test::kChip) + "?fault=hang";
  const std::vector<std::string> command = {"sonde", "campaign",      "--device", device,
                                            "--out", "run",           "--quick",  "--step-limit",
                                            "0.5",   "--repetitions", "1",        "--no-progress"};
  const Result result = run(command);
  EXPECT_EQ(result.exit_code, 1) << result.err;
  for (const char* probe : {"chase", "profile", "interfere", "stream", "copy", "gemm"}) {
    EXPECT_TRUE(holds(result.err, std::string("sonde-") + probe + ": ended after its time limit"))
        << result.err;
  }
  EXPECT_TRUE(fs::exists(directory_ / "run/report/index.html"));
  const auto manifest = nlohmann::json::parse(read_text(directory_ / "run/manifest.json"));
  for (const auto& step : manifest.at("steps")) {
    // On a busy machine a step may not have come to its hang yet: asked to end, it ends in order.
    const bool in_order = step.at("state") == "interrupted" && step.at("reason") == "signal 15";
    EXPECT_TRUE(in_order || step.at("state") == "running") << step;
  }
  refused({"sonde", "campaign", "--step-limit", "0"}, 2, {"--step-limit", "0"});
}

TEST_F(Faults, AChildThatCrashesExitsOddlyOrTearsItsFileCostsItsStepOnly) {
  const test::SmallCampaign campaign(directory_.path());
  const fs::path bin = copied_programs();
  const std::string real = test::program("sonde-copy").string();
  struct Case {
    const char* name;
    std::string script;
    int code;
    const char* said;
  };
  const Case cases[] = {
      {"crash", "kill -SEGV $$\n", 1, "sonde-copy: killed by signal 11"},
      {"three", "exit 3\n", 3, "sonde-copy: exit 3"},
      {"odd", "exit 99\n", 70, "sonde-copy: exit 99"},
      {"half a row", "\"" + real + "\" \"$@\"; truncate -s -9 run/copy.csv; kill -KILL $$\n", 1,
       "sonde-copy: killed by signal 9"},
      {"garbage", "\"" + real + "\" \"$@\"; printf 'garb\\000age' >>run/copy.csv; exit 70\n", 70,
       "sonde-copy: exit 70"}};
  for (const Case& one : cases) {
    const fs::path folder = directory_ / one.name;
    fs::create_directories(folder);
    replace(bin / "sonde-copy", one.script);
    std::vector<std::string> command = campaign.command("run");
    command[0] = (bin / "sonde").string();
    const Result result = test::run(folder, command, campaign.environment());
    EXPECT_EQ(result.exit_code, one.code) << one.name << result.err;
    EXPECT_TRUE(holds(result.err, one.said)) << one.name << result.err;
    EXPECT_EQ(campaign.check_stored(folder / "run"), "") << one.name;
    EXPECT_TRUE(fs::exists(folder / "run/report/index.html")) << one.name;
    EXPECT_EQ(test::finish(campaign, folder / "run"), "") << one.name;
  }
}

TEST_F(Faults, TheSecondOfTwoInOneFolderIsRefusedUntilTheFirstIsGone) {
  const test::SmallCampaign campaign(directory_.path());
  const fs::path a = directory_ / "a", b = directory_ / "b";
  fs::create_directories(a);
  fs::create_directories(b);
  const fs::path run = a / "run";
  // A campaign that hangs holds its folder until it is killed.
  const std::string hanging = std::string(test::kChip) + "?fault=hang";
  const pid_t first =
      test::start(a, {"sonde", "campaign", "--device", hanging, "--out", run.string(),
                      "--no-progress", "--repetitions", "1", "--quick"});
  for (int i = 0; i < 12'000 && !fs::exists(run / "chase.csv"); ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  for (std::vector<std::string> command :
       {std::vector<std::string>{"sonde", "campaign"}, std::vector<std::string>{"sonde-chase"}}) {
    command.insert(command.end(), {"--device", hanging, "--out", run.string()});
    const Result second = test::run(b, command);
    EXPECT_EQ(second.exit_code, 2) << second.err;
    EXPECT_TRUE(holds(second.err, "is in use by another run")) << second.err;
    EXPECT_EQ(test::count_lines(second.err), 1U) << second.err;
  }
  ::kill(first, SIGKILL);
  EXPECT_EQ(test::wait_for(a, first).signal, SIGKILL);
  // A lock file that a killed run left blocks nobody.
  EXPECT_TRUE(fs::exists(run / ".campaign.lock"));
  const Result after =
      test::run(b, {"sonde", "campaign", "--device", hanging, "--out", run.string(), "--step-limit",
                    "0.2", "--no-progress", "--repetitions", "1", "--quick"});
  EXPECT_EQ(after.exit_code, 1) << after.err;
}

TEST_F(Faults, TwoOfOneSecondWithoutOutGetFoldersOfTheirOwn) {
  const Result result = run({"/bin/sh", "-c",
                             "for i in 1 2 3 4; do \"$0\" --device sim:950pr_9579 --bytes 64 "
                             "--repetitions 1 --no-progress & done; wait",
                             test::program("sonde-copy").string()});
  EXPECT_EQ(result.err, "");
  EXPECT_EQ(test::count_lines(result.out), 4U) << result.out;
  std::size_t folders = 0;
  for (const auto& entry : fs::directory_iterator(directory_.path())) {
    if (!entry.is_directory()) continue;
    ++folders;
    EXPECT_EQ(test::count_lines(read_text(entry.path() / "copy.csv")), 2U);
  }
  EXPECT_EQ(folders, 4U);
}

TEST_F(Faults, AFolderThatVanishesOrIsReplacedIsNoticed) {
  const auto begin = [&] {
    const pid_t child =
        test::start(directory_.path(), {"sonde-profile", "--device", test::kChip, "--out", "run",
                                        "--repetitions", "1000", "--no-progress"});
    for (int i = 0; i < 12'000 && !fs::exists(directory_ / "run/profile.csv"); ++i) {
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
    return child;
  };
  pid_t child = begin();
  remove_while_written(directory_ / "run");
  const Result vanished = test::wait_for(directory_.path(), child);
  EXPECT_EQ(vanished.exit_code, 4) << vanished.err;
  EXPECT_TRUE(holds(vanished.err, "was removed")) << vanished.err;
  EXPECT_FALSE(fs::exists(directory_ / "run"));

  child = begin();
  fs::rename(directory_ / "run", directory_ / "moved");
  ASSERT_EQ(run({"sonde-copy", "--device", test::kChip, "--out", "run", "--bytes", "64",
                 "--repetitions", "1", "--no-progress"})
                .exit_code,
            0);
  ::kill(child, SIGTERM);
  const Result replaced = test::wait_for(directory_.path(), child);
  EXPECT_EQ(replaced.exit_code, 4) << replaced.err;
  EXPECT_TRUE(holds(replaced.err, "removed or replaced")) << replaced.err;
  // The other run's manifest is its own.
  const auto steps = nlohmann::json::parse(read_text(directory_ / "run/manifest.json")).at("steps");
  EXPECT_EQ(steps.size(), 1U);
  EXPECT_GT(read_table(directory_ / "moved/profile.csv", profile_schema()).rows.size(), 10U);
}

TEST_F(Faults, ACampaignWhoseFolderVanishesEndsAndMakesNoOther) {
  const pid_t child =
      test::start(directory_.path(), {"sonde", "campaign", "--device", test::kChip, "--out", "run",
                                      "--repetitions", "1000", "--no-progress"});
  for (int i = 0; i < 12'000 && !fs::exists(directory_ / "run/chase.csv"); ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  remove_while_written(directory_ / "run");
  const Result result = test::wait_for(directory_.path(), child);
  EXPECT_EQ(result.exit_code, 4) << result.err;
  EXPECT_TRUE(holds(result.err, "run: was removed or replaced")) << result.err;
  EXPECT_FALSE(fs::exists(directory_ / "run"));
}

TEST_F(Faults, WhatAKilledWriterLeftGoesWithTheNextWrite) {
  const auto command = copy(test::kChip, "run");
  ASSERT_EQ(run(command).exit_code, 0);
  const std::string rows = read_text(directory_ / "run/copy.csv");
  test::write_text(directory_ / "run/copy.csv", rows.substr(0, rows.size() / 2));
  // Of a process that is gone, and of one whose number is in use again.
  test::write_text(directory_ / "run/manifest.json.tmp999999", "{");
  test::write_text(directory_ / "run/manifest.json.tmp1", "{");
  ASSERT_EQ(run(command).exit_code, 0);
  EXPECT_EQ(read_text(directory_ / "run/copy.csv"), rows);
  EXPECT_TRUE(test::leftovers(directory_ / "run").empty());
}

TEST_F(Faults, AReportThatIsStoppedLeavesNoDraftAndNoGnuplot) {
  const test::SmallCampaign campaign(directory_.path());
  const fs::path run = directory_ / "undisturbed/run";
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) {
    const test::Stopped stopped = test::stop_report(directory_.path(), run, signal, 0.15);
    EXPECT_EQ(stopped.problem, "") << signal;
  }
}

TEST_F(Faults, StreamsThatAreClosedAreNotTakenForFiles) {
  const std::string probe = test::program("sonde-copy").string();
  const std::string flags = " --device sim:950pr_9579 --bytes 64,128 --repetitions 2 --out ";
  const auto shell = [&](const std::string& line) {
    return run({"/bin/sh", "-c", "\"$0\"" + flags + line, probe});
  };
  ASSERT_EQ(shell("whole").exit_code, 0);
  const std::string rows = read_text(directory_ / "whole/copy.csv");
  // What would have been printed must not get into the files that take the numbers' places.
  const Result out = shell("out >&-");
  EXPECT_EQ(out.exit_code, 4) << out.err;
  EXPECT_TRUE(holds(out.err, "standard output: cannot be written")) << out.err;
  EXPECT_EQ(shell("err 2>&-").exit_code, 0);
  EXPECT_EQ(shell("all <&- >&- 2>&-").exit_code, 4);
  for (const char* name : {"out", "err", "all"}) {
    EXPECT_EQ(read_text(directory_ / name / "copy.csv"), rows) << name;
    EXPECT_EQ(read_text(directory_ / name / ".lock"), "") << name;
    EXPECT_EQ(nlohmann::json::parse(read_text(directory_ / name / "manifest.json"))
                  .at("steps")
                  .at(0)
                  .at("state"),
              "complete")
        << name;
  }
  const std::string front = test::program("sonde").string();
  const Result full = run({"/bin/sh", "-c", "\"$0\" devices >/dev/full", front});
  EXPECT_EQ(full.exit_code, 4) << full.err;
  const Result pipe = run({"/bin/sh", "-c", "(\"$0\" devices; echo $? >code) | head -c 0", front});
  EXPECT_EQ(pipe.err, "");
}

}  // namespace
}  // namespace sonde
