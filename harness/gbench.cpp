#include "harness/gbench.h"

#include <benchmark/benchmark.h>

#include <cstdio>
#include <fstream>
#include <string_view>

#include "core/signals.h"
#include "core/statistics.h"
#include "core/version.h"

namespace sonde {

bool wants_gbench(const std::vector<std::string>& arguments) {
  for (const std::string& argument : arguments) {
    if (argument.starts_with("--benchmark_")) return true;
  }
  return false;
}

std::vector<std::string> take_gbench_flags(std::vector<std::string>& arguments) {
  std::vector<std::string> flags;
  std::vector<std::string> rest;
  for (std::string& argument : arguments) {
    (argument.starts_with("--benchmark_") ? flags : rest).push_back(std::move(argument));
  }
  arguments = std::move(rest);
  return flags;
}

ExitCode run_gbench(Probe& probe, Device& device, const std::vector<Point>& points,
                    const CommonOptions& options, const std::vector<std::string>& flags) {
  // The library would end the program itself, with codes of its own.
  constexpr std::string_view kFormat = "--benchmark_format=";
  constexpr std::string_view kOut = "--benchmark_out=";
  for (const std::string& flag : flags) {
    if (flag.starts_with(kFormat)) {
      const std::string format = flag.substr(kFormat.size());
      if (format != "console" && format != "json" && format != "csv") {
        throw UsageError(std::string(kFormat) + " '" + format + "' is not console, json or csv");
      }
    }
    if (flag.starts_with(kOut)) {
      const std::string path = flag.substr(kOut.size());
      if (!std::ofstream(path, std::ios::app)) throw OutputError(path + ": cannot be written");
    }
  }
  std::vector<std::string> words = {"sonde-" + probe.schema().probe};
  words.insert(words.end(), flags.begin(), flags.end());
  std::vector<char*> argv;
  argv.reserve(words.size() + 1);
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  int argc = static_cast<int>(words.size());
  benchmark::Initialize(&argc, argv.data());
  if (argc > 1) {
    throw UsageError(std::string(argv[1]) + ": is not a flag of Google Benchmark");
  }
  // Google Benchmark reports how its own library was built; this says how ours was.
  benchmark::AddCustomContext("sonde_build_preset", build_preset());
  benchmark::AddCustomContext("sonde_version", version());
  benchmark::AddCustomContext("sonde_device", device.description().name);
  benchmark::AddCustomContext("sonde_time_source", to_string(device.description().time_source));

  bool failed = false;
  const std::int64_t iterations = options.repetitions.value_or(kFewestSamples);
  for (std::size_t p = 0; p < points.size(); ++p) {
    const std::string name = probe.schema().probe + "/" + points[p].label;
    benchmark::RegisterBenchmark(
        name.c_str(),
        [&, p](benchmark::State& state) {
          Trial trial{options.seed, static_cast<std::int64_t>(p), 0};
          for ([[maybe_unused]] auto iteration : state) {
            if (!points[p].skip.empty()) {
              state.SkipWithError(("skipped: " + points[p].skip).c_str());
              break;
            }
            try {
              if (caught_signal() != 0) throw Skip("interrupted");
              Row row;
              row.values.assign(probe.schema().size(), {});
              state.SetIterationTime(probe.measure(device, points[p], trial, row).elapsed.value());
              ++trial.repetition;
            } catch (const Skip& skip) {
              state.SkipWithError((std::string("skipped: ") + skip.what()).c_str());
              break;
            } catch (const std::exception& error) {
              failed = true;
              state.SkipWithError(error.what());
              break;
            }
          }
        })
        ->UseManualTime()
        ->Iterations(iterations)
        ->Unit(benchmark::kMicrosecond);
  }
  const std::size_t matched = benchmark::RunSpecifiedBenchmarks();
  benchmark::Shutdown();
  if (matched == 0)
    throw UsageError("--benchmark_filter: matches none of the " + std::to_string(points.size()) +
                     " points");
  if (caught_signal() != 0) return ExitCode::interrupted;
  return failed ? ExitCode::point_failed : ExitCode::ok;
}

}  // namespace sonde
