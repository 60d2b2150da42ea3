#include "report/page.h"

#include "core/files.h"
#include "core/parse.h"
#include "core/version.h"
#include "report/gemm_html.h"
#include "report/headlines.h"
#include "report/html.h"
#include "report/show.h"
#include "report/tree_html.h"

namespace sonde {
namespace {

constexpr const char* kStyle = R"css(
:root { color-scheme: light dark; --bg: #f6f7f9; --card: #ffffff; --ink: #1c2430; --soft: #5a6675;
  --line: #dde2e8; --accent: #0072b2; --warn-bg: #fff4e0; --warn: #8a4b00; --bad-bg: #fde8e4; --bad: #9c2a10;
  --good-bg: #e3f4ec; --good: #00604a; }
@media (prefers-color-scheme: dark) { :root { --bg: #14181e; --card: #1d232b; --ink: #e6eaf0;
  --soft: #9ba7b6; --line: #333c48; --accent: #6cb8ea; --warn-bg: #3a2c12; --warn: #ffc46b;
  --bad-bg: #42201a; --bad: #ff9d87; --good-bg: #12372c; --good: #7fdcb9; } }
* { box-sizing: border-box; }
body { margin: 0; background: var(--bg); color: var(--ink); font: 16px/1.55 system-ui, -apple-system,
  "Segoe UI", Roboto, "DejaVu Sans", sans-serif; }
main, body > header, body > footer { max-width: 68rem; margin: 0 auto; padding: 0 1.25rem; }
body > header { padding-top: 2rem; }
body > footer { padding-bottom: 2.5rem; color: var(--soft); font-size: .85rem; }
h1 { font-size: 1.15rem; letter-spacing: .02em; margin: 0 0 .25rem; color: var(--soft); font-weight: 600; }
h2 { font-size: 1.7rem; line-height: 1.2; margin: 0 0 .4rem; overflow-wrap: anywhere; }
h3 { font-size: 1.25rem; margin: 2.2rem 0 .4rem; }
h4 { font-size: 1rem; margin: 1.4rem 0 .3rem; }
p { margin: .4rem 0; }
a { color: var(--accent); }
nav ul { list-style: none; padding: 0; margin: .5rem 0 0; display: flex; flex-wrap: wrap; gap: .3rem 1.2rem; }
.run { padding: 1.6rem 0 1rem; border-top: 1px solid var(--line); margin-top: 1.4rem; }
.soft { color: var(--soft); }
.badge { display: inline-block; padding: .15rem .65rem; border-radius: 1rem; font-size: .85rem;
  font-weight: 600; background: var(--good-bg); color: var(--good); }
.badge.modelled { background: var(--warn-bg); color: var(--warn); }
.notice { background: var(--warn-bg); color: var(--warn); border-radius: .5rem; padding: .6rem .9rem; margin: .7rem 0; }
.notice.bad { background: var(--bad-bg); color: var(--bad); }
.notice ul { margin: .3rem 0 0; padding-left: 1.2rem; overflow-wrap: anywhere; }
dl.facts { display: grid; grid-template-columns: repeat(auto-fill, minmax(9.6rem, 1fr)); gap: .7rem .8rem; margin: 1rem 0; }
dl.facts dt { color: var(--soft); font-size: .8rem; }
dl.facts dd { margin: 0; overflow-wrap: anywhere; }
ul.cards { list-style: none; margin: 1rem 0; padding: 0; display: grid; gap: .7rem;
  grid-template-columns: repeat(auto-fill, minmax(14rem, 1fr)); }
ul.cards li { background: var(--card); border: 1px solid var(--line); border-radius: .6rem; padding: .75rem .95rem; }
ul.cards .name { color: var(--soft); font-size: .85rem; display: block; }
ul.cards .value { font-size: 1.35rem; font-weight: 650; display: block; line-height: 1.35; }
ul.cards .range { color: var(--soft); font-size: .82rem; display: block; }
figure { margin: 1.1rem 0 1.6rem; }
figure .sheet { background: #ffffff; border: 1px solid var(--line); border-radius: .6rem; overflow-x: auto; }
figure img { display: block; width: 100%; min-width: 34rem; height: auto; }
figure .absent { color: #444; padding: 2.5rem 1rem; text-align: center; }
figcaption { margin-top: .5rem; font-size: .95rem; }
.scroll { overflow-x: auto; }
table { border-collapse: collapse; font-size: .88rem; width: 100%; font-variant-numeric: tabular-nums; }
th, td { text-align: left; padding: .32rem .7rem .32rem 0; border-bottom: 1px solid var(--line); vertical-align: top; }
th { color: var(--soft); font-weight: 600; white-space: nowrap; }
td.n, th.n { text-align: right; white-space: nowrap; }
td.k { white-space: nowrap; }
td.basis { min-width: 16rem; }
code { font: .88em ui-monospace, "DejaVu Sans Mono", monospace; }
summary { cursor: pointer; color: var(--accent); margin: .6rem 0; }
@media print { .sheet, .run { break-inside: avoid-page; } body { background: #fff; } }
)css";

std::string code(const std::string& text) { return "<code>" + html_text(text) + "</code>"; }

void fact(std::string& out, const std::string& name, const std::string& value) {
  out += "<div><dt>" + html_text(name) + "</dt><dd>" +
         (value.empty() ? "unknown" : html_text(value)) + "</dd></div>\n";
}

void list(std::string& out, const std::string& kind, const std::string& head,
          const std::vector<std::string>& lines) {
  out += notice_html(kind, head, lines);
}

void figures(std::string& out, const std::vector<Figure>& all, const std::string& probe,
             const std::filesystem::path& pictures) {
  for (const Figure& figure : all) {
    if (figure.probe != probe) continue;
    out += "<figure id=\"" + html_text(figure.id) + "\"><div class=\"sheet\">";
    // A map of thousands of cells is larger as SVG than as PNG; the page should stay light.
    constexpr std::uintmax_t kLargestSvg = 256 << 10;
    std::error_code error;
    const auto size = std::filesystem::file_size(pictures / (figure.id + ".svg"), error);
    const std::string form = !error && size > kLargestSvg ? "png" : "svg";
    const std::filesystem::path path = pictures / (figure.id + "." + form);
    if (complete_picture(path, form)) {
      out += "<img alt=\"" + html_text(figure.title + ". " + figure.caption) +
             "\" width=\"960\" height=\"" + std::to_string(figure.height) + "\" src=\"data:image/" +
             (form == "svg" ? "svg+xml" : "png") + ";base64," + base64(read_file(path)) + "\">";
    } else {
      out += "<p class=\"absent\">" + html_text(figure.title) + ": the picture was not drawn.</p>";
    }
    out += "</div>\n<figcaption>" + html_text(figure.caption) + "</figcaption></figure>\n";
  }
}

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

void findings_table(std::string& out, const RunReport& report, const std::string& prefix) {
  std::string rows;
  std::size_t count = 0;
  for (const Finding& finding : report.findings) {
    if (finding.name.rfind(prefix + ".", 0) != 0) continue;
    ++count;
    rows += "<tr><td class=\"k\">" + code(finding.name) + "</td><td class=\"n\">" +
            html_text(finding.value ? show_value(finding, *finding.value) : "unknown") +
            "</td><td class=\"n\">" +
            html_text(finding.low ? show_value(finding, *finding.low) : "") +
            "</td><td class=\"n\">" +
            html_text(finding.high ? show_value(finding, *finding.high) : "") +
            "</td><td class=\"n\">" + html_text(finding.n ? std::to_string(*finding.n) : "") +
            "</td><td class=\"basis\">" + html_text(finding.basis) + "</td></tr>\n";
  }
  if (count == 0) return;
  out += std::string("<details") + (count <= 8 ? " open" : "") + "><summary>" +
         (count == 1 ? std::string("The finding") : "All " + std::to_string(count) + " findings") +
         "</summary><div class=\"scroll\"><table>\n<thead><tr><th scope=\"col\">finding</th>"
         "<th scope=\"col\" class=\"n\">value</th><th scope=\"col\" class=\"n\">low</th>"
         "<th scope=\"col\" class=\"n\">high</th><th scope=\"col\" class=\"n\">samples</th>"
         "<th scope=\"col\">basis</th></tr></thead>\n<tbody>\n" +
         rows + "</tbody></table></div></details>\n";
}

void probe_section(std::string& out, const RunReport& report, const ProbeRows& probe,
                   const std::filesystem::path& pictures) {
  const std::string& name = probe.schema->probe;
  out += "<section><h3>" + html_text(name) + "</h3>\n";
  const Step* step = report.run.manifest.step(name);
  if (step != nullptr) {
    std::string asked;
    for (const auto& [option, value] : step->options) {
      asked += (asked.empty() ? "" : ", ") + option + " " + (value.empty() ? "(empty)" : value);
    }
    out += "<p class=\"soft\">Asked: " + html_text(asked.empty() ? "the defaults" : asked) +
           "; repetitions " + (step->adaptive ? "until the interval is narrow enough" : "fixed") +
           ".";
  } else {
    out += "<p class=\"soft\">The manifest names no step of this probe.";
  }
  out += probe.file.empty() ? "</p>\n" : " Rows: " + code(probe.file) + ".</p>\n";
  if (step != nullptr && step->state != "complete") {
    list(
        out, "",
        "This step is not finished (" + (step->state.empty() ? "state unknown" : step->state) + ")",
        {step->reason.empty() ? "No reason is given; what was measured is shown." : step->reason});
  }
  if (probe.refused()) {
    list(out, " bad", "Refused: " + probe.file + " cannot be trusted, so nothing of it is shown",
         probe.problems);
  } else if (!probe.table) {
    out += "<p>Not measured: there is no " + code(name + ".csv") + ".</p>\n";
  } else {
    const RowCounts& counts = report.analysis.counts.at(name);
    out += "<p class=\"soft\">" + html_text(format_count(counts.ok)) + " samples used.</p>\n";
    list(out, "", "About the rows", row_notes(probe, counts));
    if (name == "gemm" && report.analysis.gemm) out += gemm_notices_html(*report.analysis.gemm);
    figures(out, report.figures, name, pictures);
    if (name == "gemm") out += published_html(report.published);
    findings_table(out, report, name);
  }
  out += "</section>\n";
}

void run_section(std::string& out, const RunReport& report, const std::filesystem::path& pictures,
                 std::size_t index) {
  const Manifest& manifest = report.run.manifest;
  const DeviceDescription& device = manifest.device;
  const bool modelled = device.time_source == TimeSource::modelled;
  out += "<section class=\"run\" id=\"run-" + std::to_string(index) + "\">\n<h2>" +
         html_text(device.product.empty() ? device.name : device.product) +
         "</h2>\n<p><span class=\"badge" + (modelled ? " modelled" : "") + "\">" +
         html_text(describe(device.time_source)) + "</span> <span class=\"soft\">device " +
         code(device.name) + ", run " + code(report.run.name) + "</span></p>\n";
  out += "<dl class=\"facts\">\n";
  std::string started = manifest.started_utc;  // 2026-11-30T14:05:09Z
  if (started.size() == 20 && started[10] == 'T' && started.back() == 'Z') {
    started = started.substr(0, 10) + " " + started.substr(11, 8) + " UTC";
  }
  fact(out, "started", started);
  fact(out, "seed", std::to_string(manifest.seed));
  fact(out, "sonde", manifest.version + " (" + manifest.revision + ")");
  fact(out, "build preset", manifest.build_preset);
  std::string cores;
  for (const std::string& kind : device.kinds()) {
    cores +=
        (cores.empty() ? "" : ", ") + std::to_string(device.cores_of(kind).size()) + " " + kind;
  }
  fact(out, "cores used", cores);
  fact(out, "blocks placed by", device.places_blocks ? "the device" : "sonde");
  out += "</dl>\n";
  if (!modelled && manifest.build_preset != "measure") {
    list(out, "", "Not a release build",
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
    list(out, " bad", "The machine was busy",
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
  list(out, "", "Unfinished steps", unfinished);
  std::vector<std::string> refused;
  for (const ProbeRows& probe : report.run.probes) {
    if (probe.refused()) refused.push_back(probe.file + ": see the section " + probe.schema->probe);
  }
  list(out, " bad", "Files that were refused", refused);
  list(out, "", "Warnings", report.run.warnings);
  if (!report.run.any_table() && refused.empty())
    list(out, " bad", "Nothing measured", {"No CSV of a known probe is in this run."});
  out += headlines_html(report.analysis, report.findings);
  out +=
      "<details><summary>What the device says of itself, and the conditions</summary><div "
      "class=\"scroll\"><table><tbody>\n";
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
  if (report.analysis.tree) {
    out += "<section><h3>topology</h3>\n" + tree_html(*report.analysis.tree) +
           wave_html(report.analysis);
    findings_table(out, report, "topology");
    out += "</section>\n";
  }
  for (const ProbeRows& probe : report.run.probes) probe_section(out, report, probe, pictures);
  out += "</section>\n";
}

}  // namespace

std::string page_html(const std::vector<const RunReport*>& runs,
                      const std::filesystem::path& pictures,
                      const std::vector<std::string>& draw_errors,
                      const std::vector<Figure>& together) {
  std::string title = "sonde";
  for (std::size_t i = 0; i < runs.size(); ++i) {
    title += (i == 0 ? ": " : ", ") + runs[i]->run.manifest.device.name;
  }
  std::string out =
      "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src "
      "'unsafe-inline'; img-src data:\">\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<title>" +
      html_text(title) + "</title>\n<style>" + kStyle +
      "</style>\n</head>\n<body>\n<header><h1>sonde report</h1>\n";
  if (runs.size() > 1) {
    out += "<nav aria-label=\"runs\"><ul>\n";
    for (std::size_t i = 0; i < runs.size(); ++i) {
      const Manifest& manifest = runs[i]->run.manifest;
      out += "<li><a href=\"#run-" + std::to_string(i + 1) + "\">" +
             html_text(manifest.device.product.empty() ? manifest.device.name
                                                       : manifest.device.product) +
             "</a> <span class=\"soft\">" + html_text(describe(manifest.device.time_source)) +
             "</span></li>\n";
    }
    out += "</ul></nav>\n";
  }
  list(out, " bad", "Pictures are missing", draw_errors);
  out += "</header>\n<main>\n";
  if (!together.empty()) {
    out += "<section><h3>The runs together</h3>\n";
    figures(out, together, "", pictures);
    out += "</section>\n";
  }
  for (std::size_t i = 0; i < runs.size(); ++i) run_section(out, *runs[i], pictures, i + 1);
  out += "</main>\n<footer><p>Made by sonde-report " + html_text(version()) +
         " from the stored rows and the manifest alone. Low and high are the 95 % interval of the "
         "median or, for a position, the last value tested before it and the first behind it. One "
         "GB is 10<sup>9</sup> bytes, one KiB is 1,024; a copied byte is counted once, a streamed "
         "array once a pass. All values "
         "with full digits are in <code>findings.csv</code>, and each picture lies beside this "
         "page as SVG and PNG, with the gnuplot script that draws "
         "it.</p></footer>\n</body>\n</html>\n";
  return out;
}

}  // namespace sonde
