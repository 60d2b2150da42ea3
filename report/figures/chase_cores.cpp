// Latency of each core alone, outliers marked.
#include <map>

#include "report/figure.h"
#include "report/show.h"

namespace sonde {
namespace {

std::vector<Figure> build(const FigureInput& input) {
  if (!input.analysis.chase || !input.analysis.chase->cores) return {};
  const CoreSeries& cores = *input.analysis.chase->cores;
  Figure figure;
  figure.id = "chase_cores";
  figure.title = "Load latency of each core alone";
  figure.x = {"core number", false, TickStyle::whole, false};
  figure.y = {"latency (ns a load)", false, TickStyle::plain, false};
  std::map<std::string, Series> kinds;
  Series outliers{"outlier", SeriesStyle::points, true, {}};
  for (const CoreLatency& core : cores.latencies.cores) {
    const FigurePoint point = figure_point(core.point, 1, core.core.str());
    if (core.outlier) {
      outliers.points.push_back(point);
    } else {
      kinds[core.core.kind].points.push_back(point);
    }
  }
  for (auto& [kind, series] : kinds) {
    series.style = SeriesStyle::points;
    series.name = kinds.size() > 1 || !outliers.points.empty() ? kind : "";
    figure.series.push_back(series);
  }
  const std::size_t found = outliers.points.size();
  if (found > 0) figure.series.push_back(std::move(outliers));
  figure.caption = std::to_string(cores.latencies.cores.size()) +
                   (cores.latencies.cores.size() == 1 ? " core, " : " cores, one at a time, ") +
                   cores.state + " chain of " + show_quantity(cores.footprint, "B") + "; ";
  if (cores.latencies.cannot_tell) {
    figure.caption += "too few cores or samples to call one an outlier.";
  } else if (found == 0) {
    figure.caption += "no core stands out beyond its interval.";
  } else {
    figure.caption += std::to_string(found) + (found == 1 ? " core stands" : " cores stand") +
                      " out beyond its interval and the spread of the others.";
  }
  figure.caption += " " + closing_sentence(input.analysis, "chase");
  return {figure};
}

[[maybe_unused]] const bool registered = register_figure({30, "chase", build});

}  // namespace
}  // namespace sonde
