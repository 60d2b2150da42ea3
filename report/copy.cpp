#include "report/copy.h"

#include <algorithm>
#include <cmath>
#include <span>

#include <Eigen/Core>
#include <Eigen/LU>
#include <Eigen/QR>

namespace sonde {
namespace {

/// Smallest jump worth the name, as a part of the copy time.
constexpr double kLeastJump = 0.08;
/// Standard errors a jump must reach: about 150 gaps are tried at three window widths each.
constexpr double kSigmas = 5.0;
/// On a real device the scatter of whole sizes has to be guessed from few of them: ask for more.
constexpr double kSigmasReal = 7.0;
/// No model of a copy is true to better than this; keeps noise-free curves from dividing by zero.
constexpr double kModelError = 0.003;
/// A local line uses this many sizes on its side of the gap, and no more than these octaves.
constexpr std::size_t kWindows[] = {4, 6, 8};
constexpr std::size_t kFewest = 3;
constexpr double kWindowOctaves = 1.3;
/// A continuous rise takes at least this much, in octaves and in ladder steps.
constexpr double kRampOctaves = 0.35;
constexpr std::size_t kRampSteps = 3;
/// How much better (in units of the residual variance) the jump must describe the window than the
/// best continuous curve does.
constexpr double kBetterThanRamp = 3.0;

/// One size: median time and its relative standard error.
struct Node {
  double bytes = 0;
  double time = 0;
  double error = 0;    ///< from the samples of this size
  double scatter = 0;  ///< of whole sizes about their neighbours, relative; see measure_scatter
  const CurvePoint* point = nullptr;
};

/// time = a + b * bytes, residuals relative to the time.
struct Line {
  double a = 0, b = 0;
  double residual = 0;         ///< sum of squared relative residuals
  Eigen::Matrix2d covariance;  ///< of (a, b) at unit relative variance
  double at(double x) const { return a + b * x; }
  double variance_at(double x) const {
    const Eigen::Vector2d g(1.0, x);
    return g.dot(covariance * g);
  }
};

Line fit_line(std::span<const Node> nodes) {
  // Sizes are scaled to the window's largest one: bytes to the square would cost digits.
  const double scale = nodes.back().bytes;
  Eigen::MatrixX2d x(static_cast<Eigen::Index>(nodes.size()), 2);
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    const auto row = static_cast<Eigen::Index>(i);
    x(row, 0) = 1.0 / nodes[i].time;
    x(row, 1) = nodes[i].bytes / scale / nodes[i].time;
  }
  const Eigen::VectorXd y = Eigen::VectorXd::Ones(x.rows());
  const Eigen::Matrix2d inverse = (x.transpose() * x).inverse();
  const Eigen::Vector2d beta = inverse * (x.transpose() * y);
  Line line;
  line.a = beta(0);
  line.b = beta(1) / scale;
  line.residual = (y - x * beta).squaredNorm();
  const Eigen::DiagonalMatrix<double, 2> unscale(1.0, 1.0 / scale);
  line.covariance = unscale * inverse * unscale;
  return line;
}

/// Smallest sum of squared relative residuals of a continuous curve through the window: straight,
/// with one bend, or rising from one line to another over a stretch that is not too short. Time
/// never falls with size on any of them, for no cache edge makes a larger copy faster.
double best_continuous(std::span<const Node> nodes) {
  const std::size_t n = nodes.size();
  const double scale = nodes.back().bytes;
  std::vector<double> knots;  // at every size and half-way between
  for (std::size_t i = 0; i < n; ++i) {
    knots.push_back(nodes[i].bytes);
    if (i + 1 < n) knots.push_back(std::sqrt(nodes[i].bytes * nodes[i + 1].bytes));
  }
  const auto fit = [&](std::span<const double> bends) {
    const auto rows = static_cast<Eigen::Index>(n);
    const auto columns = static_cast<Eigen::Index>(2 + bends.size());
    Eigen::MatrixXd x(rows, columns);
    Eigen::VectorXd y = Eigen::VectorXd::Ones(rows);
    for (Eigen::Index r = 0; r < rows; ++r) {
      const Node& node = nodes[static_cast<std::size_t>(r)];
      x(r, 0) = 1.0 / node.time;
      x(r, 1) = node.bytes / scale / node.time;
      for (std::size_t k = 0; k < bends.size(); ++k) {
        x(r, static_cast<Eigen::Index>(2 + k)) =
            std::max(0.0, node.bytes - bends[k]) / scale / node.time;
      }
    }
    const Eigen::VectorXd beta = x.colPivHouseholderQr().solve(y);
    double slope = 0;
    for (Eigen::Index c = 1; c < columns; ++c) {
      slope += beta(c);
      if (slope < 0) return HUGE_VAL;
    }
    return (y - x * beta).squaredNorm();
  };
  double best = 0;  // constant time: the one curve that is always allowed
  {
    double weight = 0;
    double sum = 0;
    for (const Node& node : nodes) {
      weight += 1.0 / (node.time * node.time);
      sum += 1.0 / node.time;
    }
    for (const Node& node : nodes) best += std::pow(1.0 - sum / weight / node.time, 2);
  }
  best = std::min(best, fit({}));
  for (std::size_t i = 1; i + 1 < knots.size(); ++i) {
    const double one[] = {knots[i]};
    best = std::min(best, fit(one));
    for (std::size_t j = i + 2 * kRampSteps; j + 1 < knots.size(); ++j) {
      if (std::log2(knots[j] / knots[i]) < kRampOctaves) continue;
      const double two[] = {knots[i], knots[j]};
      best = std::min(best, fit(two));
    }
  }
  return best;
}

/// Buffers of one size may lie luckier than those of the next: the whole point moves, and its own
/// samples do not show it. Judged by how far each size is off the straight line between its two
/// neighbours, over about three octaves; the median leaves a jump or an edge out of it.
void measure_scatter(std::vector<Node>& nodes) {
  constexpr std::size_t kReach = 12;
  if (nodes.size() < 3) return;
  std::vector<double> off(nodes.size(), 0.0);
  for (std::size_t i = 1; i + 1 < nodes.size(); ++i) {
    const Node& a = nodes[i - 1];
    const Node& b = nodes[i + 1];
    const double part = (nodes[i].bytes - a.bytes) / (b.bytes - a.bytes);
    const double between = a.time + part * (b.time - a.time);
    // Variance of the difference, in units of that of one point.
    const double units = 1 + part * part + (1 - part) * (1 - part);
    off[i] = std::abs(nodes[i].time - between) / nodes[i].time / std::sqrt(units);
  }
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    const std::size_t first = std::max<std::size_t>(1, i > kReach ? i - kReach : 1);
    const std::size_t last = std::min(nodes.size() - 2, i + kReach);
    if (first > last) continue;
    const std::vector<double> near(off.begin() + static_cast<std::ptrdiff_t>(first),
                                   off.begin() + static_cast<std::ptrdiff_t>(last) + 1);
    nodes[i].scatter = 1.4826 * *median(near);
  }
}

