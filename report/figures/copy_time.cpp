// Copy time against size, method switches and cache edges marked, fitted pieces drawn.
#include "report/copy_figures.h"
#include "report/show.h"

namespace sonde {
namespace {

double microseconds(double, double seconds) { return seconds * 1e6; }

std::vector<Figure> build(const FigureInput& input) {
  if (!input.analysis.copy || input.analysis.copy->series.empty()) return {};
  const CopyPicture picture = copy_picture(*input.analysis.copy);
  if (picture.series.empty()) return {};
  Figure figure;
  figure.id = "copy_time";
  figure.title = "Copy time against size";
  if (picture.series.size() == 1) {
    figure.title += ", " + picture.series[0]->direction + ", method " + picture.series[0]->method;
  }
  figure.x = {"bytes copied", true, TickStyle::binary, false};
  figure.y = {"time (\u00b5s)", true, TickStyle::plain, false};
  for (std::size_t i = 0; i < picture.series.size(); ++i) {
    for (Series& line : copy_lines(*picture.series[i], picture.names[i], microseconds)) {
      figure.series.push_back(std::move(line));
    }
  }
  // Of one curve: those of many would hide each other.
  const CopyShape& shape = picture.series[0]->shape;
  const bool drawn = picture.series.size() == 1 && !shape.pieces.empty();
  if (drawn) {
    if (figure.series[0].name.empty()) figure.series[0].name = "measured";
    figure.series.push_back(copy_pieces(shape, "fitted pieces", microseconds));
  }
  figure.marks = picture.marks;
  if (drawn) {
    figure.caption = std::to_string(shape.pieces.size()) +
                     (shape.pieces.size() == 1 ? " straight piece" : " straight pieces") +
                     " fitted (dashed). ";
  }
  figure.caption += picture.sentence + " " + closing_sentence(input.analysis, "copy");
  return {figure};
}

[[maybe_unused]] const bool registered = register_figure({50, "copy", build});

}  // namespace
}  // namespace sonde
