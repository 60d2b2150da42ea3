#pragma once

#include <stdexcept>
#include <string>

namespace sonde {

/// What a program returns to the shell. When several apply, `worse` names the one that is reported.
enum class ExitCode {
  ok = 0,            ///< every point ok or skipped
  point_failed = 1,  ///< some point failed
  usage = 2,         ///< usage, or input that cannot be read
  interrupted = 3,   ///< SIGINT, SIGTERM or SIGHUP; the same command resumes
  output = 4,        ///< output not writable, or a program it needs is missing or failed
  internal = 70,     ///< a defect in sonde
};

/// The more severe of two codes: the first of 70, 4, 3, 2, 1, 0.
constexpr ExitCode worse(ExitCode a, ExitCode b) {
  return static_cast<int>(a) > static_cast<int>(b) ? a : b;
}

/// Base of every error that ends a program with a stated exit code. what() is one clear line (or,
/// for a refused file, one line for each bad line) that names the thing and what was expected.
class Error : public std::runtime_error {
 public:
  Error(ExitCode code, const std::string& message) : std::runtime_error(message), code_(code) {}
  ExitCode code() const noexcept { return code_; }

 private:
  ExitCode code_;
};

/// Wrong command line, or input that cannot be read: exit 2.
class UsageError : public Error {
 public:
  explicit UsageError(const std::string& message) : Error(ExitCode::usage, message) {}
};

/// Output that cannot be written, or a helper program missing or failing: exit 4.
class OutputError : public Error {
 public:
  explicit OutputError(const std::string& message) : Error(ExitCode::output, message) {}
};

/// One point cannot be measured here for a reason that is not a fault (no engine, beyond memory,
/// out of budget): the row says `skipped` with this reason, and the run goes on.
class Skip : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// One point went wrong (a verify that fails, a thread that was moved): the row says `failed`.
class PointFailure : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

}  // namespace sonde
