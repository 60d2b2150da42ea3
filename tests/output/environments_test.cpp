// The programs where something usual is missing or unusual: CPUs, pinning, /proc, /sys, limits,
// locale, environment, rights, gnuplot.
#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "core/csv_reader.h"
#include "tests/output/commands.h"
#include "tests/support/disturb.h"
#include "tests/support/sanitized.h"

namespace sonde {
namespace {

using test::read_text;
using test::Result;
namespace fs = std::filesystem;

constexpr const char* kProbes[] = {"chase",  "profile", "interfere", "handoff",
                                   "stream", "copy",    "gemm"};

bool holds(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

class Environments : public test::CommandLine {
 protected:
  /// A line for sh; $B is the folder of the programs.
  Result shell(const std::string& line, std::vector<std::string> more = {}) {
    more.push_back(std::string("B=") + SONDE_BIN_DIR);
    // The search for leaks needs rights and a thread; a preloaded library comes before the runtime.
    more.push_back("ASAN_OPTIONS=verify_asan_link_order=0:detect_leaks=0");
    return run({"/bin/sh", "-c", line}, {more});
  }
  /// The line inside mounts of its own; `prepare` changes them. Only root may.
  Result shell_in_mounts(const std::string& prepare, const std::string& line,
                         std::vector<std::string> more = {}) {
    test::write_text(directory_ / "script", prepare + "\n" + line + "\n");
    return shell("exec unshare -m sh -e ./script", std::move(more));
  }
  bool may_mount() { return shell("unshare -m mount -t tmpfs none /mnt").exit_code == 0; }
  /// A probe of this machine with few and short points.
  static std::string short_run(const std::string& probe) {
    const std::string common =
        "\"$B/sonde-" + probe + "\" --repetitions 1 --no-progress --out " + probe + " ";
    if (probe == "chase") return common + "--footprint 4KiB";
    if (probe == "profile") return common + "--bytes 64KiB --addresses 16";
    if (probe == "stream") return common + "--bytes 64KiB --kind read";
    if (probe == "copy") return common + "--bytes 4KiB";
    if (probe == "gemm") return common + "--shape 16x16x16";
    return common + "--quick --budget 0.2";
  }
  Table rows(const std::string& probe) {
    const auto schema = std::find_if(all_schemas().begin(), all_schemas().end(),
                                     [&](const Schema* one) { return one->probe == probe; });
    return read_table(directory_ / probe / (probe + ".csv"), **schema);
  }
};

TEST_F(Environments, OneAllowedCpuThatIsNotTheFirst) {
  cpu_set_t allowed;
  ASSERT_EQ(sched_getaffinity(0, sizeof allowed, &allowed), 0);
  int last = CPU_SETSIZE - 1;
  while (last > 0 && !CPU_ISSET(static_cast<std::size_t>(last), &allowed)) --last;
  if (last == 0) GTEST_SKIP() << "only CPU 0 is allowed";
  const std::string cpu = std::to_string(last);
  const std::string pinned = "taskset -c " + cpu + " ";
  const Result devices = shell(pinned + "\"$B/sonde\" devices --json");
  for (const auto& entry : nlohmann::json::parse(devices.out)) {
    if (entry.at("name") != "host") continue;
    EXPECT_EQ(entry["device"]["cores"]["cpu"], nlohmann::json::array({last}));
    EXPECT_EQ(entry["device"]["conditions"]["allowed_cpus"], cpu);
  }
  EXPECT_TRUE(holds(shell(pinned + "\"$B/sonde\" doctor").out, "only " + cpu + ": no hand-off"));
  for (const std::string probe : kProbes) {
    const Result plan = shell(pinned + "\"$B/sonde-" + probe + "\" --dry-run");
    const bool needs_two = probe == "handoff" || probe == "interfere";
    EXPECT_EQ(plan.exit_code, 0) << probe << plan.err;
    if (needs_two) continue;
    const Result result = shell(pinned + short_run(probe));
    EXPECT_EQ(result.exit_code, 0) << probe << result.err;
    for (const Row& row : rows(probe).rows.whole()) {
      EXPECT_EQ(row.status, Status::ok) << probe << ": " << row.reason;
    }
    EXPECT_TRUE(holds(read_text(directory_ / probe / (probe + ".csv")), "cpu" + cpu)) << probe;
  }
}

TEST_F(Environments, PinningThatFailsOrIsIgnoredGivesNoNumber) {
  for (const std::string error : {"EPERM", "ignored"}) {
    std::vector<std::string> entries = test::preload();
    entries.insert(entries.end(), {"SONDE_TEST_CALL=sched_setaffinity", "SONDE_TEST_AT=1",
                                   "SONDE_TEST_COUNT=0", "SONDE_TEST_ERROR=" + error});
    for (const std::string probe : kProbes) {
      fs::remove_all(directory_ / probe);
      const Result result = shell(short_run(probe), entries);
      const Table table = rows(probe);
      EXPECT_FALSE(table.rows.empty()) << probe;
      std::size_t failed = 0;
      for (const Row& row : table.rows.whole()) {
        EXPECT_TRUE(row.status == Status::failed || row.status == Status::skipped) << probe;
        if (row.status != Status::failed) continue;
        ++failed;
        EXPECT_TRUE(holds(row.reason, "cannot be pinned to cpu")) << probe << row.reason;
      }
      EXPECT_EQ(result.exit_code, failed > 0 ? 1 : 0) << probe << result.err;
    }
    EXPECT_GT(rows("chase").rows.size(), 0U);
    EXPECT_EQ(rows("chase").rows[0].status(), Status::failed);
  }
}

TEST_F(Environments, ThousandsOfCpusArePlannedInSeconds) {
  if (!may_mount()) GTEST_SKIP() << "no right to mount";
  for (const int cpus : {1300, 4096}) {
    test::write_text(directory_ / "online", "0-" + std::to_string(cpus - 1) + "\n");
    std::vector<std::string> entries = test::preload();
    entries.push_back("SONDE_TEST_CPUS=" + std::to_string(cpus));
    const std::string limit = test::kSanitized ? "" : "ulimit -v 4000000; ";
    const std::string mount =
        "mount -t tmpfs none /sys/fs/cgroup; mount --bind online /sys/devices/system/cpu/online";
    const Result devices = shell_in_mounts(mount, "\"$B/sonde\" devices --json", entries);
    ASSERT_EQ(devices.exit_code, 0) << devices.err;
    EXPECT_TRUE(holds(devices.out, "\"allowed_cpus\": \"0-" + std::to_string(cpus - 1) + "\""));
    EXPECT_EQ(shell_in_mounts(mount, "\"$B/sonde\" doctor", entries).err, "");
    for (const std::string probe : kProbes) {
      if (cpus == 1300 && probe != "chase") continue;
      const Result plan = shell_in_mounts(
          mount, limit + "\"$B/sonde-" + probe + "\" --dry-run --quick >plan", entries);
      EXPECT_EQ(plan.exit_code, 0) << probe << plan.err;
      EXPECT_TRUE(holds(read_text(directory_ / "plan"), " points to measure")) << probe;
    }
  }
}

TEST_F(Environments, WithoutHugePages) {
  if (!may_mount()) GTEST_SKIP() << "no right to mount";
  test::write_text(directory_ / "enabled", "always madvise [never]\n");
  const std::string never = "mount --bind enabled /sys/kernel/mm/transparent_hugepage/enabled";
  const Result copy = shell_in_mounts(
      never, "\"$B/sonde-copy\" --bytes 8MiB --repetitions 1 --no-progress --out copy");
  EXPECT_EQ(copy.exit_code, 0) << copy.err;
  const auto manifest = nlohmann::json::parse(read_text(directory_ / "copy/manifest.json"));
  EXPECT_EQ(manifest["device"]["conditions"]["huge_pages"], "never");
  const std::string stored = read_text(directory_ / "copy/copy.csv");
  EXPECT_TRUE(holds(stored, " KiB pages")) << stored;
  EXPECT_FALSE(holds(stored, "THP")) << stored;
  EXPECT_TRUE(holds(shell_in_mounts(never, "\"$B/sonde\" doctor || true").out,
                    "never: large footprints also measure address translation"));
}

TEST_F(Environments, WithoutProcOrSys) {
  if (!may_mount()) GTEST_SKIP() << "no right to mount";
  for (const std::string folder : {"/proc", "/sys"}) {
    if (folder == "/proc" && test::kSanitized) continue;  // their runtime reads it
    const std::string hide = "mount -t tmpfs none " + folder;
    fs::remove_all(directory_ / "chase");
    const Result chase = shell_in_mounts(hide, short_run("chase"));
    EXPECT_EQ(chase.exit_code, 0) << folder << chase.err;
    EXPECT_EQ(rows("chase").rows.at(0).status(), Status::ok) << folder;
    EXPECT_EQ(shell_in_mounts(hide, "\"$B/sonde\" devices").err, "") << folder;
    EXPECT_EQ(shell_in_mounts(hide, "\"$B/sonde\" doctor || test $? = 1").exit_code, 0) << folder;
    const Result front = shell_in_mounts(
        hide, "\"$B/sonde\" copy --device sim:950pr_9579 --bytes 64 --csv - --repetitions 1");
    EXPECT_EQ(front.exit_code, 0) << folder << front.err;
  }
}

TEST_F(Environments, AnEmptyEnvironment) {
  EXPECT_EQ(shell("env -i \"$B/sonde\" devices").exit_code, 0);
  const Result doctor = shell("env -i \"$B/sonde\" doctor");
  EXPECT_EQ(doctor.exit_code, 1);
  EXPECT_TRUE(holds(doctor.out, "a report has no pictures")) << doctor.out;
  EXPECT_EQ(shell("env -i " + short_run("copy")).exit_code, 0);
  const Result report = shell("env -i \"$B/sonde\" report --run copy");
  EXPECT_EQ(report.exit_code, 4);
  EXPECT_TRUE(holds(report.err, "gnuplot is not on PATH")) << report.err;
  EXPECT_EQ(test::count_lines(report.err), 1U);
  EXPECT_TRUE(fs::exists(directory_ / "copy/report/findings.csv"));
  EXPECT_TRUE(fs::exists(directory_ / "copy/report/index.html"));
  // Only what a program needs for its scratch files notices that there is no place for them.
  EXPECT_EQ(shell("HOME= TMPDIR=/nowhere \"$B/sonde\" report --run copy").exit_code, 0);
  const Result check =
      shell("TMPDIR=/nowhere \"$B/sonde\" check-model --device sim:950pr_9579 --no-progress");
  EXPECT_EQ(check.exit_code, 4) << check.err;
  EXPECT_TRUE(holds(check.err, "/nowhere")) << check.err;
}

TEST_F(Environments, AUserWithoutRightsAndAnInstallThatIsReadOnly) {
  if (::getuid() != 0) GTEST_SKIP() << "only root can become another user";
  const std::string nobody = "setpriv --reuid=65534 --regid=65534 --clear-groups ";
  fs::create_directory(directory_ / "own");
  ASSERT_EQ(shell("chmod 755 .; chown 65534:65534 own").exit_code, 0);
  if (shell(nobody + "\"$B/sonde\" --version").exit_code != 0) {
    GTEST_SKIP() << "the programs lie where another user may not look";
  }
  const std::string copy =
      "\"$B/sonde\" copy --device sim:950pr_9579 --bytes 64,1MiB "
      "--repetitions 2 --no-progress --out ";
  const Result own = shell("cd own; " + nobody + copy + "run");
  EXPECT_EQ(own.exit_code, 0) << own.err;
  EXPECT_EQ(shell("cd own; " + nobody + "\"$B/sonde\" doctor").err, "");
  EXPECT_EQ(shell("cd own; " + nobody + short_run("chase")).exit_code, 0);
  // A folder of somebody else: not created, not resumed, not reported into; reported from.
  const Result refused_new = shell(nobody + copy + "elsewhere");
  EXPECT_EQ(refused_new.exit_code, 4);
  EXPECT_TRUE(holds(refused_new.err, "elsewhere: cannot be created")) << refused_new.err;
  ASSERT_EQ(shell(copy + "roots; chmod -R a+rX,go-w roots").exit_code, 0);
  const Result resumed = shell(nobody + copy + "roots");
  EXPECT_EQ(resumed.exit_code, 4);
  EXPECT_TRUE(holds(resumed.err, "roots/.lock: cannot be written")) << resumed.err;
  const Result campaign =
      shell(nobody + "\"$B/sonde\" campaign --device sim:950pr_9579 --out roots");
  EXPECT_EQ(campaign.exit_code, 4);
  EXPECT_EQ(test::count_lines(campaign.err), 1U) << campaign.err;
  const Result inside = shell(nobody + "\"$B/sonde\" report --run roots");
  EXPECT_EQ(inside.exit_code, 4);
  EXPECT_TRUE(holds(inside.err, "roots/report: cannot be created")) << inside.err;
  EXPECT_EQ(shell(nobody + "\"$B/sonde\" report --run roots --out own/report").exit_code, 0);
  EXPECT_EQ(shell(nobody + "\"$B/sonde\" compare roots own/run").exit_code, 0);
  // A file that may not be read is named.
  const Result unreadable =
      shell("chmod 600 roots/copy.csv; " + nobody + "\"$B/sonde\" report --run roots --out own/r2");
  EXPECT_EQ(unreadable.exit_code, 2);
  EXPECT_TRUE(holds(unreadable.err, "copy.csv: cannot be read: Permission denied"))
      << unreadable.err;
}

TEST_F(Environments, FewDescriptorsLittleMemoryAndNoFurtherProcess) {
  const test::SmallCampaign campaign(directory_.path());
  // Below what it needs a program says what it could not get; never a crash, never exit 0.
  const auto limited = [&](const std::string& limit, const std::string& user) {
    fs::remove_all(directory_ / "run");
    std::string line = "ulimit " + limit + "; exec";
    for (const std::string& word : campaign.command("run")) line += " '" + word + "'";
    line.replace(line.find("'sonde'"), 7, "\"$B/sonde\"");
    test::write_text(directory_ / "script", line + "\n");
    Result result = run(
        {"/bin/sh", "-c", user + "bash ./script"},
        campaign.environment({std::string("B=") + SONDE_BIN_DIR, "ASAN_OPTIONS=detect_leaks=0"}));
    EXPECT_EQ(result.exit_code == 0, result.err.empty()) << limit << result.err;
    EXPECT_EQ(result.signal, 0) << limit;
    EXPECT_FALSE(holds(result.err, "terminate")) << limit << result.err;
    if (result.exit_code != 0 && fs::exists(directory_ / "run")) {
      EXPECT_EQ(campaign.check_stored(directory_ / "run"), "") << limit;
    }
    return result;
  };
  if (!test::kSanitized) {  // they map terabytes, and look at memory through pipes
    // How many are open already is the business of who starts it.
    std::string said;
    for (const char* files : {"-n 5", "-n 6", "-n 7", "-n 8", "-n 9"}) {
      said += limited(files, "").err;
    }
    EXPECT_TRUE(holds(said, ": Too many open files")) << said;
    const Result memory = limited("-v 60000", "");
    EXPECT_TRUE(holds(memory.err, "out of memory")) << memory.err;
    EXPECT_EQ(limited("-v 400000", "").exit_code, 0);
  }
  EXPECT_EQ(limited("-n 24", "").exit_code, 0);
  fs::remove_all(directory_ / "run");
  if (::getuid() != 0) return;
  shell("chmod 777 .");
  const Result alone = limited("-u 1", "setpriv --reuid=65533 --regid=65533 --clear-groups ");
  EXPECT_TRUE(holds(alone.err, "sonde-chase: cannot be started: Resource temporarily"))
      << alone.err;
  EXPECT_EQ(alone.exit_code, 4);
}

TEST_F(Environments, LimitsOfARealControlGroup) {
  // Version 1, where its folders may be made; version 2 is read from files in unit tests.
  const std::string group = "sonde-test-" + std::to_string(::getpid());
  const std::string memory = "/sys/fs/cgroup/memory/" + group, cpu = "/sys/fs/cgroup/cpu/" + group;
  const std::string make = "mkdir " + memory + " " + cpu + " && echo 536870912 >" + memory +
                           "/memory.limit_in_bytes && echo 100000 >" + cpu +
                           "/cpu.cfs_period_us && echo 50000 >" + cpu + "/cpu.cfs_quota_us";
  const bool made = shell(make).exit_code == 0;
  if (made) {
    const std::string enter =
        "echo $$ >" + memory + "/cgroup.procs; echo $$ >" + cpu + "/cgroup.procs; ";
    const Result devices = shell(enter + "\"$B/sonde\" devices --json");
    EXPECT_TRUE(holds(devices.out, "\"cgroup_cpu_quota\": \"0.5 CPUs\""))
        << devices.out.substr(0, 9);
    EXPECT_TRUE(holds(devices.out, "\"cgroup_memory_limit\": \"536,870,912 B\""));
    const Result doctor = shell(enter + "\"$B/sonde\" doctor");
    EXPECT_TRUE(holds(doctor.out, "0.5 CPUs of time")) << doctor.out;
    EXPECT_TRUE(holds(doctor.out, "512 MiB")) << doctor.out;
    const Result plan = shell(enter + "\"$B/sonde\" copy --dry-run");
    EXPECT_TRUE(holds(plan.out, "two buffers of 256 MiB are beyond the ")) << plan.out;
    const Result probe = shell(enter + short_run("chase"));
    EXPECT_EQ(probe.exit_code, 0) << probe.err;
    const auto manifest = nlohmann::json::parse(read_text(directory_ / "chase/manifest.json"));
    EXPECT_EQ(manifest["device"]["conditions"]["cgroup_cpu_quota"], "0.5 CPUs");
  }
  shell("rmdir " + memory + " " + cpu);
  if (!made) GTEST_SKIP() << "no control group can be made";
}

TEST_F(Environments, ACommaLocaleInsideAndOutside) {
  if (shell("localedef -i de_DE -f UTF-8 ./de_DE.UTF-8 2>/dev/null || test -d de_DE.UTF-8")
          .exit_code != 0) {
    GTEST_SKIP() << "no German locale can be made here";
  }
  const test::SmallCampaign campaign(directory_.path());
  const fs::path run_german = directory_ / "german/run";
  fs::create_directories(run_german.parent_path());
  const Result result =
      run(campaign.command(run_german),
          campaign.environment({"LOCPATH=" + directory_.path().string(), "LC_ALL=de_DE.UTF-8",
                                "LANG=de_DE.UTF-8", "LC_NUMERIC=de_DE.UTF-8"}));
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_EQ(campaign.check_complete(run_german), "");
  // gnuplot itself, the real one, reads the same script under it.
  const Result report =
      shell("LOCPATH=$PWD LC_ALL=de_DE.UTF-8 \"$B/sonde\" report --run german/run");
  EXPECT_EQ(report.exit_code, 0) << report.err;
  EXPECT_EQ(report.err, "");
}

}  // namespace
}  // namespace sonde
