#include "report/copy_figures.h"

#include <cmath>
#include <set>

#include "report/show.h"

namespace sonde {

CopyPicture copy_picture(const CopyAnalysis& copy) {
  CopyPicture picture;
  std::set<std::string> directions, states, alignments;
  for (const CopySeries& series : copy.series) {
    picture.series.push_back(&series);
    directions.insert(series.direction);
    states.insert(series.state);
    alignments.insert(series.alignment);
  }
  for (const CopySeries* series : picture.series) {
    if (picture.series.size() == 1) {
      picture.names.emplace_back();
      continue;
    }
    std::string name = series->direction + ", " + series->method;
    if (states.size() > 1) name += ", " + series->state;
    if (alignments.size() > 1) name += ", aligned to " + series->alignment + " B";
    picture.names.push_back(name);
  }
  for (const CopySeries* series : copy.main_series()) {
    const std::string prefix = directions.size() > 1 ? series->direction + ": " : "";
    std::string& text = picture.sentence;
    if (!text.empty()) text += " ";
    text += prefix;
    const CopyShape& shape = series->shape;
    if (shape.cannot_tell) {
      text += "too few sizes to look for a method switch.";
      continue;
    }
    if (shape.switches.empty()) text += "No method switch found.";
    for (std::size_t i = 0; i < shape.switches.size(); ++i) {
      const CopySwitch& found = shape.switches[i];
      picture.marks.push_back({Mark::Kind::vertical, found.last_old, found.first_new, std::nullopt,
                               std::nullopt,
                               prefix + "switch after " + show_short_size(found.last_old)});
      text += std::string(i > 0 ? " " : "") + "Method switch between " +
              show_quantity(found.last_old, "B") + " and " + show_quantity(found.first_new, "B") +
              ": " + (found.jump_s > 0 ? "+" : "\u2212") +
              show_quantity(std::abs(found.jump_s) * 1e9, "ns") + ".";
    }
    for (const CopyEdge& edge : shape.edges) {
      picture.marks.push_back({Mark::Kind::vertical, edge.last_before, std::nullopt, std::nullopt,
                               std::nullopt,
                               prefix + "edge from " + show_short_size(edge.last_before)});
      text += " Edge (a rise in time per byte" +
              (edge.capacity ? ", where two buffers fill " + show_short_size(*edge.capacity)
                             : std::string(", without a jump")) +
              ") from " + show_quantity(edge.last_before, "B") + ".";
    }
  }
  return picture;
}

}  // namespace sonde
