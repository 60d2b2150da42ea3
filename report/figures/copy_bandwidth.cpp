// Copy bandwidth against size, method switches and cache edges marked.
#include <cmath>

#include "report/copy_figures.h"
#include "report/show.h"

namespace sonde {
namespace {

std::vector<Figure> build(const FigureInput& input) {
  if (!input.analysis.copy || input.analysis.copy->series.empty()) return {};
  const CopyPicture picture = copy_picture(*input.analysis.copy);
  Figure figure;
  figure.id = "copy_bandwidth";
  figure.title = "Copy bandwidth against size";
  if (picture.series.size() == 1) {
    figure.title += ", " + picture.series[0]->direction + ", method " + picture.series[0]->method;
  }
  figure.x = {"bytes copied", true, TickStyle::binary, false};
  figure.y = {"bandwidth (GB/s, bytes counted once)", true, TickStyle::plain, false};
  for (std::size_t i = 0; i < picture.series.size(); ++i) {
    Series line{picture.names[i], SeriesStyle::line_points, false, {}};
    for (const CurvePoint& point : picture.series[i]->time) {
      const double scale = point.x * 1e-9;
      const double time = *point.y.value;
      FigurePoint drawn{point.x, time > 0 ? scale / time : std::nan(""), std::nullopt, std::nullopt,
                        show_quantity(point.x, "B")};
      if (point.y.interval && point.y.interval->low > 0) {
        drawn.low = scale / point.y.interval->high;
        drawn.high = scale / point.y.interval->low;
      }
      line.points.push_back(drawn);
    }
    figure.series.push_back(std::move(line));
  }
  figure.marks = picture.marks;
  if (const Finding* peak = find_finding(input.findings, "copy.peak_bytes_per_s");
      peak && peak->value) {
    figure.caption = "Best " + show_quantity(*peak->value, peak->unit);
    const Finding* used = find_finding(input.findings, "copy.utilisation");
    if (used && used->value) {
      figure.caption += ", read plus write " + show_number(100 * *used->value, 3) +
                        " % of the datasheet memory bandwidth";
    }
    figure.caption += ". ";
  }
  figure.caption += picture.sentence + " " + closing_sentence(input.analysis, "copy");
  return {figure};
}

[[maybe_unused]] const bool registered = register_figure({60, "copy", build});

}  // namespace
}  // namespace sonde
