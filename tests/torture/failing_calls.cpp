// A full or broken disk at every stage of a campaign: one system call fails, at ever later moments
// of each program, and a file system that is really full. What was stored stays, the exit code is
// 4 and a file is named, and the same command then ends with the same files.
#include <sys/mount.h>

#include <cerrno>
#include <cstdio>
#include <cstring>

#include "tests/support/disturb.h"

namespace {

using namespace sonde;

struct Table {
  int problems = 0;

  void row(const std::string& what, int tried, int struck) const {
    std::printf("%-22s %5d tried, %5d struck\n", what.c_str(), tried, struck);
  }
  void report(const std::string& what, const std::string& problem) {
    if (problem.empty()) return;
    ++problems;
    std::printf("BROKEN by %s: %s\n", what.c_str(), problem.c_str());
  }
};

void fail_calls(const test::SmallCampaign& campaign, const std::filesystem::path& scratch,
                Table& table) {
  for (const test::FailingCall& failing : test::kFailingCallKinds) {
    const std::string name = std::string(failing.call) + " " + failing.error +
                             (failing.count == 0 ? " from" : " once at");
    int tried = 0, hit = 0;
    // Each moment among the first, which open, create and rename; then ever larger steps through
    // the rows.
    for (int at = 1;; at += 1 + at / 3) {
      const std::filesystem::path run = scratch / "calls" / "run";
      bool struck = false;
      const std::string problem = test::fail_and_finish(campaign, run, failing, at, struck);
      table.report(name + " call " + std::to_string(at), problem);
      std::filesystem::remove_all(run.parent_path());
      if (!struck) break;
      ++tried;
      ++hit;
    }
    table.row(name, tried, hit);
  }
}

void fill_a_disk(const test::SmallCampaign& campaign, const std::filesystem::path& scratch,
                 Table& table) {
  const std::filesystem::path disk = scratch / "disk";
  std::filesystem::create_directories(disk);
  int tried = 0, struck = 0;
  for (int kib = 8; kib <= 8192; kib += 4 + kib / 3) {
    const std::string size = "size=" + std::to_string(kib) + "k";
    if (::mount("tmpfs", disk.c_str(), "tmpfs", 0, size.c_str()) != 0) {
      std::printf("no small file system: %s\n", std::strerror(errno));
      return;
    }
    const std::filesystem::path run = disk / "run";
    // What the programs print goes elsewhere.
    const test::Result result = test::run(scratch, campaign.command(run), campaign.environment());
    ++tried;
    std::string problem;
    if (result.exit_code == 4) {
      ++struck;
      problem = campaign.check_stored(run);
    } else if (result.exit_code != 0) {
      problem = "exit " + std::to_string(result.exit_code) + ": " + result.err;
    }
    if (problem.empty() && ::mount("", disk.c_str(), "", MS_REMOUNT, "size=64m") == 0) {
      const test::Result again = test::run(scratch, campaign.command(run), campaign.environment());
      problem = again.exit_code == 0 ? campaign.check_complete(run) : "resume: " + again.err;
    }
    table.report("a disk of " + std::to_string(kib) + " KiB", problem);
    ::umount2(disk.c_str(), MNT_DETACH);
  }
  table.row("full tmpfs", tried, struck);
}

}  // namespace

int main() {
  std::setvbuf(stdout, nullptr, _IOLBF, 0);
  const test::TemporaryDirectory scratch;
  const test::SmallCampaign campaign(scratch.path());
  Table table;
  fail_calls(campaign, scratch.path(), table);
  fill_a_disk(campaign, scratch.path(), table);
  std::printf("%d broken\n", table.problems);
  return table.problems == 0 ? 0 : 1;
}
