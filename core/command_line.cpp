#include "core/command_line.h"

#include <fcntl.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <csignal>
#include <cstdio>
#include <filesystem>
#include <iostream>
#include <map>

#include "core/csv_reader.h"
#include "core/parse.h"
#include "core/terminal.h"
#include "core/text.h"
#include "core/version.h"

namespace sonde {

namespace {

/// Text as roff takes it: no line of it is a request, no hyphen a break.
std::string roff(const std::string& text) {
  std::string safe;
  for (char c : text) {
    const bool first = safe.empty() || safe.back() == '\n';
    if (first && (c == '.' || c == '\'')) safe += "\\&";
    if (c == '\\') {
      safe += "\\e";
    } else if (c == '-') {
      safe += "\\-";
    } else {
      safe += c;
    }
  }
  return safe;
}

/// A descriptor below 3 that the parent closed would go to the next file that is opened, and what
/// is printed into that file. Taken by something that can be neither read nor written.
void hold_standard_descriptors() {
  for (int fd = ::open("/", O_RDONLY); fd >= 0; fd = ::open("/", O_RDONLY)) {
    if (fd > STDERR_FILENO) {
      ::close(fd);
      return;
    }
  }
}

bool takes_value(const CLI::Option& option) { return option.get_expected_max() > 0; }

}  // namespace

struct CommandLine::Parser {
  CLI::App app;
  std::map<std::string, std::function<std::vector<std::string>()>> suggestions;
};

CommandLine::CommandLine(const std::string& program, const std::string& about)
    : parser_(new Parser{CLI::App(about, program), {}}) {
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
  parser_->app.add_option(flag, value, help)
      ->capture_default_str()
      ->check(CLI::Validator(
          [valid](const std::string& text) {
            if (std::find(valid.begin(), valid.end(), text) != valid.end()) return std::string();
            return "'" + text + "' is not one of " + join_names(valid) + did_you_mean(text, valid);
          },
          "{" + CLI::detail::join(valid, ",") + "}"));
  suggest(flag, [valid] { return valid; });
}

void CommandLine::texts(const std::string& flag, std::vector<std::string>& values,
                        const std::string& help) {
  parser_->app.add_option(flag, values, help)->required()->allow_extra_args(false);
}

void CommandLine::flag(const std::string& flag, bool& value, const std::string& help) {
  parser_->app.add_flag(flag, value, help);
}

void CommandLine::verbosity(bool& quiet, bool& verbose) {
  CLI::Option* const less =
      parser_->app.add_flag("--quiet", quiet, "only problems on standard error");
  parser_->app
      .add_flag("--verbose", verbose,
                "on standard error what is read, decided and started, and why")
      ->excludes(less);
}

void CommandLine::words(const std::string& name, std::vector<std::string>& values,
                        const std::string& help) {
  parser_->app.add_option(name, values, help);
}

void CommandLine::footer(const std::string& text) { parser_->app.footer(text); }

void CommandLine::suggest(const std::string& flag,
                          std::function<std::vector<std::string>()> values) {
  parser_->suggestions[flag] = std::move(values);
}

bool CommandLine::parse(std::vector<std::string> arguments) {
  CLI::App& app = parser_->app;
  if (!arguments.empty() && arguments.front() == "--man-page") {
    print_man_page();
    return false;
  }
  if (!arguments.empty() && arguments.front() == "--complete-words") {
    print_candidates({arguments.begin() + 1, arguments.end()});
    return false;
  }
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
      throw UsageError(flag + ": is not a flag of this program" + did_you_mean(flag, flags) +
                       "; --help lists them");
    }
    throw UsageError(std::string(error.what()) + "; --help lists what is expected");
  } catch (const CLI::ParseError& error) {
    throw UsageError(error.what());
  }
}

void CommandLine::print_man_page() const {
  const CLI::App& app = parser_->app;
  std::string page = app.get_name();
  std::replace(page.begin(), page.end(), ' ', '-');
  const std::string description = app.get_description();
  std::cout << ".TH \"" << roff(page) << "\" 1 \"\" \"sonde " << roff(version())
            << "\" \"sonde\"\n.SH NAME\n"
            << roff(page) << " \\- "
            << roff(description.substr(0, description.find_first_of(".:;")))
            << "\n.SH SYNOPSIS\n.B " << roff(app.get_name()) << "\n[flags]\n.SH DESCRIPTION\n"
            << roff(description) << "\n.SH OPTIONS\n";
  for (const CLI::Option* option : app.get_options()) {
    std::cout << ".TP\n.B " << roff(option->get_name(true, true));
    if (takes_value(*option)) std::cout << " \\fI" << roff(option->get_type_name()) << "\\fR";
    std::cout << "\n" << roff(option->get_description());
    if (!option->get_default_str().empty()) {
      std::cout << " (default: " << roff(option->get_default_str()) << ")";
    }
    std::cout << "\n";
  }
  if (!app.get_footer().empty()) {
    std::cout << ".SH NOTES\n.nf\n" << roff(app.get_footer()) << "\n.fi\n";
  }
  if (page != "sonde") std::cout << ".SH SEE ALSO\n.BR sonde (1)\n";
}

void CommandLine::print_candidates(const std::vector<std::string>& words) const {
  const std::string current = words.empty() ? "" : words.back();
  const std::string before = words.size() < 2 ? "" : words[words.size() - 2];
  const auto offer = [&](const std::string& name) {
    const auto found = parser_->suggestions.find(name);
    if (found == parser_->suggestions.end()) return;
    for (const std::string& value : found->second()) {
      if (value.starts_with(current)) std::cout << value << '\n';
    }
  };
  const std::vector<CLI::Option*> options = parser_->app.get_options();
  for (const CLI::Option* option : options) {
    if (takes_value(*option) && option->check_name(before)) return offer(before);
  }
  for (const CLI::Option* option : options) {
    if (option->nonpositional()) {
      for (const std::string& name : option->get_lnames()) {
        const std::string flag = "--" + name;
        if (flag.starts_with(current)) {
          std::cout << flag << '\t' << option->get_description() << '\n';
        }
      }
    } else if (!current.starts_with('-')) {
      offer(option->get_name(true));
    }
  }
}

int run_program(const std::string& name, const std::function<ExitCode()>& body) {
  // A parent may have left it ignored: then no child of ours could be waited for.
  std::signal(SIGCHLD, SIG_DFL);
  hold_standard_descriptors();
  ExitCode code = ExitCode::internal;
  try {
    code = body();
    std::cout.flush();
    if (!std::cout) throw OutputError("standard output: cannot be written");
  } catch (const Error& error) {
    // Only a refused file has a line for each of its bad lines; a quoted line break makes none.
    const bool lines = dynamic_cast<const RefusedFile*>(&error) != nullptr;
    print_error(name + ": " + (lines ? error.what() : shown_text(error.what())));
    code = worse(code == ExitCode::internal ? ExitCode::ok : code, error.code());
  } catch (const std::filesystem::filesystem_error& error) {
    // What nobody expected of a folder is still a matter of folders and rights.
    print_error(name + ": " + shown_text(error.what()));
    code = ExitCode::output;
  } catch (const std::bad_alloc&) {
    print_error(name + ": out of memory");
    code = ExitCode::internal;
  } catch (const std::exception& error) {
    print_error(name + ": internal error: " + error.what());
    code = ExitCode::internal;
  }
  return static_cast<int>(code);
}

}  // namespace sonde
