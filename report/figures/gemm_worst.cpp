// The ten shapes furthest below attainable, each with the found patterns it has.
#include <algorithm>

#include "report/gemm_figures.h"
#include "report/show.h"

namespace sonde {
namespace {

std::vector<Figure> build(const FigureInput& input) {
  if (!input.analysis.gemm) return {};
  const GemmAnalysis& gemm = *input.analysis.gemm;
  const GemmRoofline* line = gemm.main_roofline();
  // Fewer shapes have no worst ten.
  constexpr std::size_t kFewestShapes = 20;
  if (line == nullptr || gemm.shapes.size() < kFewestShapes) return {};
  Figure figure;
  figure.id = "gemm_worst";
  figure.title = "The slowest GEMM shapes against attainable, " + gemm.dtype;
  figure.x.label = "reached, and lost to each pattern found";
  figure.y.label = "M x N x K, lowest at the top";
  HeatMap map;
  map.scale = "share of attainable, or of the time (%)";
  map.at_least = Interval{0, 100};
  map.columns = {"reached"};
  for (const GemmPattern& pattern : gemm.patterns) map.columns.push_back(pattern.words());
  figure.caption = shapes_sentence(gemm) + " Against the " + line->name + " roofs, lowest first:";
  map.rows.reserve(gemm.worst.size());
  map.cells.reserve(gemm.worst.size() * map.columns.size());
  for (const GemmWorst& worst : gemm.worst) {
    const GemmShape& shape = gemm.shapes[worst.shape];
    map.rows.push_back(shape.name());
    map.cells.emplace_back(100 * worst.fraction);
    for (const GemmPattern& pattern : gemm.patterns) {
      map.cells.emplace_back(100 * pattern.loss[worst.shape]);
    }
    figure.caption += (map.rows.size() == 1 ? " " : "; ") + shape.name() +
                      (shape.label.empty() ? "" : " (" + shape.label + ")") + " " +
                      show_number(100 * worst.fraction, 2) + " %, " + worst.reason;
  }
  figure.caption += ". " + closing_sentence(input.analysis, "gemm");
  figure.height = heat_map_height(map);
  figure.heat = std::move(map);
  return {figure};
}

[[maybe_unused]] const bool registered = register_figure({78, "gemm", build});

}  // namespace
}  // namespace sonde
