#include "report/child.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <sstream>

#include "core/error.h"
#include "core/signals.h"

namespace sonde {
namespace {

using Clock = std::chrono::steady_clock;
constexpr std::size_t kMostErrorText = 16384;

struct Running {
  std::size_t index = 0;
  pid_t pid = -1;
  int error_fd = -1;
  Clock::time_point deadline;
};

Running start(const Command& command, std::size_t index, double seconds, PlotResult& result) {
  int error_pipe[2];
  if (::pipe2(error_pipe, O_CLOEXEC) != 0) {
    throw OutputError(std::string("pipe: ") + std::strerror(errno));
  }
  Running running{index, -1, error_pipe[0], Clock::now()};
  running.deadline +=
      std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(seconds));
  try {
    running.pid = spawn(command, error_pipe[1]);
    result.started = true;
  } catch (const OutputError& error) {
    result.problem = error.what();
  }
  ::close(error_pipe[1]);
  ::fcntl(running.error_fd, F_SETFL, O_NONBLOCK);
  return running;
}

void drain(int fd, std::string& text) {
  char buffer[4096];
  for (;;) {
    const ssize_t count = ::read(fd, buffer, sizeof buffer);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return;
    const std::size_t room = kMostErrorText - std::min(kMostErrorText, text.size());
    text.append(buffer, std::min(room, static_cast<std::size_t>(count)));
    if (room == 0) return;  // a child that never stops talking must not keep us here
  }
}

/// Kills a child and what it started, and waits for it.
int end(const Running& child) {
  int status = 0;
  ::kill(-child.pid, SIGKILL);
  while (::waitpid(child.pid, &status, 0) < 0 && errno == EINTR) {
  }
  return status;
}

}  // namespace

std::filesystem::path find_on_path(const std::string& name) {
  const char* path = std::getenv("PATH");
  std::istringstream parts(path != nullptr ? path : "");
  for (std::string part; std::getline(parts, part, ':');) {
    if (part.empty()) continue;
    std::error_code error;
    std::filesystem::path candidate =
        std::filesystem::absolute(std::filesystem::path(part) / name, error);
    if (!error && std::filesystem::is_regular_file(candidate, error) &&
        ::access(candidate.c_str(), X_OK) == 0) {
      return candidate;
    }
  }
  return {};
}

std::vector<PlotResult> run_children(const std::vector<Command>& commands, int parallel,
                                     double seconds) {
  // Decimal points in whatever the child reads and writes; plain C lacks signs that gnuplot wants.
  ::setenv("LC_ALL", "C.UTF-8", 1);
  std::vector<PlotResult> results(commands.size());
  std::vector<Running> running;
  std::size_t next = 0;
  while (next < commands.size() || !running.empty()) {
    if (caught_signal() != 0) {
      for (const Running& child : running) end(child);
      stop_if_interrupted();
    }
    while (next < commands.size() &&
           running.size() < static_cast<std::size_t>(std::max(1, parallel))) {
      Running child = start(commands[next], next, seconds, results[next]);
      ++next;
      if (child.pid > 0) {
        running.push_back(child);
      } else {
        ::close(child.error_fd);
      }
    }
    std::vector<pollfd> waits;
    waits.reserve(running.size());
    for (const Running& child : running) waits.push_back({child.error_fd, POLLIN, 0});
    ::poll(waits.data(), waits.size(), 5);
    for (auto child = running.begin(); child != running.end();) {
      PlotResult& result = results[child->index];
      drain(child->error_fd, result.error_text);
      int status = 0;
      const pid_t ended = ::waitpid(child->pid, &status, WNOHANG);
      if (ended == 0 && Clock::now() < child->deadline) {
        ++child;
        continue;
      }
      if (ended == 0) {
        result.timed_out = true;
        status = end(*child);
      }
      // What the child left running goes with it.
      ::kill(-child->pid, SIGKILL);
      drain(child->error_fd, result.error_text);
      ::close(child->error_fd);
      if (WIFEXITED(status)) result.exit_status = WEXITSTATUS(status);
      if (WIFSIGNALED(status)) result.signal = WTERMSIG(status);
      child = running.erase(child);
    }
    // A closed pipe makes poll return at once: do not spin while the child is still ending.
    const bool hung_up = std::any_of(waits.begin(), waits.end(), [](const pollfd& wait) {
      return (wait.revents & POLLHUP) != 0;
    });
    if (hung_up && !running.empty()) ::usleep(2000);
  }
  return results;
}

}  // namespace sonde
