#include <algorithm>

#include "core/parse.h"
#include "report/headlines.h"
#include "report/html.h"
#include "report/page_parts.h"
#include "report/sentences.h"
#include "report/show.h"
#include "report/tree_html.h"

namespace sonde {
namespace {

void fact(std::string& out, const std::string& name, const std::string& value) {
  out += "<div><dt>" + html_text(name) + "</dt><dd>" +
         (value.empty() ? "unknown" : html_text(value)) + "</dd></div>\n";
}

void facts(std::string& out, const Manifest& manifest) {
  const DeviceDescription& device = manifest.device;
  out += "<dl class=\"facts\">\n";
  std::string cores;
  for (const std::string& kind : device.kinds()) {
    cores +=
        (cores.empty() ? "" : ", ") + std::to_string(device.cores_of(kind).size()) + " " + kind;
  }
  fact(out, "cores used", cores);
  std::string started = manifest.started_utc;  // 2026-11-30T14:05:09Z
  if (started.size() == 20 && started[10] == 'T' && started.back() == 'Z') {
    started = started.substr(0, 10) + " " + started.substr(11, 8) + " UTC";
  }
  fact(out, "started", started);
  fact(out, "seed", std::to_string(manifest.seed));
  fact(out, "sonde", manifest.version + " (" + manifest.revision + ")");
  fact(out, "build preset", manifest.build_preset);
  fact(out, "blocks placed by", device.places_blocks ? "the device" : "sonde");
  out += "</dl>\n";
}

/// What makes a reader doubt the whole run.
void warnings(std::string& out, const RunReport& report) {
  const Manifest& manifest = report.run.manifest;
  const bool modelled = manifest.device.time_source == TimeSource::modelled;
  if (!modelled && manifest.build_preset != "measure") {
    out += notice_html("", "Not a release build",
                       {"Built with preset " +
                        (manifest.build_preset.empty() ? "unknown" : manifest.build_preset) +
                        ": only numbers of preset measure are meant to be compared or quoted."});
  }
  // A busy machine widens every interval and moves medians; the rows alone do not look wrong.
  constexpr double kBusyShare = 0.1;
  std::int64_t good = 0, held_up = 0;
  for (const auto& [probe, counts] : report.analysis.counts) {
    good += counts.ok;
    held_up += counts.held_up;
  }
  if (static_cast<double>(held_up) > kBusyShare * static_cast<double>(good)) {
    out += notice_html(
        " bad", "The machine was busy",
        {"During " + format_count(held_up) + " of " + format_count(good) +
         " samples another program took a core away: do not quote these numbers, measure again on "
         "an idle machine."});
  }
  std::vector<std::string> unfinished;
  for (const Step& step : manifest.steps) {
    if (step.state == "complete") continue;
    unfinished.push_back(step.probe + ": " + (step.state.empty() ? "state unknown" : step.state) +
                         (step.reason.empty() ? "" : ", " + step.reason));
  }
  out += notice_html("", "Unfinished steps", unfinished);
  std::vector<std::string> refused;
  for (const ProbeRows& probe : report.run.probes) {
    if (probe.refused()) refused.push_back(probe.file + ": see the section " + probe.schema->probe);
  }
  out += notice_html(" bad", "Files that were refused", refused);
  out += notice_html("", "Warnings", report.run.warnings);
  if (!report.run.any_table() && refused.empty())
    out += notice_html(" bad", "Nothing measured", {"No CSV of a known probe is in this run."});
}

void conditions(std::string& out, const RunReport& report) {
  const DeviceDescription& device = report.run.manifest.device;
  out +=
      "<details><summary>What the device says of itself, and the conditions</summary><div "
      "class=\"scroll\"><table><caption>Device and conditions</caption><tbody>\n";
  const auto row = [&](const std::string& name, const std::string& value) {
    out += "<tr><th scope=\"row\">" + html_text(name) + "</th><td>" + html_text(value) +
           "</td></tr>\n";
  };
  for (const MemoryLevel& level : device.memory) {
    std::string text = level.capacity_bytes
                           ? show_quantity(static_cast<double>(*level.capacity_bytes), "B")
                           : "capacity unknown";
    if (level.line_bytes)
      text += ", lines of " + show_quantity(static_cast<double>(*level.line_bytes), "B");
    row("declared memory: " + level.name, text);
  }
  for (const Roof& roof : device.roofs)
    row("roof: " + roof.name, show_number(roof.value, 6) + " (" + roof.source + ")");
  for (const auto& [name, value] : device.conditions) row(name, value.empty() ? "unknown" : value);
  for (const Condition& condition : report.analysis.conditions) {
    row("during " + condition.probe + ": " + condition.metric,
        show_estimate(condition.value, condition.unit));
  }
  if (device.conditions.empty()) row("conditions", "none recorded");
  out += "</tbody></table></div></details>\n";
}

std::string anchor(const PageContext& context, const std::string& probe) {
  return "run-" + std::to_string(context.index) + "-" + html_text(probe);
}

std::string letter_html(char grade, const std::string& text) {
  return std::string("<span class=\"letter ") + grade + "\">" + html_text(text) + "</span>";
}

/// The grade of the run with the reasons that give it, and each probe's with all reasons.
std::string grades_html(const std::vector<ProbeGrade>& grades, const PageContext& context) {
  const std::optional<char> overall = overall_grade(grades);
  if (!overall) return "";
  const std::string letter(1, *overall);
  std::string out = "<div class=\"grade\"><p><span class=\"letter big " + letter + "\">" + letter +
                    "</span> <span>Grade " + letter +
                    ": how well the device let itself be measured; a run is as good as its worst "
                    "probe</span></p>\n<ul class=\"chips\">\n";
  std::string why, rows;
  for (const ProbeGrade& one : grades) {
    const std::string link =
        "<a href=\"#" + anchor(context, one.probe) + "\">" + html_text(one.probe) + "</a>";
    out += "<li>" + link + " " + letter_html(one.grade, std::string(1, one.grade)) + "</li>\n";
    rows += "<tr><th scope=\"row\">" + link + "</th><td>" +
            letter_html(one.grade, std::string(1, one.grade)) + "</td><td>";
    if (one.reasons.empty()) rows += "nothing lowers it";
    for (std::size_t i = 0; i < one.reasons.size(); ++i) {
      rows += (i == 0 ? "" : "<br>") + html_text(one.reasons[i]);
      if (one.reasons[i].starts_with(letter)) {
        why += "<li>" + html_text(one.probe + ": " + one.reasons[i].substr(3)) + "</li>\n";
      }
    }
    rows += "</td></tr>\n";
  }
  out += "</ul>\n";
  if (!why.empty()) out += "<ul class=\"why\">\n" + why + "</ul>\n";
  return out +
         "<details><summary>Every reason</summary><table><caption>Grade of each probe and "
         "why</caption><tbody>\n" +
         rows + "</tbody></table></details></div>\n";
}

}  // namespace

std::vector<const Figure*> first_figures(const RunReport& report) {
  std::vector<const Figure*> first;
  for (const char* id : {"floor_plan", "roofline"}) {  // of several runs behind a prefix
    for (const Figure& figure : report.figures) {
      if (figure.id == id || figure.id.ends_with(std::string("_") + id)) {
        first.push_back(&figure);
        break;
      }
    }
  }
  return first;
}

std::string run_html(const RunReport& report, const PageContext& context) {
  const DeviceDescription& device = report.run.manifest.device;
  const bool modelled = device.time_source == TimeSource::modelled;
  std::string out = "<section class=\"run\" id=\"run-" + std::to_string(context.index) +
                    "\">\n<h2>" + html_text(device.product.empty() ? device.name : device.product) +
                    "</h2>\n<p><span class=\"badge" + (modelled ? " modelled" : "") + "\">" +
                    (modelled ? "MODELLED: " : "") + html_text(describe(device.time_source)) +
                    "</span> <span class=\"soft\">device " + code_html(device.name) + ", run " +
                    code_html(report.run.name) + "</span></p>\n";
  if (modelled) {
    out +=
        "<p class=\"strip\"><strong>MODELLED</strong> Every number below comes from a simulated "
        "device and its own clock. None was measured on hardware.</p>\n";
  }
  facts(out, report.run.manifest);
  warnings(out, report);
  const std::vector<ProbeGrade> grades = grade_run(report.run, report.analysis.grouped);
  std::string pictures;
  for (const Figure* figure : first_figures(report)) pictures += figure_html(*figure, context.out);
  out += "<div class=\"first\">\n";
  if (!pictures.empty()) out += "<div class=\"left\">\n" + pictures + "</div>\n";
  out += "<div class=\"right\">\n" + grades_html(grades, context) +
         headlines_html(report.analysis, report.findings) + "</div>\n</div>\n";
  conditions(out, report);
  if (report.analysis.tree) {
    out += "<section class=\"probe\" id=\"" + anchor(context, "topology") +
           "\"><h3>topology</h3>\n<p class=\"question\">Which cores belong together?</p>\n"
           "<p class=\"found\">" +
           html_text(topology_sentence(report.analysis, report.findings)) + "</p>\n" +
           tree_html(*report.analysis.tree) + wave_html(report.analysis) +
           findings_html(report, "topology") + "</section>\n";
  }
  for (const ProbeRows& probe : report.run.probes) {
    const auto grade = std::find_if(grades.begin(), grades.end(), [&](const ProbeGrade& one) {
      return one.probe == probe.schema->probe;
    });
    out += probe_html(report, probe, grade == grades.end() ? nullptr : &*grade, context);
  }
  return out + "</section>\n";
}

}  // namespace sonde
