#include <algorithm>

#include "core/parse.h"
#include "report/gemm_html.h"
#include "report/html.h"
#include "report/page_parts.h"
#include "report/sentences.h"

namespace sonde {
namespace {

/// Which rows the statistics stand on, and which not.
std::vector<std::string> row_notes(const ProbeRows& probe, const RowCounts& counts) {
  std::vector<std::string> notes = probe.table->warnings;
  const auto note = [&](std::int64_t count, const std::string& what) {
    if (count > 0) notes.push_back(format_count(count) + (count == 1 ? " row " : " rows ") + what);
  };
  note(probe.table->unprotected, "unprotected: without a check, so damage would go unseen");
  note(probe.table->skipped, "bad, left out on request");
  note(counts.held_up, "during which a core went to another program (column waited_s)");
  note(counts.throttled, "throttled: kept in the file, left out of statistics");
  note(counts.skipped, "skipped");
  note(counts.failed, "failed");
  note(counts.other_clock, "timed by another clock than the manifest names, left out");
  constexpr std::size_t kMost = 8;
  std::size_t shown = 0;
  for (const auto& [reason, count] : counts.reasons) {
    if (++shown > kMost) break;
    notes.push_back(reason + " (" + format_count(count) + (count == 1 ? " row)" : " rows)"));
  }
  if (counts.reasons.size() > kMost) {
    notes.push_back("and " + std::to_string(counts.reasons.size() - kMost) +
                    " more reasons, in the CSV");
  }
  for (std::size_t i = 0; i < counts.empty_points.size() && i < kMost; ++i) {
    notes.push_back("no usable sample at " + counts.empty_points[i]);
  }
  if (counts.empty_points.size() > kMost) {
    notes.push_back("and " + std::to_string(counts.empty_points.size() - kMost) +
                    " more points without a usable sample");
  }
  return notes;
}

void asked(std::string& out, const RunReport& report, const ProbeRows& probe,
           const PageContext& context) {
  const std::string& name = probe.schema->probe;
  if (const std::string question = probe_question(name); !question.empty()) {
    out += "<p class=\"question\">" + html_text(question) + "</p>\n";
  }
  const Step* step = report.run.manifest.step(name);
  if (step != nullptr) {
    std::string options;
    for (const auto& [option, value] : step->options) {
      options += (options.empty() ? "" : ", ") + option + " " + (value.empty() ? "(empty)" : value);
    }
    out += "<p class=\"soft\">Asked: " + html_text(options.empty() ? "the defaults" : options) +
           "; repetitions " + (step->adaptive ? "until the interval is narrow enough" : "fixed") +
           ".";
  } else {
    out += "<p class=\"soft\">The manifest names no step of this probe.";
  }
  if (!probe.file.empty()) {
    out += " Rows: <a href=\"" + relative_link(report.run.dir / probe.file, context.out) + "\">" +
           code_html(probe.file) + "</a>.";
  }
  if (probe.table) {
    out += " " + html_text(format_count(report.analysis.counts.at(name).ok)) + " samples used.";
  }
  out += "</p>\n";
  if (step != nullptr && step->state != "complete") {
    out += notice_html(
        "",
        "This step is not finished (" + (step->state.empty() ? "state unknown" : step->state) + ")",
        {step->reason.empty() ? "No reason is given; what was measured is shown." : step->reason});
  }
}

}  // namespace

std::string probe_html(const RunReport& report, const ProbeRows& probe, const ProbeGrade* grade,
                       const PageContext& context) {
  const std::string& name = probe.schema->probe;
  std::string out = "<section class=\"probe\" id=\"run-" + std::to_string(context.index) + "-" +
                    html_text(name) + "\"><h3>" + html_text(name);
  if (grade != nullptr) {
    out += std::string(" <span class=\"letter ") + grade->grade + "\">grade " + grade->grade +
           "</span>";
  }
  out += "</h3>\n";
  asked(out, report, probe, context);
  if (probe.refused()) {
    out += notice_html(" bad",
                       "Refused: " + probe.file + " cannot be trusted, so nothing of it is shown",
                       probe.problems);
    return out + "</section>\n";
  }
  if (!probe.table) {
    return out + "<p>Not measured: there is no " + code_html(name + ".csv") + ".</p>\n</section>\n";
  }
  if (const std::string found = probe_sentence(name, report.analysis, report.findings);
      !found.empty()) {
    out += "<p class=\"found\">" + html_text(found) + "</p>\n";
  }
  if (name == "gemm" && report.analysis.gemm) out += gemm_notices_html(*report.analysis.gemm);
  const std::vector<const Figure*> first = first_figures(report);
  std::string pictures, above;
  for (const Figure& figure : report.figures) {
    if (figure.probe != name) continue;
    if (std::find(first.begin(), first.end(), &figure) == first.end()) {
      pictures += figure_html(figure, context.out);
    } else {
      above += "<p class=\"soft\">On the first screen: <a href=\"#" + figure.id + "\">" +
               html_text(figure.title) + "</a>.</p>\n";
    }
  }
  out += above;
  if (!pictures.empty()) out += "<div class=\"pictures\">\n" + pictures + "</div>\n";
  std::vector<std::string> caveats = grade != nullptr ? grade->reasons : std::vector<std::string>();
  for (std::string& reason : caveats) reason = "grade " + reason;
  for (std::string& note : row_notes(probe, report.analysis.counts.at(name))) {
    caveats.push_back(std::move(note));
  }
  out += notice_html("", "Caveats: what lowers the grade, and about the rows", caveats);
  if (name == "gemm") out += published_html(report.published);
  return out + findings_html(report, name) + "</section>\n";
}

}  // namespace sonde
