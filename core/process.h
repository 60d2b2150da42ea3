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
  std::filesystem::path directory;  ///< where it runs; empty: here
};

/// Starts a program in a process group of its own; it is killed when this process dies.
/// With `error_fd` its standard error goes there, its standard output is discarded and it has no
/// standard input; without, it inherits all three. Throws OutputError naming the program and the
/// reason when it cannot be started.
pid_t spawn(const Command& command, std::optional<int> error_fd = std::nullopt);

}  // namespace sonde
