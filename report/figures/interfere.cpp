// Slow-down of a victim by one aggressor: one map for each work of the aggressors.
#include <algorithm>

#include "report/core_map.h"
#include "report/pair_details.h"
#include "report/show.h"

namespace sonde {
namespace {

/// A change below 10 % fills at most part of the colours: noise has to look like noise.
constexpr Interval kLeastScale{1.0, 1.1};

std::vector<Figure> build(const FigureInput& input) {
  std::vector<Figure> figures;
  for (const auto& [kind, matrix] : input.analysis.interfere) {
    auto map = core_heat_map(matrix, input.analysis.tree);
    if (!map) continue;
    const std::string label = kind.label();
    const auto found =
        std::find_if(input.analysis.slow_downs.begin(), input.analysis.slow_downs.end(),
                     [&](const SlowDowns& one) { return one.kind.label() == label; });
    Figure figure;
    figure.id = "interfere_" + file_word(label);
    figure.title = "Slow-down of a victim by one aggressor, aggressor work " + kind.work;
    if (kind.victim_work != "load") figure.title += ", victim work " + kind.victim_work;
    figure.x.label = "aggressor";
    figure.y.label = "victim";
    map->scale = "slow-down (times)";
    map->at_least = kLeastScale;
    map->details = interfere_details(input.analysis, kind, *map);
    figure.height = heat_map_height(*map);
    figure.caption =
        (kind.victim_work == "load" ? "Load latency" : "Time of one " + kind.victim_work) +
        " of the victim (row) while the other core (column) works (" + kind.work +
        "), over that alone: 1 is no slow-down.";
    if (found != input.analysis.slow_downs.end()) {
      figure.caption += " Largest: " + show_number(found->largest, 3) + " times, " +
                        found->victim.str() + " beside " + found->aggressor.str() + ".";
      if (found->above_control) {
        figure.caption += " " + show_number(100 * *found->above_control, 3) +
                          " % of the pairs lie above " +
                          show_number(found->control.value_or(0), 4) +
                          ", below which 99 % of the register control stay.";
      } else if (kind.control()) {
        figure.caption += " This is the control: its aggressors touch no memory.";
      }
    }
    figure.caption += " " + order_sentence(*map, input.analysis.tree);
    if (const std::string more = map->sentence(); !more.empty()) figure.caption += " " + more;
    figure.caption += " " + closing_sentence(input.analysis, "interfere");
    figure.heat = std::move(map);
    figures.push_back(std::move(figure));
  }
  return figures;
}

[[maybe_unused]] const bool registered = register_figure({34, "interfere", build});

}  // namespace
}  // namespace sonde
