// Latency against the number of concurrent blocks, the end of the first wave marked.
#include "report/figure.h"
#include "report/show.h"

namespace sonde {
namespace {

std::vector<Figure> build(const FigureInput& input) {
  std::vector<Figure> figures;
  if (!input.analysis.chase) return figures;
  const ChaseAnalysis& chase = *input.analysis.chase;
  for (std::size_t i = 0; i < chase.blocks.size(); ++i) {
    const BlockSeries& series = chase.blocks[i];
    if (series.latency.size() < 2) continue;
    Figure figure;
    figure.id = i == 0 ? "chase_blocks" : "chase_blocks_" + std::to_string(i + 1);
    figure.title = "Load latency against concurrent blocks, " + series.kind + " cores";
    figure.x = {"concurrent blocks", false, TickStyle::whole, false};
    figure.y = {"latency (ns a load)", false, TickStyle::plain, true};
    Series line{"", SeriesStyle::line_points, false, {}};
    for (const CurvePoint& point : series.latency) {
      line.points.push_back(figure_point(point, 1, show_number(point.x) + " blocks"));
    }
    figure.series.push_back(std::move(line));
    const std::string size = show_quantity(series.footprint, "B");
    figure.caption = "Each block follows a chain of " + size + " (" + series.state + "); ";
    if (!series.placed_by_device) {
      figure.caption += "each block runs on a core of its own, so no wave is looked for.";
    } else if (series.wave.found) {
      const Wave& wave = series.wave;
      figure.marks.push_back({Mark::Kind::vertical, static_cast<double>(wave.last_in),
                              static_cast<double>(wave.first_beyond), std::nullopt, std::nullopt,
                              "first wave ends at " + std::to_string(wave.last_in) + " blocks"});
      figure.caption += std::to_string(wave.last_in) + " blocks still run in one wave, at " +
                        std::to_string(wave.first_beyond) + " the latency is " +
                        show_number(wave.step, 3) + " times that.";
    } else if (series.wave.cannot_tell) {
      figure.caption += "too few block counts to tell where a wave ends.";
    } else {
      figure.caption += "no step that would end a wave was found.";
    }
    figure.caption += " " + closing_sentence(input.analysis, "chase");
    figures.push_back(std::move(figure));
  }
  return figures;
}

[[maybe_unused]] const bool registered = register_figure({10, "chase", build});

}  // namespace
}  // namespace sonde
