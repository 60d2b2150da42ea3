#include "report/gemm_html.h"

#include "core/parse.h"
#include "report/html.h"
#include "report/show.h"

namespace sonde {

std::string gemm_notices_html(const GemmAnalysis& gemm) {
  std::string out;
  if (gemm.impossible && !gemm.impossible->empty()) {
    std::vector<std::string> lines = {
        "Faster than the " + gemm.impossible_by +
        " allow, by more than the 95 % intervals of both. Either a roof is wrong or the work was "
        "not "
        "done in memory; until that is known this run proves nothing about its device."};
    constexpr std::size_t kMostNamed = 10;
    for (std::size_t i = 0; i < gemm.impossible->size() && i < kMostNamed; ++i) {
      const GemmShape& shape = gemm.shapes[(*gemm.impossible)[i]];
      lines.push_back(shape.name() + ": " + show_quantity(shape.rate(), "FLOP/s") + " at " +
                      show_number(shape.intensity, 3) + " FLOP/B");
    }
    if (gemm.impossible->size() > kMostNamed) {
      lines.push_back("and " + std::to_string(gemm.impossible->size() - kMostNamed) + " more");
    }
    out +=
        notice_html(" bad", "Impossible shapes: " + std::to_string(gemm.impossible->size()), lines);
  }
  out += notice_html("", "Roofs and conditions", gemm.notes);
  std::vector<std::string> patterns;
  for (const GemmPattern& pattern : gemm.patterns) patterns.push_back(pattern.sentence);
  out += notice_html("", "Patterns in what the roofs do not explain", patterns);
  return out;
}

std::string published_html(const std::vector<PublishedBeside>& published) {
  if (published.empty()) return "";
  std::string rows;
  for (const PublishedBeside& row : published) {
    for (std::size_t i = 0; i < row.found.size(); ++i) {
      const bool first = i == 0;
      rows += "<tr><td class=\"k\">" + html_text(first ? row.quantity : "") +
              "</td><td class=\"n\">" + html_text(first ? row.published : "") +
              "</td><td class=\"n\">" + html_text(row.found[i].second) + "</td><td>" +
              html_text(row.found[i].first) + "</td><td class=\"basis\">" +
              html_text(first ? row.source : "") + "</td></tr>\n";
    }
  }
  return "<h4>Beside what was published</h4>\n<p class=\"soft\">The publication names neither its "
         "shapes nor, for a fraction, the statistic and the clock of the roof; each reading stands "
         "beside its figure.</p>\n<div class=\"scroll\"><table>\n<thead><tr>"
         "<th scope=\"col\">quantity</th><th scope=\"col\" class=\"n\">published</th>"
         "<th scope=\"col\" class=\"n\">this run</th><th scope=\"col\">statistic of this run</th>"
         "<th scope=\"col\">source</th></tr></thead>\n<tbody>\n" +
         rows + "</tbody></table></div>\n";
}

}  // namespace sonde
