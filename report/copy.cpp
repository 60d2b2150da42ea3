#include "report/copy.h"

#include <algorithm>
#include <cmath>
#include <span>

#include "report/copy_pieces.h"

namespace sonde {
namespace {

constexpr std::size_t kFewestSizes = 6;  // a line of three on each side of one gap

CopyNodes behind(CopyNodes nodes, double bytes) {
  const auto first =
      std::upper_bound(nodes.begin(), nodes.end(), bytes,
                       [](double size, const CopyNode& node) { return size < node.bytes; });
  return nodes.subspan(static_cast<std::size_t>(first - nodes.begin()));
}

/// The declared capacity that explains a jump upwards: its half lies within a ladder step of the
/// gap, and beyond the gap time goes on in proportion to size, as it does out of a slower level. A
/// method with a larger fixed cost does not: its time hardly grows at first.
std::optional<double> explained_by(const CopySwitch& found, CopyNodes nodes,
                                   const std::vector<double>& capacities) {
  constexpr double kProportional = 1.5;  // twice the size takes at least so many times the time
  constexpr double kLeastStep = 1.0905;  // an eighth of an octave: a refined gap is far narrower
  if (found.jump_s <= 0) return std::nullopt;
  const double step = std::max(kLeastStep, found.first_new / found.last_old);
  const auto at_least = [&](double bytes) {
    return std::find_if(nodes.begin(), nodes.end(),
                        [&](const CopyNode& n) { return n.bytes >= bytes; });
  };
  const auto first = at_least(found.first_new);
  const auto doubled = at_least(2 * found.first_new);
  if (doubled == nodes.end() || doubled->time < kProportional * first->time) return std::nullopt;
  for (double capacity : capacities) {
    if (capacity / 2 >= found.last_old / step && capacity / 2 <= found.first_new * step) {
      return capacity;
    }
  }
  return std::nullopt;
}

/// Takes the jumps that a declared capacity explains out of the switches.
void move_explained(CopyNodes nodes, const std::vector<double>& capacities, CopyShape& shape) {
  const auto cost_at = [&](double bytes) {
    const auto node = std::find_if(nodes.begin(), nodes.end(),
                                   [&](const CopyNode& n) { return n.bytes == bytes; });
    return node->cost();
  };
  std::erase_if(shape.switches, [&](const CopySwitch& found) {
    const std::optional<double> capacity = explained_by(found, nodes, capacities);
    if (!capacity) return false;
    CopyEdge edge;
    edge.last_before = found.last_old;
    edge.first_in = found.first_new;
    edge.rise = cost_at(found.first_new) / cost_at(found.last_old);
    edge.capacity = capacity;
    edge.start = Interval{found.last_old, found.first_new};
    edge.top_bytes = found.first_new;
    edge.recovered_bytes = found.recovered_bytes;
    shape.edges.push_back(edge);
    return true;
  });
}

/// Bandwidth behind each switch against what it was just before.
void measure_dips(CopyNodes nodes, std::vector<CopySwitch>& switches) {
  for (CopySwitch& found : switches) {
    const double middle = std::sqrt(found.last_old * found.first_new);
    const CopyDip dip = measure_dip(behind(nodes, found.last_old), found.before_s / middle);
    found.recovered_bytes = dip.recovered_bytes;
    // Right behind the switch the lines know it best; an edge further on may take more.
    found.dip_depth = std::max({dip.depth, 1 - found.before_s / found.after_s, 0.0});
    if (found.dip_depth > 0) {
      found.dip_bytes = found.dip_depth > dip.depth ? found.first_new : dip.bytes;
    }
  }
}

}  // namespace

CopyShape analyse_copy(const Curve& time, bool real, const std::vector<double>& capacities) {
  CopyShape shape;
  std::vector<CopyNode> nodes = copy_nodes(time);
  std::vector<Estimate> rates;
  for (const CopyNode& node : nodes) {
    rates.push_back(rate_of(node.bytes, node.point->y));
    if (!shape.peak || node.cost() < *shape.peak->y.value / shape.peak->x) {
      shape.peak = *node.point;
    }
  }
  shape.peak_rate = largest_of(rates);
  if (nodes.size() < kFewestSizes) {
    shape.cannot_tell = true;
    return shape;
  }
  shape.classes = take_classes(nodes, real);
  measure_scatter(nodes);
  SwitchSearch search = find_switches(nodes, real);
  shape.switches = std::move(search.switches);
  shape.undecided = std::move(search.undecided);
  measure_dips(nodes, shape.switches);

  // Stretches between switches: sizes inside a bracket belong to neither side.
  CopyNodes rest = nodes;
  std::vector<CopyNodes> stretches;
  for (const CopySwitch& found : shape.switches) {
    const CopyNodes after = behind(rest, found.last_old);
    stretches.push_back(rest.first(rest.size() - after.size()));
    rest = behind(rest, std::nextafter(found.first_new, 0));
  }
  stretches.push_back(rest);
  for (const CopyNodes stretch : stretches) {
    const std::vector<CopyEdge> edges = find_edges(stretch);
    shape.edges.insert(shape.edges.end(), edges.begin(), edges.end());
    const std::vector<CopyPiece> pieces = fit_pieces(stretch);
    shape.pieces.insert(shape.pieces.end(), pieces.begin(), pieces.end());
  }
  move_explained(nodes, capacities, shape);
  std::stable_sort(shape.switches.begin(), shape.switches.end(),
                   [](const CopySwitch& a, const CopySwitch& b) {
                     return std::abs(a.jump_s) > std::abs(b.jump_s);
                   });
  std::sort(shape.edges.begin(), shape.edges.end(),
            [](const CopyEdge& a, const CopyEdge& b) { return a.last_before < b.last_before; });
  // A rise that is an edge is decided.
  std::erase_if(shape.undecided, [&](const CopyUndecided& one) {
    return std::any_of(shape.edges.begin(), shape.edges.end(), [&](const CopyEdge& edge) {
      const double from = edge.start ? edge.start->low : edge.last_before;
      return one.first_after >= from && one.last_before <= edge.top_bytes;
    });
  });
  return shape;
}

}  // namespace sonde
