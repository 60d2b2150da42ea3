#pragma once

#include <string>

#include "core/rng.h"
#include "tests/support/campaigns.h"

namespace sonde::test {

/// What is sent to whom at a moment of a campaign.
struct Blow {
  const char* name;
  int signal;
  enum class Target { all, front, child } target;
};

/// kill -9 of all its processes, of the front only, of one child; Ctrl-C, TERM and HUP to the
/// front; TERM to a child.
inline constexpr int kBlows = 7;
extern const Blow kBlowKinds[kBlows];

/// Starts or resumes the campaign in `run`, strikes after `seconds`, waits for its end and checks
/// what must hold: the exit code, that no process is left, and what is stored. Empty when it holds.
struct Struck {
  std::string problem;
  bool in_time = false;  ///< it was still at work
  int exit_code = 0;     ///< of the front, -1 when the blow ended it
};
Struck strike(const SmallCampaign& campaign, const std::filesystem::path& run, const Blow& blow,
              double seconds, Rng& rng);

/// Sends `signal` to `sonde report` of `run` after `seconds`: it has to end with 3 at once (or be
/// killed), without a process or a draft left.
struct Stopped {
  std::string problem;
  bool in_time = false;  ///< it was still at work
  double seconds = 0;    ///< from the signal to its end
};
Stopped stop_report(const std::filesystem::path& scratch, const std::filesystem::path& run,
                    int signal, double seconds);

/// A system call of every program of a command that fails: see failing_calls.cpp.
struct FailingCall {
  const char* call;
  const char* error;
  int count;      ///< calls that fail; 0: all from then on
  bool harmless;  ///< the program has to cope with it and end as if nothing had been
};
inline constexpr int kFailingCalls = 12;
extern const FailingCall kFailingCallKinds[kFailingCalls];

/// What preloads failing_calls.cpp, with no call chosen.
std::vector<std::string> preload();

/// Runs the command with the `at`-th such call on files below `folder` failing. `struck`: at least
/// one did.
struct Failed {
  Result result;
  bool struck = false;
};
Failed fail_call(const std::filesystem::path& scratch, const std::vector<std::string>& command,
                 Environment environment, const FailingCall& failing, int at,
                 const std::filesystem::path& folder);

/// fail_call() on a campaign in `run`, the checks of what it left, then finish(). Empty when all
/// holds.
std::string fail_and_finish(const SmallCampaign& campaign, const std::filesystem::path& run,
                            const FailingCall& failing, int at, bool& struck);

/// The same command to its end, then check_complete().
std::string finish(const SmallCampaign& campaign, const std::filesystem::path& run);

}  // namespace sonde::test
