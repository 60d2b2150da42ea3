#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace sonde {

/// How a child program ended.
struct ChildResult {
  int exit_code = 0;  ///< valid when neither signal nor timed_out
  int signal = 0;     ///< it was killed by this signal
  bool timed_out = false;
  bool interrupted = false;  ///< we were asked to stop and passed the signal on
};

/// Runs a program of the suite with inherited standard output and error, in a process group of its
/// own. A caught signal is passed on; beyond `limit_s` it is ended (SIGTERM, then SIGKILL).
/// With `silent` its standard output is discarded.
/// The child also ends when this process dies. Throws OutputError when it cannot be started.
ChildResult run_child(const std::filesystem::path& program,
                      const std::vector<std::string>& arguments, double limit_s,
                      bool silent = false);

}  // namespace sonde
