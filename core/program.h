#pragma once

#include <functional>
#include <string>
#include <vector>

#include "core/error.h"

namespace CLI {
class App;
}

namespace sonde {

/// Runs the body of a program: an Error becomes `name: message` on standard error and its exit
/// code, any other exception exit 70. Every program goes through here.
int run_program(const std::string& name, const std::function<ExitCode()>& body);

/// Parses with CLI11: prints help or version (returns false: done, exit 0), throws UsageError with
/// the nearest valid flag for anything it does not know.
bool parse_command_line(CLI::App& app, std::vector<std::string> arguments);

}  // namespace sonde
