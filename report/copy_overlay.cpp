// Copies of several devices on top of each other, each as a share of its own peak.
#include <set>

#include "report/copy_figures.h"
#include "report/overlay.h"
#include "report/show.h"

namespace sonde {
namespace {

/// What one device's copies are measured against.
struct Peak {
  double bytes_per_s = 0;  ///< of copied bytes, counted once
  std::string what;
};

std::optional<Peak> peak_of(const RunAnalysis& analysis, const CopySeries& series) {
  const auto roof = analysis.run->manifest.device.roof("memory_bytes_per_s");
  if (roof && *roof > 0 && series.direction == "d2d") {
    return Peak{*roof / 2, "datasheet memory, read plus write"};
  }
  if (!series.shape.peak) return std::nullopt;
  return Peak{series.shape.peak->x / *series.shape.peak->y.value, "its own best copy"};
}

}  // namespace

std::optional<Figure> overlay_copies(const std::vector<const RunReport*>& runs) {
  Figure figure;
  figure.id = "copy_devices";
  figure.title = "Copies of several devices, as a share of each one's peak";
  figure.x = {"bytes copied", true, TickStyle::binary, false};
  figure.y = {"share of the peak (%)", true, TickStyle::plain, false};
  std::set<TimeSource> sources;
  std::set<const RunReport*> shown;
  for (const RunReport* report : runs) {
    const RunAnalysis* const one = &report->analysis;
    if (!one->copy) continue;
    for (const CopySeries* series : one->copy->main_series()) {
      const std::optional<Peak> peak = peak_of(*one, *series);
      if (!peak) continue;
      const std::string name = one->run->name + ", " + series->direction + ", of " + peak->what;
      const CopyValue share = [&](double bytes, double seconds) {
        return 100 * bytes / seconds / peak->bytes_per_s;
      };
      for (Series& line : copy_lines(*series, name, share)) {
        figure.series.push_back(std::move(line));
      }
      figure.caption += one->run->name + ": " + series->direction + ", peak " +
                        show_quantity(peak->bytes_per_s, "B/s") + " copied (" + peak->what + "), " +
                        describe(one->source()) + ". ";
      sources.insert(one->source());
      shown.insert(report);
    }
  }
  if (shown.size() < 2) return std::nullopt;  // several directions of one are its own pictures
  figure.caption += sources.size() > 1 ? "Their times are not of one kind." : "";
  drop_undrawable(figure);
  return figure;
}

}  // namespace sonde