/// Samples of the neighbours separate even after the growth that size alone explains: of all
/// pairs, one sample a side, at least three quarters go the way of the jump. Counting pairs bears
/// with a third of samples that something else slowed, where intervals and quartiles do not.
bool separated(const Node& before, const Node& after, double growth, bool up) {
  constexpr double kMostPairs = 0.75;
  std::size_t along = 0;
  for (const double a : before.point->samples) {
    for (const double b : after.point->samples) {
      if (up ? b > a * growth : b < a * growth) ++along;
    }
  }
  const std::size_t pairs = before.point->samples.size() * after.point->samples.size();
  return static_cast<double>(along) >= kMostPairs * static_cast<double>(pairs);
}

std::optional<CopySwitch> try_gap(std::span<const Node> nodes, std::size_t gap, std::size_t width,
                                  bool real) {
  // Left line over [first, gap], right line over [gap + 1, last].
  std::size_t first = gap;
  while (first > 0 && gap + 1 - first < width &&
         std::log2(nodes[gap].bytes / nodes[first - 1].bytes) <= kWindowOctaves) {
    --first;
  }
  std::size_t last = gap + 1;
  while (last + 1 < nodes.size() && last - gap < width &&
         std::log2(nodes[last + 1].bytes / nodes[gap + 1].bytes) <= kWindowOctaves) {
    ++last;
  }
  // A coarse ladder has few sizes in those octaves: take the fewest that make a line.
  while (gap + 1 - first < kFewest && first > 0) --first;
  while (last - gap < kFewest && last + 1 < nodes.size()) ++last;
  const std::size_t left_count = gap + 1 - first;
  const std::size_t right_count = last - gap;
  if (left_count < kFewest || right_count < kFewest) return std::nullopt;

  const std::span<const Node> left_nodes = nodes.subspan(first, left_count);
  const std::span<const Node> right_nodes = nodes.subspan(gap + 1, right_count);
  const std::span<const Node> window = nodes.subspan(first, left_count + right_count);
  const Line left = fit_line(left_nodes);
  const Line right = fit_line(right_nodes);
  const double middle = std::sqrt(nodes[gap].bytes * nodes[gap + 1].bytes);
  const double jump = right.at(middle) - left.at(middle);
  const double level = std::min(std::abs(left.at(middle)), std::abs(right.at(middle)));
  if (!(std::abs(jump) >= kLeastJump * level)) return std::nullopt;

  // Spread of one point about its line: what its samples say, or what the fit left if that is more.
  std::vector<double> errors;
  for (const Node& node : window) errors.push_back(node.error * node.error);
  const double freedom = static_cast<double>(window.size()) - 4.0;
  const double unexplained = (left.residual + right.residual) / std::max(1.0, freedom);
  const double scatter = std::max(nodes[gap].scatter, nodes[gap + 1].scatter);
  const double variance =
      std::max({*median(errors), unexplained, scatter * scatter, kModelError * kModelError});
  // Line variances are for weights 1/time^2, so they are absolute times already.
  const double deviation =
      std::sqrt(variance * (left.variance_at(middle) + right.variance_at(middle)));
  if (!(std::abs(jump) > (real ? kSigmasReal : kSigmas) * deviation)) return std::nullopt;
  if (best_continuous(window) - left.residual - right.residual < kBetterThanRamp * variance) {
    return std::nullopt;
  }
  const double growth = std::max(1.0, left.at(nodes[gap + 1].bytes) / left.at(nodes[gap].bytes));
  if (real && !separated(nodes[gap], nodes[gap + 1], growth, jump > 0)) return std::nullopt;

  CopySwitch found;
  found.last_old = nodes[gap].bytes;
  found.first_new = nodes[gap + 1].bytes;
  found.jump_s = jump;
  found.strength = std::abs(jump) / deviation;
  bool enough = true;
  for (const Node& node : window) {
    const auto n = static_cast<std::int64_t>(node.point->samples.size());
    found.n += n;
    enough = enough && n >= kFewestSamples;
  }
  if (enough) found.jump_interval = Interval{jump - 1.96 * deviation, jump + 1.96 * deviation};
  return found;
}

