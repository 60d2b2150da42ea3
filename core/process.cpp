#include "core/process.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <string_view>

#include "core/error.h"

namespace sonde {
namespace {

/// Only calls that are safe between fork and exec. Tells errno through `failure_fd` on failure.
[[noreturn]] void become(char* const* argv, char* const* environment, const char* directory,
                         int error_fd, int output_fd, pid_t parent, int failure_fd) {
  bool ready = ::setpgid(0, 0) == 0 && ::prctl(PR_SET_PDEATHSIG, SIGKILL) == 0 &&
               ::getppid() == parent;  // else the parent died before the line above
  if (ready && error_fd >= 0) {
    const int null_fd = ::open("/dev/null", O_RDWR);
    ready = null_fd >= 0 && ::dup2(null_fd, STDIN_FILENO) >= 0 &&
            ::dup2(null_fd, STDOUT_FILENO) >= 0 && ::dup2(error_fd, STDERR_FILENO) >= 0;
  }
  if (ready && output_fd >= 0) ready = ::dup2(output_fd, STDOUT_FILENO) >= 0;
  if (ready && *directory != '\0') ready = ::chdir(directory) == 0;
  if (ready) ::execve(argv[0], argv, environment);
  const int error = errno;
  [[maybe_unused]] const ssize_t told = ::write(failure_fd, &error, sizeof error);
  ::_exit(127);
}

}  // namespace

pid_t spawn(const Command& command, std::optional<int> error_fd, std::optional<int> output_fd) {
  const std::string program = command.program.string();
  const std::string directory = command.directory.string();
  std::vector<std::string> words = {program};
  words.insert(words.end(), command.arguments.begin(), command.arguments.end());
  std::vector<char*> argv;
  argv.reserve(words.size() + 1);
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  std::vector<std::string> given = command.environment;
  std::vector<char*> environment;
  for (char** old = environ; *old != nullptr; ++old) {
    const std::string_view entry = *old;
    const bool replaced = std::any_of(given.begin(), given.end(), [&](const std::string& one) {
      return entry.starts_with(one.substr(0, one.find('=') + 1));
    });
    if (!replaced) environment.push_back(*old);
  }
  for (std::string& entry : given) environment.push_back(entry.data());
  environment.push_back(nullptr);

  int failure[2];  // closed by a successful exec, else holds the errno
  if (::pipe2(failure, O_CLOEXEC) != 0) {
    throw OutputError(program + ": cannot be started: " + std::strerror(errno));
  }
  const pid_t parent = ::getpid();
  const pid_t child = ::fork();
  if (child == 0) {
    become(argv.data(), environment.data(), directory.c_str(), error_fd.value_or(-1),
           output_fd.value_or(-1), parent, failure[1]);
  }
  int error = child < 0 ? errno : 0;
  ::close(failure[1]);
  if (child > 0) {
    ::setpgid(child, child);  // in both processes: whichever comes first
    ssize_t count = 0;
    do {
      count = ::read(failure[0], &error, sizeof error);
    } while (count < 0 && errno == EINTR);
    if (count != static_cast<ssize_t>(sizeof error)) error = 0;
    if (error != 0) ::waitpid(child, nullptr, 0);
  }
  ::close(failure[0]);
  if (error != 0) throw OutputError(program + ": cannot be started: " + std::strerror(error));
  return child;
}

}  // namespace sonde
