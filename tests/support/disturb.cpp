#include "tests/support/disturb.h"

#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <thread>

namespace sonde::test {

namespace {

using Clock = std::chrono::steady_clock;

/// Names the processes of one campaign among all others.
std::string marker_of(const std::filesystem::path& run) {
  return "SONDE_TEST_MARK=" + std::to_string(::getpid()) + run.string();
}

/// Processes that outlive the front by more than the moment a kill needs.
std::size_t survivors(const std::string& marker) {
  const auto limit = Clock::now() + std::chrono::seconds(5);
  std::size_t left = processes_with(marker).size();
  while (left > 0 && Clock::now() < limit) {
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
    left = processes_with(marker).size();
  }
  return left;
}

/// False when there was nobody to strike.
bool deal(const Blow& blow, pid_t front, const std::string& marker, Rng& rng) {
  std::vector<pid_t> all = processes_with(marker);
  if (blow.target == Blow::Target::front) return ::kill(front, blow.signal) == 0 && !all.empty();
  if (blow.target == Blow::Target::child) {
    std::erase(all, front);
    if (all.empty()) return false;
    all = {all[rng.below(all.size())]};
  }
  for (const pid_t pid : all) ::kill(pid, blow.signal);
  return !all.empty();
}

/// Exit codes that fit what was done to it.
bool fits(const Blow& blow, bool in_time, const Result& result) {
  if (!in_time) return result.exit_code == 0;
  const bool finished = result.exit_code == 0;  // the blow came in its last moment
  if (blow.target == Blow::Target::child) {
    // The step that was struck failed or says that it was interrupted; the others went on. A
    // child of the report costs pictures.
    return finished || (result.exit_code >= 1 && result.exit_code <= 4 && result.exit_code != 2);
  }
  if (blow.signal == SIGKILL) return result.signal == SIGKILL || finished;
  // Before the front is ready for it a signal ends it as any program.
  return result.exit_code == 3 || result.signal == blow.signal || finished;
}

}  // namespace

const Blow kBlowKinds[kBlows] = {{"kill -9 all", SIGKILL, Blow::Target::all},
                                 {"kill -9 front", SIGKILL, Blow::Target::front},
                                 {"kill -9 child", SIGKILL, Blow::Target::child},
                                 {"INT front", SIGINT, Blow::Target::front},
                                 {"TERM front", SIGTERM, Blow::Target::front},
                                 {"HUP front", SIGHUP, Blow::Target::front},
                                 {"TERM child", SIGTERM, Blow::Target::child}};

Struck strike(const SmallCampaign& campaign, const std::filesystem::path& run, const Blow& blow,
              double seconds, Rng& rng) {
  const std::filesystem::path scratch = run.parent_path();
  std::filesystem::create_directories(scratch);
  const std::string marker = marker_of(run);
  ::signal(SIGINT,
           SIG_DFL);  // a background job of a shell has it ignored, and so have its children
  const pid_t front = start(scratch, campaign.command(run), campaign.environment({marker}));
  std::this_thread::sleep_for(std::chrono::duration<double>(seconds));
  Struck struck;
  struck.in_time = deal(blow, front, marker, rng);
  const Result result = wait_for(scratch, front);
  struck.exit_code = result.exit_code;
  const std::string said = result.err.empty() ? "" : ": " + result.err;
  if (!fits(blow, struck.in_time, result)) {
    struck.problem = "exit " + std::to_string(result.exit_code) + ", signal " +
                     std::to_string(result.signal) + said;
  } else if (const std::size_t left = survivors(marker); left > 0) {
    struck.problem = std::to_string(left) + " processes survived";
  } else if (result.exit_code == 3 && result.err.find("resumes") == std::string::npos &&
             result.err.find("exit 3") == std::string::npos) {
    struck.problem = "interrupted, and nobody says how to go on" + said;
  } else {
    struck.problem = campaign.check_stored(run);
  }
  return struck;
}

Stopped stop_report(const std::filesystem::path& scratch, const std::filesystem::path& run,
                    int signal, double seconds) {
  const std::string marker = marker_of(run);
  ::signal(SIGINT, SIG_DFL);
  // What a kill -9 left stays until the next report draws.
  const std::vector<std::string> before = leftovers(run);
  const pid_t report = start(scratch, {"sonde-report", "--run", run.string()}, {{marker}});
  std::this_thread::sleep_for(std::chrono::duration<double>(seconds));
  const auto sent = Clock::now();
  ::kill(report, signal);
  const Result result = wait_for(scratch, report);
  Stopped stopped;
  stopped.seconds = std::chrono::duration<double>(Clock::now() - sent).count();
  stopped.in_time = result.exit_code != 0;
  if (stopped.in_time && result.exit_code != 3 && result.signal != signal) {
    stopped.problem = "exit " + std::to_string(result.exit_code) + ": " + result.err;
  } else if (const std::size_t left = survivors(marker); left > 0) {
    stopped.problem = std::to_string(left) + " processes survived";
  } else if (signal != SIGKILL) {
    for (const std::string& name : leftovers(run)) {
      if (std::find(before.begin(), before.end(), name) == before.end()) {
        stopped.problem = name + " was left over";
      }
    }
  }
  return stopped;
}

const FailingCall kFailingCallKinds[kFailingCalls] = {
    {"write", "ENOSPC", 0, false}, {"write", "EDQUOT", 0, false}, {"write", "EIO", 1, false},
    {"write", "short", 1, true},   {"write", "short", 0, true},   {"write", "EINTR", 2, true},
    {"fsync", "EIO", 1, false},    {"fsync", "EINTR", 1, true},   {"open", "ENOSPC", 0, false},
    {"open", "EINTR", 1, true},    {"rename", "EIO", 1, false},   {"mkdir", "ENOSPC", 0, false}};

std::vector<std::string> preload() {
  // The runtime of the sanitizers wants to be first, and need not be.
  return {std::string("LD_PRELOAD=") + SONDE_FAILING_CALLS,
          "ASAN_OPTIONS=verify_asan_link_order=0:detect_leaks=0"};
}

Failed fail_call(const std::filesystem::path& scratch, const std::vector<std::string>& command,
                 Environment environment, const FailingCall& failing, int at,
                 const std::filesystem::path& folder) {
  const std::filesystem::path log = scratch / "struck";
  std::filesystem::remove(log);
  for (const std::string& entry : preload()) environment.entries.push_back(entry);
  for (const auto& [name, value] :
       std::map<std::string, std::string>{{"CALL", failing.call},
                                          {"AT", std::to_string(at)},
                                          {"COUNT", std::to_string(failing.count)},
                                          {"ERROR", failing.error},
                                          {"PATH", folder.string()},
                                          {"LOG", log.string()}}) {
    environment.entries.push_back("SONDE_TEST_" + name + "=" + value);
  }
  Failed failed;
  failed.result = test::run(scratch, command, environment);
  failed.struck = std::filesystem::exists(log);
  return failed;
}

std::string fail_and_finish(const SmallCampaign& campaign, const std::filesystem::path& run,
                            const FailingCall& failing, int at, bool& struck) {
  const std::filesystem::path scratch = run.parent_path();
  std::filesystem::create_directories(scratch);
  const Failed failed =
      fail_call(scratch, campaign.command(run), campaign.environment(), failing, at, run);
  struck = failed.struck;
  const Result& result = failed.result;
  const std::string said =
      "exit " + std::to_string(result.exit_code) + (result.err.empty() ? "" : ": " + result.err);
  if (!failed.struck || failing.harmless) {
    if (result.exit_code != 0) return "nothing to complain of, yet " + said;
    return campaign.check_complete(run);
  }
  if (result.exit_code != 4) return "not told as what cannot be written: " + said;
  bool named = false;  // a picture by its own name, all else by its path
  for (const std::string& part : {run.filename().string() + "/", run.filename().string() + ":",
                                  std::string(".svg: "), std::string(".png: ")}) {
    named = named || result.err.find(part) != std::string::npos;
  }
  if (!named) {
    return "no file is named: " + said;
  }
  if (std::string problem = campaign.check_stored(run); !problem.empty()) return problem;
  return finish(campaign, run);
}

std::string finish(const SmallCampaign& campaign, const std::filesystem::path& run) {
  const Result result = test::run(run.parent_path(), campaign.command(run), campaign.environment());
  if (result.exit_code != 0) {
    return "resume: exit " + std::to_string(result.exit_code) + ": " + result.err;
  }
  return campaign.check_complete(run);
}

}  // namespace sonde::test
