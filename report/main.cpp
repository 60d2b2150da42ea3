// sonde-report: findings, figures and a page from stored runs alone.
#include <cstdio>
#include <iostream>

#include "core/command_line.h"
#include "core/signals.h"
#include "core/terminal.h"
#include "report/report.h"

namespace sonde {
namespace {

ExitCode run(const std::vector<std::string>& arguments) {
  CommandLine line(
      "sonde-report",
      "Findings, figures (SVG and PNG) and index.html from the CSVs and the manifest of "
      "stored runs.");
  std::vector<std::string> runs;
  std::optional<std::string> out;
  ReportRequest request;
  line.texts("--run", runs, "a run directory; repeat for several on one page");
  line.text("--out", out, "where to write (default: DIR/report; required for several runs)");
  line.flag("--skip-bad-rows", request.read.skip_bad_rows,
            "leave bad rows out and count them, instead of refusing their file");
  line.flag("--accept-edited", request.read.accept_edited, "take rows whose check does not fit");
  if (!line.parse(arguments)) return ExitCode::ok;
  if (out && out->empty()) throw UsageError("--out: '' is not a directory name");
  request.runs.assign(runs.begin(), runs.end());
  request.out = out.value_or("");
  catch_signals();
  const ReportOutcome outcome = make_report(request);
  for (const std::string& message : outcome.messages) {
    print_error("sonde-report: " + message);
  }
  std::cout << outcome.page.string() << std::endl;
  return outcome.code;
}

}  // namespace
}  // namespace sonde

int main(int argc, char** argv) {
  return sonde::run_program("sonde-report", [&] { return sonde::run({argv + 1, argv + argc}); });
}
