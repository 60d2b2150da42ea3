#include "report/overlay.h"

#include <algorithm>
#include <cmath>

#include "report/gemm_figures.h"
#include "report/show.h"

namespace sonde {

std::optional<Figure> overlay_rooflines(const std::vector<const RunReport*>& runs) {
  std::vector<const RunReport*> with;
  for (const RunReport* run : runs) {
    if (run->analysis.gemm && !run->analysis.gemm->shapes.empty()) with.push_back(run);
  }
  if (with.size() < 2) return std::nullopt;
  Figure figure;
  figure.id = "roofline_runs";
  figure.title = "Rooflines of the runs together";
  figure.x = {"intensity (FLOP/B, each operand moved once)", true, TickStyle::plain, false};
  figure.y = {"rate (GFLOP/s)", true, TickStyle::plain, false};
  constexpr double kScale = 1e-9;
  double from = HUGE_VAL, to = 0;
  for (const RunReport* run : with) {
    for (const GemmShape& shape : run->analysis.gemm->shapes) {
      from = std::min(from, shape.intensity);
      to = std::max(to, shape.intensity);
    }
  }
  std::vector<Series> roofs;
  for (const RunReport* run : with) {
    const GemmAnalysis& gemm = *run->analysis.gemm;
    Series points{run->run.name, SeriesStyle::points, false, {}};
    for (const GemmShape& shape : gemm.shapes) {
      points.points.push_back({shape.intensity, shape.rate() * kScale, {}, {}, shape.name()});
    }
    figure.series.push_back(std::move(points));
    figure.caption += (figure.caption.empty() ? "" : " ") + run->run.name + " is " +
                      run->run.manifest.device.product + " (" + describe(run->analysis.source()) +
                      "): " + shapes_sentence(gemm);
    const GemmRoofline* line = gemm.main_roofline();
    if (line == nullptr) continue;
    roofs.push_back(
        roof_series(*line, run->run.name + ", " + line->name + " roofs", from, to, kScale));
    if (line->median.value) {
      figure.caption += " Median " + show_number(100 * *line->median.value, 3) + " % of the " +
                        line->name + " roofs.";
    }
  }
  figure.series.insert(figure.series.end(), roofs.begin(), roofs.end());
  drop_undrawable(figure);
  return figure;
}

}  // namespace sonde
