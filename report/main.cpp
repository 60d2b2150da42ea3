// sonde-report: findings, figures and a page from stored runs alone.
#include <cstdio>
#include <iostream>
#include <nlohmann/json.hpp>

#include "core/command_line.h"
#include "core/parse.h"
#include "core/signals.h"
#include "core/terminal.h"
#include "report/report.h"

namespace sonde {
namespace {

std::string outcome_json(const ReportOutcome& outcome) {
  nlohmann::ordered_json json;
  json["schema"] = "report.1";
  json["page"] = outcome.page.string();
  json["findings"] = outcome.findings.string();
  json["pictures"] = nlohmann::ordered_json::array();
  for (const auto& picture : outcome.pictures) json["pictures"].push_back(picture.string());
  json["messages"] = outcome.messages;
  json["exit"] = static_cast<int>(outcome.code);
  return json.dump(1, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
}

ExitCode run(const std::vector<std::string>& arguments) {
  CommandLine line("sonde-report",
                   "Findings, figures (SVG and PNG, or PDF) and index.html from the CSVs and the "
                   "manifest of stored runs. Beside each picture lies the gnuplot script that "
                   "draws it, with its data.");
  std::vector<std::string> runs;
  std::optional<std::string> out, size, formats;
  bool json = false, quiet = false, verbose = false;
  ReportRequest request;
  line.texts("--run", runs, "a run directory; repeat for several on one page");
  line.text("--out", out, "where to write (default: DIR/report; required for several runs)");
  line.text("--format", formats, "pictures as svg, png and pdf, any of them (default: svg,png)");
  line.suggest("--format", picture_forms);
  line.text("--size", size,
            "of every picture: pixels (960x540) or millimetres on paper (85x60mm) "
            "(default: 960 pixels wide, as high as each figure needs)");
  line.choice("--style", request.draw.look.style, picture_styles(),
              "colours of the pictures; print: one ink");
  line.flag("--skip-bad-rows", request.read.skip_bad_rows,
            "leave bad rows out and count them, instead of refusing their file");
  line.flag("--accept-edited", request.read.accept_edited, "take rows whose check does not fit");
  line.flag("--json", json, "what was written and said, as JSON");
  line.verbosity(quiet, verbose);
  if (!line.parse(arguments)) return ExitCode::ok;
  if (out && out->empty()) throw UsageError("--out: '' is not a directory name");
  if (formats) request.draw.look.forms = parse_names(*formats, "--format", picture_forms());
  if (size) request.draw.look.size = parse_picture_size(*size);
  request.runs.assign(runs.begin(), runs.end());
  request.out = out.value_or("");
  if (verbose) {
    request.tell = [](const std::string& text) {
      std::fprintf(stderr, "sonde-report: %s\n", text.c_str());
    };
  }
  catch_signals();
  const ReportOutcome outcome = make_report(request);
  for (const std::string& message : outcome.messages) {
    if (quiet && message.starts_with("warning: ")) continue;
    print_error("sonde-report: " + message);
  }
  std::cout << (json ? outcome_json(outcome) : outcome.page.string() + "\n") << std::flush;
  return outcome.code;
}

}  // namespace
}  // namespace sonde

int main(int argc, char** argv) {
  return sonde::run_program("sonde-report", [&] { return sonde::run({argv + 1, argv + argc}); });
}
