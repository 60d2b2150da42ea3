#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/error.h"

namespace sonde {

/// Flags of one program. Values are taken as text, so that each refusal can name its flag; only
/// core/command_line.cpp sees the parser library. References must outlive parse().
class CommandLine {
 public:
  CommandLine(const std::string& program, const std::string& about);
  ~CommandLine();
  CommandLine(const CommandLine&) = delete;
  CommandLine& operator=(const CommandLine&) = delete;

  /// `--flag TEXT`; the value before parse() is the default, shown by --help.
  void text(const std::string& flag, std::string& value, const std::string& help);
  /// `--flag TEXT` without a default: given and empty is not the same as not given.
  void text(const std::string& flag, std::optional<std::string>& value, const std::string& help);
  /// `--flag TEXT`, one of `valid`.
  void choice(const std::string& flag, std::string& value, const std::vector<std::string>& valid,
              const std::string& help);
  /// `--flag TEXT`, required, may be repeated.
  void texts(const std::string& flag, std::vector<std::string>& values, const std::string& help);
  void flag(const std::string& flag, bool& value, const std::string& help);
  /// Words that no flag takes, as many as there are.
  void words(const std::string& name, std::vector<std::string>& values, const std::string& help);
  /// `--quiet` and `--verbose`, of which one line gives at most one.
  void verbosity(bool& quiet, bool& verbose);
  void footer(const std::string& text);
  /// What a shell offers as value of a flag, or as one of the words().
  void suggest(const std::string& flag, std::function<std::vector<std::string>()> values);

  /// False when --help or --version was printed: the program is done. So it is after the two flags
  /// that no help lists: `--man-page` (this program's, in roff) and `--complete-words WORD...`
  /// (what a shell may put for the last word, a line each with its help behind a tab). Throws
  /// UsageError naming the flag, with the nearest valid one where it looks like a typing error.
  bool parse(std::vector<std::string> arguments);

 private:
  void print_man_page() const;
  void print_candidates(const std::vector<std::string>& words) const;
  struct Parser;
  std::unique_ptr<Parser> parser_;
};

/// Runs the body of a program: an Error becomes `name: message` on standard error and its exit
/// code, any other exception exit 70. Every program goes through here.
int run_program(const std::string& name, const std::function<ExitCode()>& body);

}  // namespace sonde
