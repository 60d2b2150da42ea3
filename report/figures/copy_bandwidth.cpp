// Copy bandwidth against size, method switches and cache edges marked.
#include "report/copy_figures.h"
#include "report/show.h"

namespace sonde {
namespace {

double gigabytes_per_s(double bytes, double seconds) { return bytes / seconds * 1e-9; }

std::vector<Figure> build(const FigureInput& input) {
  if (!input.analysis.copy || input.analysis.copy->series.empty()) return {};
  const CopyPicture picture = copy_picture(*input.analysis.copy);
  if (picture.series.empty()) return {};
  Figure figure;
  figure.id = "copy_bandwidth";
  figure.title = "Copy bandwidth against size";
  if (picture.series.size() == 1) {
    figure.title += ", " + picture.series[0]->direction + ", method " + picture.series[0]->method;
  }
  figure.x = {"bytes copied", true, TickStyle::binary, false};
  figure.y = {"bandwidth (GB/s, bytes counted once)", true, TickStyle::plain, false};
  for (std::size_t i = 0; i < picture.series.size(); ++i) {
    for (Series& line : copy_lines(*picture.series[i], picture.names[i], gigabytes_per_s)) {
      figure.series.push_back(std::move(line));
    }
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
