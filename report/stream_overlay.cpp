// Reads of memory of several runs over cores: as they are, and as a share of each one's roof.
#include <map>

#include "report/overlay.h"
#include "report/show.h"

namespace sonde {
namespace {

/// The fastest read of memory at each number of cores; of any level where memory is not told.
std::map<std::size_t, const StreamPoint*> best_reads(const StreamAnalysis& stream, bool known) {
  std::map<std::size_t, const StreamPoint*> best;
  for (const StreamPoint& point : stream.points) {
    if (point.kind != "read" || point.shared || (known ? !point.memory : point.passes != 1))
      continue;
    const auto [at, fresh] = best.emplace(point.cores.size(), &point);
    if (!fresh && *point.bandwidth.y.value > *at->second->bandwidth.y.value) at->second = &point;
  }
  return best;
}

}  // namespace

std::vector<Figure> overlay_streams(const std::vector<const RunReport*>& runs) {
  Figure whole, share;
  whole.id = "stream_runs";
  whole.title = "Reads of memory of the runs together, against cores";
  whole.x = share.x = {"cores", true, TickStyle::plain, false};
  whole.y = {"bandwidth of all cores (GB/s)", true, TickStyle::plain, false};
  share.id = "stream_runs_share";
  share.share_of = whole.id;
  share.title = "Reads of memory of the runs, as a share of each one's roof";
  share.y = {"share of the roof (%)", false, TickStyle::plain, true};
  for (const RunReport* run : runs) {
    if (!run->analysis.stream) continue;
    const DeviceDescription& device = run->run.manifest.device;
    const auto best = best_reads(*run->analysis.stream, device.memory_from_bytes().has_value());
    if (best.empty()) continue;
    std::optional<double> roof = device.roof("memory_bytes_per_s");
    const bool published = roof && *roof > 0;
    if (!published) {
      roof = 0;
      for (const auto& [cores, point] : best) roof = std::max(*roof, *point->bandwidth.y.value);
    }
    Series line{run->run.name, SeriesStyle::line_points, false, {}};
    Series part = line;
    for (const auto& [cores, point] : best) {
      const std::string label = std::to_string(cores) + (cores == 1 ? " core" : " cores");
      line.points.push_back(figure_point(point->bandwidth, 1e-9, label));
      part.points.push_back(figure_point(point->bandwidth, 100 / *roof, label));
      line.points.back().x = part.points.back().x = static_cast<double>(cores);
    }
    whole.series.push_back(std::move(line));
    share.series.push_back(std::move(part));
    whole.caption += run_words(*run) + ". ";
    share.caption += run->run.name + ": roof " + show_quantity(*roof, "B/s") +
                     (published ? " (datasheet). " : " (its own best read). ");
  }
  if (whole.series.size() < 2) return {};
  share.marks.push_back(
      {Mark::Kind::horizontal, 100, std::nullopt, std::nullopt, std::nullopt, "each one's roof"});
  for (Figure* figure : {&whole, &share}) {
    figure->caption += "The fastest read at each number of cores.";
    drop_undrawable(*figure);
  }
  return {whole, share};
}

}  // namespace sonde
