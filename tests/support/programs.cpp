#include "tests/support/programs.h"

#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <sstream>
#include <stdexcept>

extern char** environ;

namespace sonde::test {

TemporaryDirectory::TemporaryDirectory() {
  std::string pattern = (std::filesystem::temp_directory_path() / "sonde té st XXXXXX").string();
  if (::mkdtemp(pattern.data()) == nullptr) throw std::runtime_error("mkdtemp: " + pattern);
  path_ = pattern;
}

TemporaryDirectory::~TemporaryDirectory() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

std::filesystem::path program(const std::string& name) {
  return std::filesystem::path(SONDE_BIN_DIR) / name;
}

pid_t start(const std::filesystem::path& scratch, const std::vector<std::string>& command,
            const Environment& environment) {
  std::vector<std::string> words = command;
  if (words.at(0).find('/') == std::string::npos) words[0] = program(words[0]).string();
  std::vector<char*> argv;
  argv.reserve(words.size() + 1);
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  std::vector<std::string> variables = environment.entries;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string text = *entry;
    const std::string name = text.substr(0, text.find('=') + 1);
    const bool replaced = std::any_of(environment.entries.begin(), environment.entries.end(),
                                      [&](const std::string& e) { return e.starts_with(name); });
    if (!replaced) variables.push_back(text);
  }
  std::vector<char*> envp;
  envp.reserve(variables.size() + 1);
  for (std::string& variable : variables) envp.push_back(variable.data());
  envp.push_back(nullptr);

  const pid_t child = ::fork();
  if (child < 0) throw std::runtime_error("fork");
  if (child == 0) {
    const auto redirect = [&](const char* name, int fd) {
      const int file = ::open((scratch / name).c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0644);
      if (file < 0 || ::dup2(file, fd) < 0) ::_exit(126);
    };
    redirect(".stdout", STDOUT_FILENO);
    redirect(".stderr", STDERR_FILENO);
    if (::chdir(scratch.c_str()) != 0) ::_exit(126);
    ::execve(argv[0], argv.data(), envp.data());
    ::_exit(127);
  }
  return child;
}

Result wait_for(const std::filesystem::path& scratch, pid_t child) {
  int status = 0;
  if (::waitpid(child, &status, 0) != child) throw std::runtime_error("waitpid");
  Result result;
  if (WIFEXITED(status)) result.exit_code = WEXITSTATUS(status);
  if (WIFSIGNALED(status)) result.signal = WTERMSIG(status);
  result.out = read_text(scratch / ".stdout");
  result.err = read_text(scratch / ".stderr");
  return result;
}

Result run(const std::filesystem::path& scratch, const std::vector<std::string>& command,
           const Environment& environment) {
  return wait_for(scratch, start(scratch, command, environment));
}

std::string read_text(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) throw std::runtime_error("cannot read " + path.string());
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

void write_text(const std::filesystem::path& path, const std::string& text) {
  std::ofstream file(path, std::ios::binary);
  file << text;
  if (!file.flush()) throw std::runtime_error("cannot write " + path.string());
}

std::size_t count_lines(const std::string& text) {
  return static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n'));
}

}  // namespace sonde::test
