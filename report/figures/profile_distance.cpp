// How unlike the address profiles of every two cores are, ordered by the tree.
#include "report/core_map.h"
#include "report/pairs.h"
#include "report/show.h"

namespace sonde {
namespace {

std::vector<Figure> build(const FigureInput& input) {
  if (!input.analysis.profile) return {};
  auto map = core_heat_map(*input.analysis.profile, input.analysis.tree);
  if (!map) return {};
  Figure figure;
  figure.id = "profile_distance";
  figure.title = "Distance between the address profiles of two cores";
  figure.x.label = "core";
  figure.y.label = "core";
  map->scale = "mean absolute difference (ns)";
  figure.height = heat_map_height(*map);
  const std::vector<double> values = pair_values(*input.analysis.profile);
  figure.caption =
      "Each cell compares the load latencies of two cores over the same addresses, each profile "
      "centred on its own mean: dark is alike, bright is far apart. Half of the pairs differ by "
      "less than " +
      show_quantity(*median(values), "ns") + ", the farthest by " +
      show_quantity(*quantile(values, 1), "ns") + ". " + order_sentence(*map, input.analysis.tree);
  if (const std::string more = map->sentence(); !more.empty()) figure.caption += " " + more;
  figure.caption += " " + closing_sentence(input.analysis, "profile");
  figure.heat = std::move(map);
  return {figure};
}

[[maybe_unused]] const bool registered = register_figure({32, "profile", build});

}  // namespace
}  // namespace sonde
