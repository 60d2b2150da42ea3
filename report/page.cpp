#include "report/page.h"

#include "core/version.h"
#include "report/figure_json.h"
#include "report/html.h"
#include "report/page_assets.h"
#include "report/page_parts.h"

namespace sonde {
namespace {

/// The hash of an embedded text as a content security policy names it.
std::string source_hash(std::string_view hexadecimal) {
  std::string bytes;
  const auto digit = [](char c) { return c <= '9' ? c - '0' : c - 'a' + 10; };
  for (std::size_t i = 0; i + 1 < hexadecimal.size(); i += 2) {
    bytes += static_cast<char>(16 * digit(hexadecimal[i]) + digit(hexadecimal[i + 1]));
  }
  return "'sha256-" + base64(bytes) + "'";
}

std::string head_html(const std::string& title) {
  return "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
         "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src " +
         source_hash(kPageStyleHash) + "; script-src " + source_hash(kPageScriptHash) +
         "; img-src data:; base-uri 'none'; form-action 'none'\">\n"
         "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<title>" +
         html_text(title) + "</title>\n<style>" + std::string(kPageStyle) +
         "</style>\n</head>\n<body>\n<a class=\"skip\" href=\"#main\">Skip to the results</a>\n";
}

std::string navigation_html(const std::vector<const RunReport*>& runs) {
  std::string out = "<nav aria-label=\"sections\"><ul>\n";
  for (std::size_t i = 0; i < runs.size(); ++i) {
    const Manifest& manifest = runs[i]->run.manifest;
    const std::string run = "#run-" + std::to_string(i + 1);
    if (runs.size() > 1) {
      out += "<li><a href=\"" + run + "\">" +
             html_text(manifest.device.product.empty() ? manifest.device.name
                                                       : manifest.device.product) +
             "</a> <span class=\"soft\">" + html_text(describe(manifest.device.time_source)) +
             "</span></li>\n";
      continue;
    }
    if (runs[i]->analysis.tree) out += "<li><a href=\"" + run + "-topology\">topology</a></li>\n";
    for (const ProbeRows& probe : runs[i]->run.probes) {
      if (probe.file.empty()) continue;
      const std::string name = html_text(probe.schema->probe);
      out += "<li><a href=\"" + run + "-" + name + "\">" + name + "</a></li>\n";
    }
  }
  return out + "</ul></nav>\n";
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
  std::string out = head_html(title) +
                    "<header><h1>sonde report</h1>\n<button type=\"button\" id=\"theme\" "
                    "hidden>Dark</button>\n" +
                    navigation_html(runs) +
                    notice_html(" bad", "Pictures are missing", draw_errors) +
                    "</header>\n<main id=\"main\" tabindex=\"-1\">\n";
  std::vector<const Figure*> figures;
  if (runs.size() > 1) {
    out += "<section class=\"probe\" id=\"together\"><h3>The runs together</h3>\n";
    if (!together.empty()) {
      out += "<div class=\"pictures\">\n";
      for (const Figure& figure : together) out += figure_html(figure, pictures);
      out += "</div>\n";
    }
    out += findings_of_runs_html(runs) + "</section>\n";
  }
  figures.reserve(figures.size() + together.size());
  for (const Figure& figure : together) figures.push_back(&figure);
  for (std::size_t i = 0; i < runs.size(); ++i) {
    out += run_html(*runs[i], {pictures, i + 1});
    for (const Figure& figure : runs[i]->figures) figures.push_back(&figure);
  }
  out += "</main>\n<footer><p>Made by sonde-report " + html_text(version()) +
         " from the stored rows and the manifest alone. Low and high are the 95 % interval of the "
         "median or, for a position, the last value tested before it and the first behind it. One "
         "GB is 10<sup>9</sup> bytes, one KiB is 1,024; a copied byte is counted once, a streamed "
         "array once a pass. All values "
         "with full digits are in <code>findings.csv</code>, and each picture lies beside this "
         "page as SVG and PNG, with the gnuplot script that draws "
         "it.</p></footer>\n<script type=\"application/json\" id=\"data\">" +
         figures_json(figures) + "</script>\n<script>" + std::string(kPageScript) +
         "</script>\n</body>\n</html>\n";
  return out;
}

}  // namespace sonde
