#pragma once

#include <sys/types.h>

#include <filesystem>
#include <string>
#include <vector>

namespace sonde::test {

/// What a finished program left.
struct Result {
  int exit_code = -1;  ///< -1: ended by a signal
  int signal = 0;
  std::string out;
  std::string err;
};

/// A folder that goes away with the object. Its name holds a blank and a non-ASCII letter, so that
/// every test also tries such a path.
class TemporaryDirectory {
 public:
  TemporaryDirectory();
  ~TemporaryDirectory();
  TemporaryDirectory(const TemporaryDirectory&) = delete;
  TemporaryDirectory& operator=(const TemporaryDirectory&) = delete;
  const std::filesystem::path& path() const { return path_; }
  std::filesystem::path operator/(const std::string& name) const { return path_ / name; }

 private:
  std::filesystem::path path_;
};

/// Extra `NAME=value` environment entries replace those of this process.
struct Environment {
  std::vector<std::string> entries;
};

/// Path of a program of the suite ("sonde", "sonde-chase").
std::filesystem::path program(const std::string& name);

/// Starts a program with standard output and error going to files in `scratch`.
pid_t start(const std::filesystem::path& scratch, const std::vector<std::string>& command,
            const Environment& environment = {});

/// Waits for a program begun by start() and reads what it printed.
Result wait_for(const std::filesystem::path& scratch, pid_t child);

/// start() and wait_for(). `command[0]` is a program of the suite or an absolute path; the working
/// directory is `scratch`.
Result run(const std::filesystem::path& scratch, const std::vector<std::string>& command,
           const Environment& environment = {});

std::string read_text(const std::filesystem::path& path);
void write_text(const std::filesystem::path& path, const std::string& text);
std::size_t count_lines(const std::string& text);

}  // namespace sonde::test
