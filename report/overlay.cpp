#include "report/overlay.h"

#include <algorithm>
#include <cmath>

#include "report/gemm_figures.h"
#include "report/show.h"

namespace sonde {

namespace {

/// The shapes of each run over its attainable rates: 100 % is every run's own roof.
Figure roof_shares(const std::vector<const RunReport*>& with, const Figure& whole) {
  Figure figure;
  figure.id = "roofline_runs_share";
  figure.share_of = whole.id;
  figure.title = "GEMM shapes of the runs, as a share of each one's roof";
  figure.x = whole.x;
  figure.y = {"rate over attainable (%)", false, TickStyle::plain, true};
  for (const RunReport* run : with) {
    const GemmAnalysis& gemm = *run->analysis.gemm;
    const GemmRoofline* line = gemm.main_roofline();
    if (line == nullptr) continue;
    Series points{run->run.name, SeriesStyle::points, false, {}};
    points.bars = gemm.shapes.size() <= kMostIntervals;
    for (std::size_t i = 0; i < gemm.shapes.size(); ++i) {
      if (!line->fractions[i]) continue;
      points.points.push_back(
          shape_point(gemm.shapes[i], gemm.shapes[i].intensity, 100 * *line->fractions[i]));
    }
    figure.series.push_back(std::move(points));
    figure.caption += run_words(*run) + ": of its " + line->name + " roofs. ";
  }
  figure.marks.push_back(
      {Mark::Kind::horizontal, 100, std::nullopt, std::nullopt, std::nullopt, "each one's roof"});
  drop_undrawable(figure);
  return figure;
}

}  // namespace

std::string run_words(const RunReport& run) {
  return run.run.name + " is " + run.run.manifest.device.product + " (" +
         describe(run.analysis.source()) + ")";
}

std::vector<Figure> overlay_figures(const std::vector<const RunReport*>& runs) {
  std::vector<Figure> all;
  for (const auto overlay : {overlay_rooflines, overlay_copies, overlay_streams, overlay_chases}) {
    for (Figure& figure : overlay(runs)) all.push_back(std::move(figure));
  }
  return all;
}

std::vector<Figure> overlay_rooflines(const std::vector<const RunReport*>& runs) {
  std::vector<const RunReport*> with;
  for (const RunReport* run : runs) {
    if (run->analysis.gemm && !run->analysis.gemm->shapes.empty()) with.push_back(run);
  }
  if (with.size() < 2) return {};
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
    points.bars = gemm.shapes.size() <= kMostIntervals;
    for (const GemmShape& shape : gemm.shapes) {
      points.points.push_back(shape_point(shape, shape.intensity, shape.rate() * kScale));
    }
    figure.series.push_back(std::move(points));
    figure.caption +=
        (figure.caption.empty() ? "" : " ") + run_words(*run) + ": " + shapes_sentence(gemm);
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
  Figure share = roof_shares(with, figure);
  std::vector<Figure> figures = {std::move(figure)};
  if (share.series.size() > 1) figures.push_back(std::move(share));
  return figures;
}

}  // namespace sonde