/// Splits at the strongest switch, then looks on both sides of it: a window never reaches across
/// a switch that is already known.
void find_switches(std::span<const Node> nodes, bool real, std::vector<CopySwitch>& found) {
  std::optional<CopySwitch> best;
  std::size_t at = 0;
  for (std::size_t gap = 0; gap + 1 < nodes.size(); ++gap) {
    for (std::size_t width : kWindows) {
      const auto candidate = try_gap(nodes, gap, width, real);
      if (candidate && (!best || candidate->strength > best->strength)) {
        best = candidate;
        at = gap;
      }
    }
  }
  if (!best) return;
  found.push_back(*best);
  find_switches(nodes.first(at + 1), real, found);
  find_switches(nodes.subspan(at + 1), real, found);
}

/// Edges inside one stretch without a switch: time per byte leaves a floor it kept for at least
/// half an octave, and is a quarter higher within two octaves, for good.
void find_edges(std::span<const Node> nodes, std::vector<CopyEdge>& found) {
  constexpr double kOff = 0.06;
  constexpr double kRise = 1.30;
  constexpr double kStays = 1.20;
  const std::size_t n = nodes.size();
  std::vector<double> cost(n);  // seconds a byte, running median of three
  for (std::size_t i = 0; i < n; ++i) {
    std::vector<double> near;
    for (std::size_t j = i > 0 ? i - 1 : 0; j < std::min(n, i + 2); ++j) {
      near.push_back(nodes[j].time / nodes[j].bytes);
    }
    cost[i] = *median(near);
  }
  std::vector<double> errors;
  for (const Node& node : nodes) errors.push_back(node.error);
  if (n < 8) return;
  const double noise = *median(errors);
  if (noise > 0.10) return;  // too restless to tell an edge
  const double tolerance = std::max(kOff, 3 * noise);

  std::size_t start = 0;
  while (start + 6 < n) {
    double floor = cost[start];
    std::size_t on = start;  // last size still on the floor
    std::size_t rise = n;
    for (std::size_t i = start; i < n && rise == n; ++i) {
      if (cost[i] < floor) floor = cost[i];
      if (cost[i] <= floor * (1 + tolerance)) on = i;
      if (cost[i] < floor * kRise) continue;
      bool stays = i + 2 < n;
      for (std::size_t j = i; j < n && nodes[j].bytes <= 2 * nodes[i].bytes; ++j) {
        stays = stays && cost[j] >= floor * kStays;
      }
      if (stays) rise = i;
    }
    if (rise == n) return;
    // The floor has to be a floor: half an octave within the tolerance, or still falling to it.
    std::size_t level = on;
    while (level > start && cost[level - 1] <= floor * (1 + 2 * tolerance)) --level;
    const bool floor_seen =
        on - level >= 2 && std::log2(nodes[on].bytes / nodes[level].bytes) >= 0.5;
    const bool swift = std::log2(nodes[rise].bytes / nodes[on].bytes) <= 2.0;
    // The rise ends where half an octave brings no more than the tolerance.
    std::size_t top = rise;
    for (std::size_t j = top + 1; j < n; ++j) {
      if (cost[j] > cost[top] * (1 + tolerance)) {
        top = j;
      } else if (std::log2(nodes[j].bytes / nodes[top].bytes) >= 0.5) {
        break;
      }
    }
    if (floor_seen && swift && on + 1 < n) {
      found.push_back({nodes[on].bytes, nodes[on + 1].bytes, cost[top] / floor, std::nullopt});
    }
    start = top;
  }
}

