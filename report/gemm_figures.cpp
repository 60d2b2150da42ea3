#include "report/gemm_figures.h"

#include <algorithm>

#include "core/parse.h"

namespace sonde {

std::string shapes_sentence(const GemmAnalysis& gemm) {
  const std::size_t shapes = gemm.shapes.size();
  std::string text = format_count(static_cast<std::int64_t>(shapes)) +
                     (shapes == 1 ? " shape of " : " shapes of ") + gemm.dtype + ", kernel " +
                     gemm.kernel + (gemm.state.empty() ? "" : ", " + gemm.state + " operands") +
                     ", each at its median time";
  if (gemm.planned > shapes) {
    const std::size_t missing = gemm.planned - shapes;
    text += "; " + format_count(static_cast<std::int64_t>(missing)) +
            (missing == 1 ? " more has no usable sample" : " more have no usable sample");
  }
  return text + ".";
}

FigurePoint shape_point(const GemmShape& shape, double x, double y) {
  FigurePoint point{x, y, std::nullopt, std::nullopt,
                    shape.name() + (shape.label.empty() ? "" : " (" + shape.label + ")")};
  if (shape.time.interval && shape.time.interval->low > 0) {
    point.low = y * *shape.time.value / shape.time.interval->high;
    point.high = y * *shape.time.value / shape.time.interval->low;
  }
  return point;
}

Series roof_series(const GemmRoofline& line, const std::string& name, double from, double to,
                   double scale) {
  Series series{name, SeriesStyle::line, false, {}};
  const auto add = [&](double x) {
    series.points.push_back({x, std::min(line.peak, x * line.bandwidth) * scale, {}, {}, ""});
  };
  add(from);
  if (line.ridge() > from && line.ridge() < to) add(line.ridge());
  add(to);
  series.dashed = !line.suffix.empty();
  return series;
}

}  // namespace sonde
