#pragma once

#include <string>
#include <vector>

#include "core/error.h"
#include "harness/options.h"
#include "harness/probe.h"

namespace sonde {

/// True when a `--benchmark_*` flag is among the arguments: Google Benchmark then drives the probe.
bool wants_gbench(const std::vector<std::string>& arguments);

/// Takes the `--benchmark_*` flags out of `arguments`.
std::vector<std::string> take_gbench_flags(std::vector<std::string>& arguments);

/// Registers every point with manual time and Iterations(n), n = --repetitions or 8: one iteration
/// is one run of the engine, prepare and verify around it. No CSV is written. A filter that matches
/// nothing or an unknown flag is exit 2, a point that fails exit 1.
ExitCode run_gbench(Probe& probe, Device& device, const std::vector<Point>& points,
                    const CommonOptions& options, const std::vector<std::string>& flags);

}  // namespace sonde
