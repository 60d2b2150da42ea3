#include <map>
#include <set>

#include "core/parse.h"

#include "report/headlines.h"
#include "report/html.h"
#include "report/page_parts.h"

namespace sonde {
namespace {

/// Links to the files of a picture that are there.
std::string files_of(const Figure& figure, const std::filesystem::path& out) {
  std::string links;
  for (const char* form : {"svg", "png", "pdf", "gp", "csv", "dat"}) {
    const std::string name = figure.id + "." + form;
    const bool picture = std::string_view(form) == "svg" || std::string_view(form) == "png";
    std::error_code error;
    if (picture ? !complete_picture(out / name, form) : !std::filesystem::exists(out / name, error))
      continue;
    const bool script = std::string_view(form) == "gp";
    links += (links.empty() ? "" : ", ") + std::string("<a href=\"") +
             relative_link(out / name, out) + "\">" + (script ? "gnuplot" : form) + "</a>";
  }
  return links;
}

std::string cell(const Finding& finding, const std::optional<double>& value) {
  return html_text(value ? show_value(finding, *value) : "");
}

/// What a column is sorted by.
std::string key(const std::optional<double>& value) {
  return value ? " data-v=\"" + html_text(format_number(*value)) + "\"" : " data-v=\"\"";
}

std::string head(const std::vector<std::pair<std::string, bool>>& columns) {
  std::string out = "<thead><tr>";
  for (const auto& [name, numeric] : columns) {
    out += std::string("<th scope=\"col\"") + (numeric ? " class=\"n\"" : "") + ">" +
           html_text(name) + "</th>";
  }
  return out + "</tr></thead>\n";
}

std::string table(const std::string& caption, const std::string& content) {
  return "<div class=\"data\"><div class=\"scroll\"><table><caption>" + html_text(caption) +
         "</caption>\n" + content + "</table></div></div>\n";
}

}  // namespace

std::string code_html(const std::string& text) { return "<code>" + html_text(text) + "</code>"; }

std::string figure_html(const Figure& figure, const std::filesystem::path& out) {
  const std::string files = files_of(figure, out);
  return "<figure class=\"picture\" id=\"" + html_text(figure.id) + "\"><h4>" +
         html_text(figure.title) + "</h4>\n<div class=\"plot\" data-figure=\"" +
         html_text(figure.id) +
         "\"></div>\n<noscript><p>This page draws its pictures with a "
         "script. " +
         (files.empty() ? std::string("The files of this picture were not drawn.")
                        : "This picture as a file: " + files + ".") +
         "</p></noscript>\n<figcaption>" + html_text(figure.caption) +
         "</figcaption>\n<p class=\"files\">" +
         (files.empty() ? "Files: the picture was not drawn." : "Files: " + files) +
         "</p></figure>\n";
}

std::string findings_html(const RunReport& report, const std::string& prefix) {
  std::string rows;
  std::size_t count = 0;
  for (const Finding& finding : report.findings) {
    if (finding.name.rfind(prefix + ".", 0) != 0) continue;
    ++count;
    rows += "<tr><td class=\"k\">" + code_html(finding.name) + "</td><td class=\"n\"" +
            key(finding.value) + ">" + (finding.value ? cell(finding, finding.value) : "unknown") +
            "</td>";
    for (const std::optional<double>& end : {finding.low, finding.high}) {
      rows += "<td class=\"n\"" + key(end) + ">" + cell(finding, end) + "</td>";
    }
    rows += "<td class=\"n\">" + (finding.n ? std::to_string(*finding.n) : "") +
            "</td><td class=\"basis\">" + html_text(finding.basis) + "</td></tr>\n";
  }
  if (count == 0) return "";
  const std::string all = count == 1 ? "The finding" : "All " + std::to_string(count) + " findings";
  return std::string("<details") + (count <= 8 ? " open" : "") + "><summary>" + all + "</summary>" +
         table("Findings of " + prefix, head({{"finding", false},
                                              {"value", true},
                                              {"low", true},
                                              {"high", true},
                                              {"samples", true},
                                              {"basis", false}}) +
                                            "<tbody>\n" + rows + "</tbody>") +
         "</details>\n";
}

std::string findings_of_runs_html(const std::vector<const RunReport*>& runs) {
  std::vector<std::string> names;
  std::vector<std::map<std::string, const Finding*>> of_run(runs.size());
  std::set<std::string> seen;
  for (std::size_t i = 0; i < runs.size(); ++i) {
    for (const Finding& finding : runs[i]->findings) {
      of_run[i].emplace(finding.name, &finding);
      if (seen.insert(finding.name).second) names.push_back(finding.name);
    }
  }
  std::vector<std::pair<std::string, bool>> columns = {{"finding", false}};
  for (const RunReport* run : runs) columns.emplace_back(run->run.name, true);
  std::string rows;
  for (const std::string& name : names) {
    rows += "<tr><td class=\"k\">" + code_html(name) + "</td>";
    for (const auto& findings : of_run) {
      const auto found = findings.find(name);
      if (found == findings.end()) {
        rows += "<td class=\"n\" data-v=\"\">not found</td>";
        continue;
      }
      const Finding& one = *found->second;
      rows +=
          "<td class=\"n\"" + key(one.value) + ">" + (one.value ? cell(one, one.value) : "unknown");
      if (one.low || one.high) {
        rows += " <span class=\"soft\">" + html_text(show_range(one)) + "</span>";
      }
      rows += "</td>";
    }
    rows += "</tr>\n";
  }
  return "<details><summary>All findings side by side</summary>" +
         table("Findings of the runs side by side",
               head(columns) + "<tbody>\n" + rows + "</tbody>") +
         "</details>\n";
}

}  // namespace sonde
