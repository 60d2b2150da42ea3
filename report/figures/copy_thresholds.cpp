// Copies with the C library's thresholds moved, on top of each other: what moves is a switch.
#include "report/copy_figures.h"
#include "report/finding_list.h"
#include "report/show.h"

namespace sonde {
namespace {

double gigabytes_per_s(double bytes, double seconds) { return bytes / seconds * 1e-9; }

std::string setting_name(const CopySeries& series, const CopySeries& usual) {
  if (series.tunables.empty()) return "as the loader sets them";
  for (const MovedSwitch& one : usual.thresholds.moved) {
    const std::string ending = one.threshold + "=" + exact(one.bytes);
    if (series.tunables.ends_with(ending)) {
      return one.threshold + " at " + show_short_size(one.bytes);
    }
  }
  return series.tunables;
}

std::vector<Figure> build(const FigureInput& input) {
  std::vector<Figure> figures;
  if (!input.analysis.copy) return figures;
  for (const CopySeries& usual : input.analysis.copy->series) {
    if (usual.thresholds.moved.empty()) continue;
    Figure figure;
    figure.id = "copy_thresholds";
    figure.title = "Copies with the C library's thresholds moved";
    figure.x = {"bytes copied", true, TickStyle::binary, false};
    figure.y = {"bandwidth (GB/s, bytes counted once)", true, TickStyle::plain, false};
    for (const CopySeries& series : input.analysis.copy->series) {
      if (!series.same_but_tunables(usual)) continue;
      for (Series& line : copy_lines(series, setting_name(series, usual), gigabytes_per_s)) {
        figure.series.push_back(std::move(line));
      }
      for (const CopySwitch& found : series.shape.switches) {
        figure.marks.push_back({Mark::Kind::vertical, found.last_old, found.first_new, std::nullopt,
                                std::nullopt, "switch after " + show_short_size(found.last_old)});
      }
    }
    figure.caption =
        threshold_sentence(usual.thresholds) + closing_sentence(input.analysis, "copy");
    figures.push_back(std::move(figure));
  }
  return figures;
}

[[maybe_unused]] const bool registered = register_figure({62, "copy", build});

}  // namespace
}  // namespace sonde
