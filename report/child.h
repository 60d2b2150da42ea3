#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "core/process.h"

namespace sonde {

/// How a plotting program ended.
struct PlotResult {
  bool started = false;
  bool timed_out = false;  ///< killed after the limit
  int exit_status = -1;    ///< when it ended by itself
  int signal = 0;          ///< when a signal ended it
  std::string error_text;  ///< its standard error, at most 16 KiB
  std::string problem;     ///< why it was not started
  bool ok() const { return started && !timed_out && signal == 0 && exit_status == 0; }
};

/// First executable file of that name on PATH; empty when there is none. Empty parts of PATH (the
/// working directory) are not searched.
std::filesystem::path find_on_path(const std::string& name);

/// Runs the commands, at most `parallel` at a time, each with LC_ALL=C.UTF-8, no standard input,
/// its standard output discarded and killed (with what it started) after `seconds`. Results are in
/// the order of the commands. The children end with this process. When a signal was caught they are
/// killed and Error (ExitCode::interrupted) is thrown.
std::vector<PlotResult> run_children(const std::vector<Command>& commands, int parallel,
                                     double seconds);

}  // namespace sonde
