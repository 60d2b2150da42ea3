#include "harness/child.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <optional>
#include <thread>

#include "core/process.h"
#include "core/signals.h"

namespace sonde {

ChildResult run_child(const std::filesystem::path& program,
                      const std::vector<std::string>& arguments, double limit_s, bool silent) {
  const int nowhere = silent ? ::open("/dev/null", O_WRONLY | O_CLOEXEC) : -1;
  pid_t child = -1;
  try {
    child = spawn({program, arguments, {}}, std::nullopt,
                  nowhere >= 0 ? std::optional<int>(nowhere) : std::nullopt);
  } catch (...) {
    if (nowhere >= 0) ::close(nowhere);
    throw;
  }
  if (nowhere >= 0) ::close(nowhere);
  using Clock = std::chrono::steady_clock;
  const auto limit = Clock::now() + std::chrono::duration<double>(limit_s);
  std::optional<Clock::time_point> kill_at;
  ChildResult result;
  while (true) {
    int status = 0;
    const pid_t ended = ::waitpid(child, &status, WNOHANG);
    if (ended == child) {
      if (WIFEXITED(status)) result.exit_code = WEXITSTATUS(status);
      if (WIFSIGNALED(status)) result.signal = WTERMSIG(status);
      return result;
    }
    const auto now = Clock::now();
    if (caught_signal() != 0 && !result.interrupted) {
      result.interrupted = true;
      ::kill(-child, caught_signal());
      kill_at = now + std::chrono::seconds(10);
    }
    if (!kill_at && now > limit) {
      result.timed_out = true;
      ::kill(-child, SIGTERM);
      const std::chrono::duration<double> grace(std::min(5.0, limit_s));
      kill_at = now + std::chrono::duration_cast<Clock::duration>(grace);
    }
    if (kill_at && now > *kill_at) ::kill(-child, SIGKILL);
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
}

}  // namespace sonde
