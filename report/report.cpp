#include "report/report.h"

#include <algorithm>
#include <memory>
#include <set>

#include "core/files.h"
#include "core/parse.h"
#include "core/signals.h"
#include "report/inputs.h"
#include "report/overlay.h"
#include "report/page.h"

namespace sonde {
namespace {

/// A directory name as the beginning of a file name.
std::string file_prefix(const std::string& name) {
  std::string prefix;
  for (const char c : name.substr(0, 60)) {
    const bool plain =
        (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-';
    prefix += plain ? c : '_';
  }
  return prefix + "_";
}

void add_messages(const RunReport& report, ReportOutcome& outcome) {
  for (const std::string& warning : report.run.warnings)
    outcome.messages.push_back("warning: " + warning);
  for (const ProbeRows& probe : report.run.probes) {
    for (const std::string& problem : probe.problems) outcome.messages.push_back(problem);
    if (!probe.table) continue;
    for (const std::string& warning : probe.table->warnings) {
      outcome.messages.push_back("warning: " + warning);
    }
  }
  if (report.run.any_refused()) outcome.code = worse(outcome.code, ExitCode::usage);
  if (!report.run.any_table() && !report.run.any_refused()) {
    outcome.messages.push_back("nothing measured in " + report.run.dir.string());
    outcome.code = worse(outcome.code, ExitCode::usage);
  }
}

/// Where the published figures lie; nowhere when no data folder is installed.
std::filesystem::path published_study() {
  try {
    return data_directory() / "published" / "study.csv";
  } catch (const UsageError&) {
    return {};
  }
}

}  // namespace

ReportOutcome make_report(const ReportRequest& request) {
  if (request.runs.empty()) throw UsageError("--run: at least one run directory is needed");
  if (request.runs.size() > 1 && request.out.empty()) {
    throw UsageError("--out: required when several runs are given");
  }
  const auto tell = [&](const std::string& text) {
    if (request.tell) request.tell(text);
  };
  std::filesystem::path out = request.out;
  std::vector<std::unique_ptr<RunReport>> reports;  // the analysis points into its run
  std::set<std::string> names, prefixes;
  for (const std::filesystem::path& dir : request.runs) {
    auto report = std::make_unique<RunReport>();
    tell("reading " + dir.string());
    report->run = load_run(dir, request.read);
    for (const ProbeRows& probe : report->run.probes) {
      if (!probe.table) continue;
      tell("read " + (dir / probe.file).string() + ": " +
           format_count(static_cast<std::int64_t>(probe.table->rows.size())) + " rows");
    }
    // Directories of one name in different places stay apart.
    const std::string base = report->run.name;
    for (int i = 2; !names.insert(report->run.name).second; ++i) {
      report->run.name = base + "-" + std::to_string(i);
    }
    reports.push_back(std::move(report));
  }
  if (out.empty()) out = request.runs.front() / "report";
  std::error_code error;
  std::filesystem::create_directories(out, error);
  if (error || !std::filesystem::is_directory(out)) {
    throw OutputError(out.string() + ": cannot be created" + (error ? ": " + error.message() : ""));
  }
  const FileLock lock(out / ".lock");

  ReportOutcome outcome;
  std::vector<Finding> findings;
  std::vector<Figure> figures;
  for (const auto& report : reports) {
    tell("analysing " + report->run.name);
    stop_if_interrupted();
    report->analysis = analyse_run(report->run);
    stop_if_interrupted();
    report->findings = find_findings(report->analysis);
    report->published = published_beside(report->analysis, report->findings, published_study());
    report->figures = build_figures({report->analysis, report->findings});
    const DeviceDescription& device = report->run.manifest.device;
    for (Figure& figure : report->figures) {
      figure.subtitle = device.product + " (" + describe(device.time_source) + ")";
    }
    if (reports.size() > 1) {
      std::string prefix = file_prefix(report->run.name);
      for (int i = 2; !prefixes.insert(prefix).second; ++i) {
        prefix = file_prefix(report->run.name) + std::to_string(i) + "_";
      }
      for (Figure& figure : report->figures) figure.id = prefix + figure.id;
    }
    findings.insert(findings.end(), report->findings.begin(), report->findings.end());
    figures.insert(figures.end(), report->figures.begin(), report->figures.end());
    add_messages(*report, outcome);
  }
  std::vector<const RunReport*> views;
  views.reserve(reports.size());
  for (const auto& report : reports) views.push_back(report.get());
  const std::vector<Figure> together = overlay_figures(views);
  figures.insert(figures.end(), together.begin(), together.end());
  outcome.findings = out / "findings.csv";
  std::vector<const StoredRun*> inputs;
  inputs.reserve(reports.size());
  for (const auto& report : reports) inputs.push_back(&report->run);
  std::filesystem::remove(out / "inputs.json", error);  // until all of it is made from these rows
  write_file_atomically(outcome.findings, findings_csv(findings));
  tell(format_count(static_cast<std::int64_t>(findings.size())) + " findings, " +
       format_count(static_cast<std::int64_t>(figures.size())) + " figures");

  DrawResult drawn;
  try {
    DrawOptions draw = request.draw;
    draw.tell = tell;
    drawn = draw_figures(figures, out, draw);
  } catch (const OutputError& problem) {
    drawn.errors.emplace_back(problem.what());
  }
  for (const std::string& warning : drawn.warnings)
    outcome.messages.push_back("warning: " + warning);
  outcome.pictures = drawn.pictures;
  outcome.messages.insert(outcome.messages.end(), drawn.errors.begin(), drawn.errors.end());
  if (!drawn.errors.empty()) outcome.code = worse(outcome.code, ExitCode::output);

  outcome.page = out / "index.html";
  write_file_atomically(outcome.page, page_html(views, out, drawn.errors, together));
  write_file_atomically(out / "inputs.json", inputs_json(inputs));
  return outcome;
}

}  // namespace sonde
