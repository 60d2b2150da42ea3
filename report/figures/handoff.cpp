// Latency of a cache line handed from one core to another: one map for each kind.
#include "report/core_map.h"
#include "report/pair_details.h"
#include "report/pairs.h"
#include "report/show.h"

namespace sonde {
namespace {

std::vector<Figure> build(const FigureInput& input) {
  std::vector<Figure> figures;
  for (const auto& [kind, matrix] : input.analysis.handoff) {
    auto map = core_heat_map(matrix, input.analysis.tree);
    if (!map) continue;
    Figure figure;
    figure.id = "handoff_" + file_word(kind);
    figure.title = "Line handed from core to core, one way, kind " + kind;
    figure.x.label = "to";
    figure.y.label = "from";
    map->scale = "latency one way (ns)";
    map->details = handoff_details(input.analysis, kind, *map);
    figure.height = heat_map_height(*map);
    const std::vector<double> values = pair_values(matrix);
    // A tenth about the median at least: noise has to look like noise.
    map->at_least = Interval{0.9 * *median(values), 1.1 * *median(values)};
    figure.caption = "Half of the round trip of one cache line between two cores, kind " + kind +
                     ": " + show_quantity(*median(values), "ns") + " in the median of " +
                     std::to_string(values.size()) +
                     (values.size() == 1 ? " ordered pair" : " ordered pairs") + ", from " +
                     show_quantity(*quantile(values, 0), "ns") + " to " +
                     show_quantity(*quantile(values, 1), "ns") + ". " +
                     order_sentence(*map, input.analysis.tree);
    if (const std::string more = map->sentence(); !more.empty()) figure.caption += " " + more;
    figure.caption += " " + closing_sentence(input.analysis, "handoff");
    figure.heat = std::move(map);
    figures.push_back(std::move(figure));
  }
  return figures;
}

[[maybe_unused]] const bool registered = register_figure({36, "handoff", build});

}  // namespace
}  // namespace sonde
