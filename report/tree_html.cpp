#include "report/tree_html.h"

#include <algorithm>

#include "report/html.h"
#include "report/show.h"

namespace sonde {
namespace {

/// The groups of `level` that hold only cores of `within` (all, for the coarsest), each with those
/// of the next level inside it.
void groups_of(std::string& out, const CoreTree& tree, std::size_t level,
               const std::vector<CoreName>* within) {
  if (level >= tree.levels.size()) return;
  const auto inside = [&](const CoreName& core) {
    return within == nullptr || std::find(within->begin(), within->end(), core) != within->end();
  };
  out += "<ul>\n";
  for (const std::vector<CoreName>& group : tree.levels[level].groups) {
    if (!std::all_of(group.begin(), group.end(), inside)) continue;
    out += "<li><code>" + html_text(format_core_set(group)) + "</code> <span class=\"soft\">" +
           html_text(std::to_string(group.size()) + (group.size() == 1 ? " core" : " cores")) +
           "</span>";
    groups_of(out, tree, level + 1, &group);
    out += "</li>\n";
  }
  out += "</ul>\n";
}

}  // namespace

std::string wave_html(const RunAnalysis& analysis) {
  if (!analysis.chase || !analysis.tree) return "";
  std::string out;
  for (const BlockSeries& series : analysis.chase->blocks) {
    if (!series.wave.found) continue;
    const auto cores =
        std::count_if(analysis.tree->order.begin(), analysis.tree->order.end(),
                      [&](const CoreName& core) { return core.kind == series.kind; });
    if (cores == 0) continue;
    const bool agree = series.wave.last_in <= cores && cores < series.wave.first_beyond;
    out += "<p>One wave holds at least " + std::to_string(series.wave.last_in) +
           " and fewer than " + std::to_string(series.wave.first_beyond) + " blocks on " +
           html_text(series.kind) + " cores; " + std::to_string(cores) +
           " such cores were found: " + (agree ? "they agree" : "they disagree") + ".</p>\n";
  }
  return out;
}

std::string tree_html(const CoreTree& tree) {
  if (tree.levels.empty()) {
    return "<p>" +
           html_text(std::string(tree.none_found ? "None found" : "Cannot tell") +
                     (tree.reason.empty() ? "." : ": " + tree.reason)) +
           "</p>\n";
  }
  std::string out =
      "<div class=\"scroll\"><table>\n<thead><tr><th scope=\"col\">level</th><th scope=\"col\" "
      "class=\"n\">groups</th><th scope=\"col\">cores a group</th><th scope=\"col\" "
      "class=\"n\">stability</th><th scope=\"col\">from</th></tr></thead>\n<tbody>\n";
  for (const TreeLevel& level : tree.levels) {
    std::size_t least = 0, most = 0;
    for (const auto& group : level.groups) {
      least = least == 0 ? group.size() : std::min(least, group.size());
      most = std::max(most, group.size());
    }
    out += "<tr><td>" + html_text(level.name) + "</td><td class=\"n\">" +
           std::to_string(level.groups.size()) + "</td><td>" + std::to_string(least) +
           (most == least ? "" : " to " + std::to_string(most)) + "</td><td class=\"n\">" +
           html_text(level.stability ? show_number(100 * *level.stability, 3) + " %" : "unknown") +
           "</td><td class=\"basis\">" + html_text(level.basis) + "</td></tr>\n";
  }
  out += "</tbody></table></div>\n<details><summary>Groups, coarsest first</summary>\n";
  groups_of(out, tree, 0, nullptr);
  return out + "</details>\n";
}

}  // namespace sonde
