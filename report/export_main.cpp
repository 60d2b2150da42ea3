// sonde-export: findings of a stored run for other tools.
#include <cstdio>
#include <iostream>

#include "core/command_line.h"
#include "core/files.h"
#include "core/terminal.h"
#include "report/export.h"

namespace sonde {
namespace {

ExitCode run(const std::vector<std::string>& arguments) {
  CommandLine line("sonde-export",
                   "Findings of a stored run for other tools: Google Benchmark JSON (its "
                   "tools/compare.py and dashboards) or OpenMetrics text (a node exporter).");
  std::optional<std::string> dir, out;
  std::string format = "gbench";
  ReadOptions read;
  line.text("--run", dir, "the run directory (required)");
  line.choice("--format", format, {"gbench", "openmetrics"}, "what the other tool reads");
  line.text("--out", out, "file to write (default: standard output)");
  line.flag("--skip-bad-rows", read.skip_bad_rows,
            "leave bad rows out, instead of refusing their file");
  line.flag("--accept-edited", read.accept_edited, "take rows whose check does not fit");
  if (!line.parse(arguments)) return ExitCode::ok;
  if (!dir || dir->empty()) throw UsageError("--run: name the run directory");
  if (out && out->empty()) throw UsageError("--out: '' is not a file name");
  const StoredRun stored = load_run(*dir, read);
  for (const ProbeRows& rows : stored.probes) {
    for (const std::string& problem : rows.problems) {
      print_error("sonde-export: " + problem);
    }
  }
  const std::vector<Finding> findings = find_findings(analyse_run(stored));
  const std::string text = format == "gbench" ? findings_gbench(stored.manifest, findings)
                                              : findings_openmetrics(stored.manifest, findings);
  if (out) {
    write_file_atomically(*out, text);
  } else {
    std::cout << text;
  }
  // What could be read was exported, but the caller must know that it was not all.
  return stored.any_refused() ? ExitCode::usage : ExitCode::ok;
}

}  // namespace
}  // namespace sonde

int main(int argc, char** argv) {
  return sonde::run_program("sonde-export", [&] { return sonde::run({argv + 1, argv + argc}); });
}
