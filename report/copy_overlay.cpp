// Copies of several devices on top of each other: as they are, and each as a share of its own peak.
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

std::vector<Figure> overlay_copies(const std::vector<const RunReport*>& runs) {
  Figure whole, share;
  whole.id = "copy_runs";
  whole.title = "Copies of the runs together";
  whole.x = share.x = {"bytes copied", true, TickStyle::binary, false};
  whole.y = {"bandwidth (GB/s, bytes counted once)", true, TickStyle::plain, false};
  share.id = "copy_runs_share";
  share.share_of = whole.id;
  share.title = "Copies of the runs, as a share of each one's peak";
  share.y = {"share of the peak (%)", true, TickStyle::plain, false};
  std::set<TimeSource> sources;
  std::vector<const RunReport*> shown;
  for (const RunReport* report : runs) {
    if (!report->analysis.copy) continue;
    for (const CopySeries* series : report->analysis.copy->main_series()) {
      const std::optional<Peak> peak = peak_of(report->analysis, *series);
      if (!peak) continue;
      const std::string name = report->run.name + ", " + series->direction;
      const auto add = [&](Figure& figure, double unit) {
        const CopyValue value = [&](double bytes, double seconds) {
          return bytes / seconds / unit;
        };
        for (Series& line : copy_lines(*series, name, value)) {
          figure.series.push_back(std::move(line));
        }
      };
      add(whole, 1e9);
      add(share, peak->bytes_per_s / 100);
      share.caption += name + ": peak " + show_quantity(peak->bytes_per_s, "B/s") + " copied (" +
                       peak->what + "). ";
      sources.insert(report->analysis.source());
      if (shown.empty() || shown.back() != report) shown.push_back(report);
    }
  }
  if (shown.size() < 2) return {};  // several directions of one are its own pictures
  for (const RunReport* report : shown) whole.caption += run_words(*report) + ". ";
  const std::string kinds = sources.size() > 1 ? "Their times are not of one kind." : "";
  for (Figure* figure : {&whole, &share}) {
    figure->caption += kinds;
    drop_undrawable(*figure);
  }
  return {whole, share};
}

}  // namespace sonde
