// Rate of each GEMM shape against its intensity, under the measured and the datasheet roofs.
#include <algorithm>
#include <cmath>

#include "report/gemm_figures.h"
#include "report/show.h"

namespace sonde {
namespace {

std::vector<Figure> build(const FigureInput& input) {
  if (!input.analysis.gemm || input.analysis.gemm->shapes.empty()) return {};
  const GemmAnalysis& gemm = *input.analysis.gemm;
  const GemmRoofline* main = gemm.main_roofline();
  Figure figure;
  figure.id = "roofline";
  figure.title = "Roofline of the GEMM shapes, " + gemm.dtype;
  const bool small = gemm.peak.value < 1e12;
  const double scale = small ? 1e-9 : 1e-12;
  figure.x = {"intensity (FLOP/B, each operand moved once)", true, TickStyle::plain, false};
  figure.y = {small ? "rate (GFLOP/s)" : "rate (TFLOP/s)", true, TickStyle::plain, false};
  Series below{main ? "below the ridge of " + show_number(main->ridge(), 3) + " FLOP/B" : "",
               SeriesStyle::points,
               false,
               {}};
  Series above{"above the ridge", SeriesStyle::points, false, {}};
  Series outside{"faster than its roof", SeriesStyle::points, true, {}};
  double from = HUGE_VAL, to = 0;
  for (std::size_t i = 0; i < gemm.shapes.size(); ++i) {
    const GemmShape& shape = gemm.shapes[i];
    const FigurePoint point = shape_point(shape, shape.intensity, shape.rate() * scale);
    from = std::min(from, point.x);
    to = std::max(to, point.x);
    const bool beyond = main && main->fractions[i].value_or(0) > 1 + 1e-9;
    (beyond                                               ? outside
     : main == nullptr || shape.intensity < main->ridge() ? below
                                                          : above)
        .points.push_back(point);
  }
  if (!(to > from * 1.05)) {  // one shape: the roofs still need a length
    from /= 2;
    to *= 2;
  }
  figure.series = {below, above, outside};
  for (Series& series : figure.series) series.bars = gemm.shapes.size() <= kMostIntervals;
  for (const GemmRoofline& line : gemm.rooflines) {
    if (line.suffix == ".sampled_clock") continue;  // another roof for each shape
    figure.series.push_back(roof_series(line, line.name + " roofs", from, to, scale));
  }
  std::erase_if(figure.series, [](const Series& series) { return series.points.empty(); });

  figure.caption = shapes_sentence(gemm);
  if (main != nullptr) {
    const auto part = [&](const char* where, const Estimate& middle) {
      if (!middle.value) return;
      figure.caption += " " + std::to_string(middle.n) + where + " reach " +
                        show_number(100 * *middle.value, 3) + " % of it in the median.";
    };
    figure.caption += " The ridge of the " + main->name + " roofs lies at " +
                      show_number(main->ridge(), 4) + " FLOP/B (peak " +
                      show_quantity(main->peak, "FLOP/s") + ", memory " +
                      show_quantity(main->bandwidth, "B/s") +
                      "); attainable is the lower of peak and intensity times bandwidth.";
    part(" below the ridge", main->below_ridge);
    part(" above", main->above_ridge);
    if (main->above_roof > 0) {
      figure.caption += " " + std::to_string(main->above_roof) +
                        (main->above_roof == 1 ? " shape is" : " shapes are") +
                        " above the roofs: operands that stay in a cache, noise, or roofs that "
                        "this run shows too low.";
    }
  }
  for (const std::string& note : gemm.notes) figure.caption += " " + note;
  figure.caption += " " + closing_sentence(input.analysis, "gemm");
  return {figure};
}

[[maybe_unused]] const bool registered = register_figure({70, "gemm", build});

}  // namespace
}  // namespace sonde
