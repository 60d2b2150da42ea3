#include "core/command_line.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <csignal>
#include <cstdio>
#include <iostream>

#include "core/parse.h"
#include "core/version.h"

namespace sonde {

struct CommandLine::Parser {
  CLI::App app;
};

CommandLine::CommandLine(const std::string& program, const std::string& about)
    : parser_(new Parser{CLI::App(about, program)}) {
  parser_->app.set_version_flag("--version", "sonde " + version() + " (" + revision() + ")");
}

CommandLine::~CommandLine() = default;

void CommandLine::text(const std::string& flag, std::string& value, const std::string& help) {
  parser_->app.add_option(flag, value, help)->capture_default_str();
}

void CommandLine::text(const std::string& flag, std::optional<std::string>& value,
                       const std::string& help) {
  parser_->app.add_option(flag, value, help);
}

void CommandLine::choice(const std::string& flag, std::string& value,
                         const std::vector<std::string>& valid, const std::string& help) {
  parser_->app.add_option(flag, value, help)->capture_default_str()->check(CLI::IsMember(valid));
}

void CommandLine::texts(const std::string& flag, std::vector<std::string>& values,
                        const std::string& help) {
  parser_->app.add_option(flag, values, help)->required()->allow_extra_args(false);
}

void CommandLine::flag(const std::string& flag, bool& value, const std::string& help) {
  parser_->app.add_flag(flag, value, help);
}

void CommandLine::words(const std::string& name, std::vector<std::string>& values,
                        const std::string& help) {
  parser_->app.add_option(name, values, help);
}

void CommandLine::footer(const std::string& text) { parser_->app.footer(text); }

bool CommandLine::parse(std::vector<std::string> arguments) {
  CLI::App& app = parser_->app;
  const std::vector<std::string> given = arguments;
  std::reverse(arguments.begin(), arguments.end());  // CLI11 takes a vector back to front
  try {
    app.parse(std::move(arguments));
    return true;
  } catch (const CLI::Success& done) {
    app.exit(done);
    return false;
  } catch (const CLI::ExtrasError& error) {
    std::vector<std::string> flags;
    for (const CLI::Option* option : app.get_options()) {
      for (const std::string& name : option->get_lnames()) flags.push_back("--" + name);
    }
    for (const std::string& argument : given) {
      const std::string flag = argument.substr(0, argument.find('='));
      if (!flag.starts_with("--") || std::find(flags.begin(), flags.end(), flag) != flags.end())
        continue;
      const auto near = nearest_name(flag, flags);
      throw UsageError(flag + ": is not a flag of this program" +
                       (near ? " (did you mean " + *near + "?)" : "") + "; --help lists them");
    }
    throw UsageError(std::string(error.what()) + "; --help lists what is expected");
  } catch (const CLI::ParseError& error) {
    throw UsageError(error.what());
  }
}

int run_program(const std::string& name, const std::function<ExitCode()>& body) {
  // A parent may have left it ignored: then no child of ours could be waited for.
  std::signal(SIGCHLD, SIG_DFL);
  ExitCode code = ExitCode::internal;
  try {
    code = body();
    std::cout.flush();
    if (!std::cout) throw OutputError("standard output: cannot be written");
  } catch (const Error& error) {
    std::fprintf(stderr, "%s: %s\n", name.c_str(), error.what());
    code = worse(code == ExitCode::internal ? ExitCode::ok : code, error.code());
  } catch (const std::bad_alloc&) {
    std::fprintf(stderr, "%s: out of memory\n", name.c_str());
    code = ExitCode::internal;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s: internal error: %s\n", name.c_str(), error.what());
    code = ExitCode::internal;
  }
  return static_cast<int>(code);
}

}  // namespace sonde
