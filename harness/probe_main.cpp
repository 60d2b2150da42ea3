// main() of every probe: command line, device, plan, and then the harness or Google Benchmark.
#include <algorithm>
#include <cstdio>
#include <iostream>
#include <nlohmann/json.hpp>

#include "core/command_line.h"
#include "core/csv_writer.h"
#include "core/parse.h"
#include "core/signals.h"
#include "core/statistics.h"
#include "core/terminal.h"
#include "core/version.h"
#include "device/registry.h"
#include "harness/gbench.h"
#include "harness/options.h"
#include "harness/probe.h"
#include "harness/run_directory.h"
#include "harness/runner.h"

namespace sonde {
namespace {

using Json = nlohmann::ordered_json;

/// Wall time of one sample: the plan's estimate is of a real device; a modelled one takes what this
/// machine needs to model and write it.
double wall_estimate_s(const Probe& probe, const Point& point, TimeSource source) {
  if (source != TimeSource::modelled) return point.estimate_s;
  return 2e-4 + 4e-6 * static_cast<double>(probe.rows_per_sample());
}

struct Total {
  std::int64_t measured = 0;         ///< points
  std::int64_t least = 0, most = 0;  ///< repetitions of each
  double least_s = 0, most_s = 0;
};

Total total_of(const Probe& probe, const std::vector<Point>& points, const CommonOptions& options,
               TimeSource source) {
  Total total;
  double once = 0;
  for (const Point& point : points) {
    if (!point.skip.empty()) continue;
    once += wall_estimate_s(probe, point, source);
    ++total.measured;
  }
  // A budget ends it, whatever the estimate says.
  if (options.budget_s && source != TimeSource::modelled)
    once = std::min(once, *options.budget_s / static_cast<double>(kFewestSamples));
  total.least = options.repetitions.value_or(kFewestSamples);
  total.most = options.repetitions.value_or(kMostSamples);
  total.least_s = once * static_cast<double>(total.least);
  total.most_s = once * static_cast<double>(total.most);
  return total;
}

Json json_of(const Cell& cell) {
  if (const auto* integer = std::get_if<std::int64_t>(&cell)) return *integer;
  if (const auto* number = std::get_if<double>(&cell)) return *number;
  if (const auto* text = std::get_if<std::string>(&cell)) return *text;
  return nullptr;
}

void print_json(const Json& json) {
  std::cout << json.dump(1, ' ', false, Json::error_handler_t::replace) << '\n';
}

void print_plan_json(const Probe& probe, const std::vector<Point>& points,
                     const CommonOptions& options, TimeSource source) {
  const Schema& schema = probe.schema();
  Json json = {{"schema", "plan.1"},
               {"probe", schema.probe},
               {"device", options.device},
               {"points", Json::array()}};
  for (std::size_t p = 0; p < points.size(); ++p) {
    Json point = {{"point", p}};
    for (std::size_t i = 0; i < schema.axes.size() && i < points[p].axes.size(); ++i) {
      point[schema.axes[i].name] = json_of(points[p].axes[i]);
    }
    const bool skipped = !points[p].skip.empty();
    point["estimate_s"] = skipped ? Json() : Json(wall_estimate_s(probe, points[p], source));
    point["skipped"] = skipped ? Json(points[p].skip) : Json();
    json["points"].push_back(std::move(point));
  }
  const Total total = total_of(probe, points, options, source);
  json["to_measure"] = total.measured;
  json["repetitions"] = {{"least", total.least}, {"most", total.most}};
  json["seconds"] = {{"least", total.least_s}, {"most", total.most_s}};
  print_json(json);
}

void print_plan(const Probe& probe, const std::vector<Point>& points, const CommonOptions& options,
                TimeSource source) {
  const Schema& schema = probe.schema();
  std::string header = "point";
  for (const Column& axis : schema.axes) header += '\t' + axis.name;
  std::cout << header << "\testimate_s\treason\n";
  for (std::size_t p = 0; p < points.size(); ++p) {
    std::cout << p;
    for (const Cell& cell : points[p].axes) std::cout << '\t' << format_cell(cell);
    if (points[p].skip.empty()) {
      const double each = wall_estimate_s(probe, points[p], source);
      char estimate[32];
      std::snprintf(estimate, sizeof estimate, "%.2g", each);
      std::cout << '\t' << estimate << "\t\n";
    } else {
      std::cout << "\t\tskipped: " << points[p].skip << '\n';
    }
  }
  const Total all = total_of(probe, points, options, source);
  const auto least = all.least, most = all.most;
  char total[128];
  if (least == most) {
    std::snprintf(total, sizeof total, "about %.1f s", all.least_s);
  } else {
    std::snprintf(total, sizeof total, "about %.1f s to %.1f s", all.least_s, all.most_s);
  }
  std::cout << all.measured << " of " << points.size() << " points to measure, " << least
            << (least == most ? "" : " to " + std::to_string(most))
            << (most == 1 ? " repetition" : " repetitions") << " each: " << total << '\n';
}

ExitCode code_of(const Outcome& outcome) {
  if (outcome.interrupted) return ExitCode::interrupted;
  return outcome.failed > 0 ? ExitCode::point_failed : ExitCode::ok;
}

ExitCode measure(Probe& probe, Device& device, const Selection& selection,
                 const std::vector<Point>& points, const CommonOptions& options) {
  const Schema& schema = probe.schema();
  if (options.csv) {
    CsvWriter writer(schema, *options.csv);
    Runner runner(probe, device, selection, points, options, {},
                  [&](const Row& row) { writer.write(row); });
    return code_of(runner.run());
  }
  StepRequest request;
  request.probe = schema.probe;
  request.options = options.deciding();
  for (auto& [name, value] : probe.options()) request.options[name] = value;
  request.adaptive = !options.repetitions;
  request.seed = options.seed;
  request.device = device.description();
  const Telemetry idle = device.telemetry();
  if (idle.power) request.idle_power_w = idle.power->value();
  if (idle.temperature) request.idle_temperature_c = idle.temperature->value();
  RunDirectory run(options.out.value_or(""), request, schema,
                   {options.skip_bad_rows, options.accept_edited});
  for (const std::string& warning : run.warnings()) {
    print_error(warning);
  }
  options.tell("sonde-" + schema.probe,
               "run directory " + run.path().string() + ": " +
                   format_count(static_cast<std::int64_t>(run.stored_rows().size())) + " rows of " +
                   schema.probe + " are stored");
  run.drop_tail(incomplete_tail(probe, run.stored_rows()));
  if (run.created() && !options.json) std::cout << run.path().string() << std::endl;
  Outcome outcome;
  try {
    Runner runner(probe, device, selection, points, options, run.stored_rows(),
                  [&](const Row& row) { run.write(row); });
    outcome = runner.run();
  } catch (const OutputError&) {
    throw;  // the disk is the problem: a state could not be stored either
  } catch (const UsageError&) {
    throw;  // refused before anything was measured: what is stored stays as it is
  } catch (const std::exception& error) {
    run.finish("failed", error.what());
    throw;
  }
  if (options.json) {
    print_json(
        {{"schema", "measured.1"},
         {"probe", schema.probe},
         {"device", request.device.name},
         {"out", run.path().string()},
         {"points", {{"ok", outcome.ok}, {"skipped", outcome.skipped}, {"failed", outcome.failed}}},
         {"new_rows", outcome.measured},
         {"interrupted", outcome.interrupted},
         {"exit", static_cast<int>(code_of(outcome))}});
  }
  // A step is complete when its rows are, whatever the manifest says.
  if (outcome.measured == 0 && run.was_complete() && !outcome.interrupted) {
    std::fprintf(stderr, "%s: already complete in %s\n", schema.probe.c_str(), run.path().c_str());
    return code_of(outcome);
  }
  if (outcome.interrupted) {
    run.finish("interrupted", "signal " + std::to_string(caught_signal()));
    std::fprintf(stderr, "%s: interrupted; the same command with --out %s resumes\n",
                 schema.probe.c_str(), run.path().c_str());
  } else {
    run.finish("complete", "");
  }
  return code_of(outcome);
}

ExitCode run(std::vector<std::string> arguments) {
  const std::unique_ptr<Probe> probe = make_probe();
  const bool gbench = wants_gbench(arguments);
  const std::vector<std::string> flags = take_gbench_flags(arguments);

  CommandLine line("sonde-" + probe->schema().probe, probe->about());
  line.footer(
      "With any --benchmark_* flag Google Benchmark drives the points and no CSV is written.\n"
      "Exit: 0 ok, 1 a point failed, 2 usage or unreadable input, 3 interrupted, 4 output.");
  CommonOptions options;
  options.add_probe_flags(line);
  probe->add_options(line);
  if (!line.parse(arguments)) return ExitCode::ok;
  options.resolve();

  const std::unique_ptr<Device> device = open_device(options.device);
  if (const auto usual = probe->usual_repetitions(); usual && !options.repetitions_text) {
    options.repetitions = usual;
  }
  Selection selection{device->description(), std::nullopt,     options.quick,
                      options.seed,          options.budget_s, options.order == "listed"};
  if (options.cores_text) {
    selection.cores = parse_core_list(*options.cores_text, device->description().cores);
  }
  const std::vector<Point> points = without_repeats(probe->plan(selection));
  if (points.empty()) throw UsageError("no point to measure: the options leave none");
  {
    const auto skipped = std::count_if(points.begin(), points.end(),
                                       [](const Point& point) { return !point.skip.empty(); });
    options.tell(
        "sonde-" + probe->schema().probe,
        device->description().product + " (" + options.device +
            "): " + format_count(static_cast<std::int64_t>(points.size())) + " points planned, " +
            std::to_string(skipped) + " of them skipped; " +
            (options.repetitions ? std::to_string(*options.repetitions) + " samples each"
                                 : "until the interval is within " +
                                       format_number(100 * options.confidence_width) + " %"));
  }
  if (options.dry_run) {
    if (options.json) {
      print_plan_json(*probe, points, options, device->description().time_source);
      return ExitCode::ok;
    }
    print_plan(*probe, points, options, device->description().time_source);
    return ExitCode::ok;
  }
  // From here on a signal ends the run after the sample being taken; until here it ends at once.
  catch_signals();
  if (gbench && options.json) {
    throw UsageError("--json: Google Benchmark has its own, --benchmark_format=json");
  }
  if (gbench && (options.out || options.csv)) {
    throw UsageError("--out and --csv: Google Benchmark writes no rows; leave them out");
  }
  if (gbench) return run_gbench(*probe, *device, points, options, flags);
  return measure(*probe, *device, selection, points, options);
}

}  // namespace
}  // namespace sonde

int main(int argc, char** argv) {
  const std::string name = std::string("sonde-") + sonde::make_probe()->schema().probe;
  return sonde::run_program(name, [&] { return sonde::run({argv + 1, argv + argc}); });
}
