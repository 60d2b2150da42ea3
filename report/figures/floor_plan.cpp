// The tree as nested boxes, each core in its box. Positions are schematic.
#include "report/floor_plan.h"
#include "report/figure.h"

namespace sonde {
namespace {

std::vector<Figure> build(const FigureInput& input) {
  const auto& tree = input.analysis.tree;
  if (!tree || tree->levels.empty()) return {};
  Figure figure;
  figure.id = "floor_plan";
  figure.probe = input.analysis.profile              ? "profile"
                 : !input.analysis.interfere.empty() ? "interfere"
                                                     : "handoff";
  figure.title = "Floor plan: which cores belong together (positions schematic)";
  figure.boxes = floor_plan(*tree);
  figure.height = floor_plan_height(figure.boxes);
  figure.caption = "Boxes inside boxes, coarsest first:";
  for (std::size_t l = 0; l < tree->levels.size(); ++l) {
    figure.caption += (l == 0 ? " " : ", ") + std::to_string(tree->levels[l].groups.size()) +
                      " groups of " + tree->levels[l].name;
  }
  figure.caption +=
      ". Positions are schematic: rows say which cores belong together, not where they lie. " +
      closing_sentence(input.analysis, figure.probe);
  return {figure};
}

[[maybe_unused]] const bool registered = register_figure({31, "profile", build});

}  // namespace
}  // namespace sonde
