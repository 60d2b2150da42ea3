#pragma once

#include <sys/types.h>

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace sonde {

/// A program to run: no shell sees its arguments.
struct Command {
  std::filesystem::path program;  ///< with its folder; PATH is not searched
  std::vector<std::string> arguments;
  std::filesystem::path directory = {};  ///< where it runs; empty: here
  /// "NAME=value" beside what this process has, or in place of it.
  std::vector<std::string> environment = {};
};

/// Starts a program in a process group of its own; it is killed when this process dies.
/// With `error_fd` its standard error goes there, its standard output is discarded and it has no
/// standard input; without, it inherits all three. With `output_fd` its standard output goes there.
/// Throws OutputError naming the program and the
/// reason when it cannot be started.
pid_t spawn(const Command& command, std::optional<int> error_fd = std::nullopt,
            std::optional<int> output_fd = std::nullopt);

}  // namespace sonde