/// The declared capacity that explains a jump upwards: its half lies within a ladder step of the
/// gap, and beyond the gap time goes on in proportion to size, as it does out of a slower level. A
/// method with a larger fixed cost does not: its time hardly grows at first.
std::optional<double> explained_by(const CopySwitch& found, std::span<const Node> nodes,
                                   const std::vector<double>& capacities) {
  constexpr double kProportional = 1.5;  // twice the size takes at least so many times the time
  if (found.jump_s <= 0) return std::nullopt;
  const double step = found.first_new / found.last_old;
  const auto at_least = [&](double bytes) {
    return std::find_if(nodes.begin(), nodes.end(),
                        [&](const Node& n) { return n.bytes >= bytes; });
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
void move_explained(std::span<const Node> nodes, const std::vector<double>& capacities,
                    CopyShape& shape) {
  const auto cost_at = [&](double bytes) {
    const auto node =
        std::find_if(nodes.begin(), nodes.end(), [&](const Node& n) { return n.bytes == bytes; });
    return node->time / node->bytes;
  };
  std::erase_if(shape.switches, [&](const CopySwitch& found) {
    const std::optional<double> capacity = explained_by(found, nodes, capacities);
    if (!capacity) return false;
    shape.edges.push_back({found.last_old, found.first_new,
                           cost_at(found.first_new) / cost_at(found.last_old), capacity});
    return true;
  });
}

}  // namespace

CopyShape analyse_copy(const Curve& time, bool real, const std::vector<double>& capacities) {
  CopyShape shape;
  std::vector<Node> nodes;
  for (const CurvePoint& point : time) {
    // Below a picosecond it is no copy but a damaged number.
    constexpr double kLeastSeconds = 1e-12;
    if (point.x <= 0 || !point.y.value || !(*point.y.value >= kLeastSeconds)) continue;
    const double spread = point.spread().value_or(0.0);
    nodes.push_back({point.x, *point.y.value,
                     1.2533 * spread / std::sqrt(static_cast<double>(point.samples.size())), 0,
                     &point});
    if (!shape.peak || point.x / *point.y.value > shape.peak->x / *shape.peak->y.value) {
      shape.peak = point;
    }
  }
  if (nodes.size() < 2 * kFewest) {
    shape.cannot_tell = true;
    return shape;
  }
  measure_scatter(nodes);
  find_switches(nodes, real, shape.switches);
  std::vector<double> cuts;
  for (const CopySwitch& found : shape.switches) cuts.push_back(found.last_old);
  std::sort(cuts.begin(), cuts.end());
  std::stable_sort(shape.switches.begin(), shape.switches.end(),
                   [](const CopySwitch& a, const CopySwitch& b) {
                     return std::abs(a.jump_s) > std::abs(b.jump_s);
                   });
  std::size_t begin = 0;
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    const bool cut = std::binary_search(cuts.begin(), cuts.end(), nodes[i].bytes);
    if (!cut && i + 1 < nodes.size()) continue;
    find_edges(std::span(nodes).subspan(begin, i + 1 - begin), shape.edges);
    begin = i + 1;
  }
  move_explained(nodes, capacities, shape);
  std::sort(shape.edges.begin(), shape.edges.end(),
            [](const CopyEdge& a, const CopyEdge& b) { return a.last_before < b.last_before; });
  return shape;
}

}  // namespace sonde
