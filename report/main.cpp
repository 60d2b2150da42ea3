// sonde-report: findings, figures and a page from stored runs alone.
#include <CLI/CLI.hpp>
#include <cstdio>
#include <iostream>

#include "core/program.h"
#include "core/version.h"
#include "report/report.h"

namespace sonde {
namespace {

ExitCode run(const std::vector<std::string>& arguments) {
  CLI::App app(
      "Findings, figures (SVG and PNG) and index.html from the CSVs and the manifest of stored "
      "runs.",
      "sonde-report");
  app.set_version_flag("--version", "sonde " + version() + " (" + revision() + ")");
  std::vector<std::string> runs;
  std::string out;
  ReportRequest request;
  app.add_option("--run", runs, "a run directory; repeat for several on one page")
      ->required()
      ->allow_extra_args(false);
  app.add_option("--out", out, "where to write (default: DIR/report; required for several runs)");
  app.add_flag("--skip-bad-rows", request.read.skip_bad_rows,
               "leave bad rows out and count them, instead of refusing their file");
  app.add_flag("--accept-edited", request.read.accept_edited, "take rows whose check does not fit");
  if (!parse_command_line(app, arguments)) return ExitCode::ok;
  request.runs.assign(runs.begin(), runs.end());
  request.out = out;
  const ReportOutcome outcome = make_report(request);
  for (const std::string& message : outcome.messages) {
    std::fprintf(stderr, "sonde-report: %s\n", message.c_str());
  }
  std::cout << outcome.page.string() << std::endl;
  return outcome.code;
}

}  // namespace
}  // namespace sonde

int main(int argc, char** argv) {
  return sonde::run_program("sonde-report", [&] { return sonde::run({argv + 1, argv + argc}); });
}
