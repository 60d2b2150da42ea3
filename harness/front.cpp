// `sonde`: the front of the suite, in the manner of git: `sonde chase ...` runs `sonde-chase ...`.
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <functional>
#include <iostream>

#include "core/command_line.h"
#include "core/files.h"
#include "core/parse.h"
#include "core/version.h"
#include "harness/campaign.h"
#include "harness/check_model.h"
#include "harness/completion.h"
#include "harness/doctor.h"

namespace sonde {
namespace {

struct Command {
  const char* name;
  const char* does;
  /// Null: a program of its own, `sonde-<name>` beside this one.
  ExitCode (*run)(const std::vector<std::string>&);
};

ExitCode run_completion(const std::vector<std::string>& arguments);

constexpr Command kCommands[] = {
    {"devices", "every device usable here, and each backend without one", run_devices},
    {"chase", "pointer-chase latency per core, footprint and number of blocks", nullptr},
    {"profile", "load latency of each core at matching addresses of one chain", nullptr},
    {"interfere", "how much sets of other cores slow a victim's loads", nullptr},
    {"handoff", "cache-line hand-off latency between two cores", nullptr},
    {"stream", "bandwidth by cores, request, sharing and re-reads", nullptr},
    {"copy", "copy time and bandwidth against size", nullptr},
    {"gemm", "the GEMM sweep: 1,055 shapes of open-weight models", nullptr},
    {"topology", "the core tree that stored runs show", nullptr},
    {"report", "findings, figures and one page from stored runs", nullptr},
    {"compare", "two runs: faster, slower, same, or cannot tell", nullptr},
    {"export", "findings for Google Benchmark's tools or a node exporter", nullptr},
    {"doctor", "what is installed, what is missing, and the fix for each", run_doctor},
    {"completion", "what makes bash, zsh or fish complete all this", run_completion},
    {"campaign", "all probes the device offers, then the report; resumes", run_campaign},
    {"check-model", "published figures against the simulated chips, row by row", run_check_model},
};

std::string command_list() {
  std::string text;
  for (const Command& command : kCommands) {
    text += std::string("  ") + command.name + std::string(13 - std::strlen(command.name), ' ') +
            command.does + '\n';
  }
  return text;
}

void print_help() {
  std::cout << "sonde " << version() << ": measures a device and says what it is.\n\n"
            << "usage: sonde <command> [flags]      (sonde <command> --help lists the flags)\n\n"
            << command_list();
}

void print_man_page() {
  CommandLine line("sonde", "measures a device and says what it is.");
  line.footer("sonde <command> --help lists the flags of a command, sonde-<command>(1) too:\n" +
              command_list());
  line.parse({"--man-page"});
}

ExitCode run_completion(const std::vector<std::string>& arguments) {
  CommandLine line("sonde completion",
                   "A script that makes a shell complete commands, flags and their values; what it "
                   "offers it asks the programs.");
  line.footer("Example: source <(sonde completion bash)");
  std::vector<std::string> shells;
  line.words("shell", shells, "bash, zsh or fish");
  line.suggest("shell", completion_shells);
  if (!line.parse(arguments)) return ExitCode::ok;
  if (shells.size() != 1) throw UsageError("completion: name one shell: bash, zsh or fish");
  std::vector<std::string> programs = {"sonde"};
  for (const Command& command : kCommands) {
    if (command.run == nullptr) programs.push_back(std::string("sonde-") + command.name);
  }
  std::cout << completion_script(shells.front(), programs);
  return ExitCode::ok;
}

ExitCode dispatch(const std::vector<std::string>& arguments);

/// What a shell may put for the last of `words`, a line each with its help behind a tab.
ExitCode complete(const std::vector<std::string>& words) {
  if (words.size() > 1) {
    std::vector<std::string> asked = {words[0], "--complete-words"};
    asked.insert(asked.end(), words.begin() + 1, words.end());
    return dispatch(asked);
  }
  for (const Command& command : kCommands) {
    if (words.empty() || std::string(command.name).starts_with(words[0])) {
      std::cout << command.name << '\t' << command.does << '\n';
    }
  }
  return ExitCode::ok;
}

ExitCode dispatch(const std::vector<std::string>& arguments) {
  if (arguments.empty() || arguments[0] == "--help" || arguments[0] == "-h" ||
      arguments[0] == "help") {
    print_help();
    return arguments.empty() ? ExitCode::usage : ExitCode::ok;
  }
  if (arguments[0] == "--version") {
    std::cout << "sonde " << version() << " (" << revision() << ")\n";
    return ExitCode::ok;
  }
  if (arguments[0] == "--man-page") {
    print_man_page();
    return ExitCode::ok;
  }
  if (arguments[0] == kCompleteWords) return complete({arguments.begin() + 1, arguments.end()});
  std::vector<std::string> names;
  for (const Command& command : kCommands) {
    names.emplace_back(command.name);
    if (arguments[0] != command.name) continue;
    if (command.run != nullptr) return command.run({arguments.begin() + 1, arguments.end()});
    const std::string program = (program_directory() / ("sonde-" + arguments[0])).string();
    std::vector<std::string> words = arguments;
    words[0] = program;
    std::vector<char*> argv;
    argv.reserve(words.size() + 1);
    for (std::string& word : words) argv.push_back(word.data());
    argv.push_back(nullptr);
    ::execv(program.c_str(), argv.data());
    throw OutputError(program + ": cannot be started: " + std::strerror(errno));
  }
  throw UsageError("'" + arguments[0] + "' is not a command: there is " + join_names(names) +
                   did_you_mean(arguments[0], names));
}

}  // namespace
}  // namespace sonde

int main(int argc, char** argv) {
  return sonde::run_program("sonde", [&] { return sonde::dispatch({argv + 1, argv + argc}); });
}
