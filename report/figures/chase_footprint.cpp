// Latency against footprint on one core, memory levels marked.
#include "report/figure.h"
#include "report/show.h"

namespace sonde {
namespace {

std::vector<Figure> build(const FigureInput& input) {
  if (!input.analysis.chase || !input.analysis.chase->footprints) return {};
  const FootprintSeries& series = *input.analysis.chase->footprints;
  Figure figure;
  figure.id = "chase_footprint";
  figure.title = "Load latency against footprint, " + series.core;
  figure.x = {"footprint of the chain", true, TickStyle::binary, false};
  figure.y = {"latency (ns a load)", true, TickStyle::plain, false};
  Series line{"", SeriesStyle::line_points, false, {}};
  for (const CurvePoint& point : series.latency) {
    line.points.push_back(figure_point(point, 1, show_quantity(point.x, "B")));
  }
  figure.series.push_back(std::move(line));
  const std::vector<MemoryPlateau>& plateaus = series.levels.plateaus;
  figure.caption = "One block on " + series.core + ", " + series.state + ": ";
  if (series.levels.cannot_tell) {
    figure.caption += "too few footprints to tell levels apart.";
  } else if (plateaus.empty()) {
    figure.caption += "no level found: the latency keeps changing.";
  }
  for (std::size_t i = 0; i < plateaus.size(); ++i) {
    const MemoryPlateau& level = plateaus[i];
    const std::string latency = show_quantity(level.latency.value.value_or(0), "ns");
    figure.marks.push_back(
        {Mark::Kind::horizontal, level.latency.value.value_or(0), std::nullopt, level.first,
         level.last, latency + (level.next ? " up to " + show_short_size(level.last) : " beyond")});
    if (level.next) {
      figure.marks.push_back(
          {Mark::Kind::vertical, level.last, level.next, std::nullopt, std::nullopt, ""});
    }
    figure.caption += (i == 0                     ? ""
                       : i + 1 == plateaus.size() ? " and "
                                                  : ", ") +
                      latency +
                      (level.next ? " up to " + show_quantity(level.last, "B") : " beyond") +
                      (i + 1 == plateaus.size() ? "." : "");
  }
  figure.caption +=
      " A band reaches from the last footprint of a level to the first of the next: the capacity "
      "lies in it. " +
      closing_sentence(input.analysis, "chase");
  return {figure};
}

[[maybe_unused]] const bool registered = register_figure({20, "chase", build});

}  // namespace
}  // namespace sonde
