// Copy time against size, method switches and cache edges marked.
#include "report/copy_figures.h"
#include "report/show.h"

namespace sonde {
namespace {

std::vector<Figure> build(const FigureInput& input) {
  if (!input.analysis.copy || input.analysis.copy->series.empty()) return {};
  const CopyPicture picture = copy_picture(*input.analysis.copy);
  Figure figure;
  figure.id = "copy_time";
  figure.title = "Copy time against size";
  if (picture.series.size() == 1) {
    figure.title += ", " + picture.series[0]->direction + ", method " + picture.series[0]->method;
  }
  figure.x = {"bytes copied", true, TickStyle::binary, false};
  figure.y = {"time (\u00b5s)", true, TickStyle::plain, false};
  for (std::size_t i = 0; i < picture.series.size(); ++i) {
    Series line{picture.names[i], SeriesStyle::line_points, false, {}};
    for (const CurvePoint& point : picture.series[i]->time) {
      line.points.push_back(figure_point(point, 1e6, show_quantity(point.x, "B")));
    }
    figure.series.push_back(std::move(line));
  }
  figure.marks = picture.marks;
  figure.caption = picture.sentence + " " + closing_sentence(input.analysis, "copy");
  return {figure};
}

[[maybe_unused]] const bool registered = register_figure({50, "copy", build});

}  // namespace
}  // namespace sonde
