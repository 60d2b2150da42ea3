#include "report/copy_edges.h"

#include <algorithm>
#include <cmath>

#include <Eigen/Core>
#include <Eigen/QR>

#include "core/statistics.h"

namespace sonde {
namespace {

constexpr double kOff = 0.06;    // least that is off the floor
constexpr double kRise = 1.30;   // an edge is at least this much
constexpr double kStays = 1.20;  // and stays so much above for an octave
/// Quantile of chi squared with one degree of freedom at 99.5 %: of two thousand random engines the
/// starts it lets in hold the true one in 96 of 100. Those of the quantile at 95 % hold it in 93:
/// the scatter is not known that well, and a rise is not exactly a ramp.
constexpr double kChiSquared = 7.88;

/// Seconds a byte, running median of three.
std::vector<double> smooth_costs(CopyNodes nodes) {
  std::vector<double> cost(nodes.size());
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    std::vector<double> near;
    for (std::size_t j = i > 0 ? i - 1 : 0; j < std::min(nodes.size(), i + 2); ++j) {
      near.push_back(nodes[j].cost());
    }
    cost[i] = *median(near);
  }
  return cost;
}

/// Residual of: a fixed cost, a floor of the time per byte, and a rise in proportion to the
/// logarithm of the size from `low` to `high`.
double ramp_residual(CopyNodes nodes, double low, double high) {
  const auto rows = static_cast<Eigen::Index>(nodes.size());
  Eigen::MatrixX3d x(rows, 3);
  for (Eigen::Index r = 0; r < rows; ++r) {
    const CopyNode& node = nodes[static_cast<std::size_t>(r)];
    const double risen = std::clamp(std::log(node.bytes / low) / std::log(high / low), 0.0, 1.0);
    x(r, 0) = nodes.front().bytes / node.bytes;
    x(r, 1) = 1;
    x(r, 2) = risen;
    x.row(r) /= node.cost() / nodes.front().cost();
  }
  const Eigen::VectorXd y = Eigen::VectorXd::Ones(rows);
  const Eigen::Vector3d beta = x.colPivHouseholderQr().solve(y);
  return (y - x * beta).squaredNorm();
}

/// All starts of the rise that describe floor and rise about as well as the best one. `nodes`: from
/// the beginning of the floor to the end of the rise and half an octave of what follows.
std::optional<Interval> start_interval(CopyNodes nodes) {
  constexpr double kGrid = 1.0 / 16;  // octaves
  if (nodes.size() < 8) return std::nullopt;
  const double begin = nodes.front().bytes, end = nodes.back().bytes;
  std::vector<std::pair<double, double>> starts;  // size and residual
  double best = HUGE_VAL;
  for (double low = begin * 1.04; low < end / 1.1; low *= std::exp2(kGrid)) {
    double residual = HUGE_VAL;
    for (double high = low * std::exp2(2 * kGrid); high < end; high *= std::exp2(2 * kGrid)) {
      residual = std::min(residual, ramp_residual(nodes, low, high));
    }
    starts.emplace_back(low, residual);
    best = std::min(best, residual);
  }
  std::vector<double> errors;
  for (const CopyNode& node : nodes) errors.push_back(node.error * node.error);
  const double freedom = std::max(1.0, static_cast<double>(nodes.size()) - 5);
  const double variance = std::max(*median(errors), best / freedom);
  std::optional<Interval> interval;
  for (const auto& [low, residual] : starts) {
    if (residual > best + kChiSquared * variance) continue;
    // Half a step of the grid was not tried.
    const double from = low * std::exp2(-kGrid / 2), to = low * std::exp2(kGrid / 2);
    interval = interval ? Interval{interval->low, to} : Interval{from, to};
  }
  return interval;
}

}  // namespace

std::vector<CopyEdge> find_edges(CopyNodes nodes) {
  std::vector<CopyEdge> found;
  const std::size_t n = nodes.size();
  if (n < 8) return found;
  std::vector<double> errors;
  for (const CopyNode& node : nodes) errors.push_back(node.error);
  const double noise = *median(errors);
  if (noise > 0.10) return found;  // too restless to tell an edge
  const double tolerance = std::max(kOff, 3 * noise);
  const std::vector<double> cost = smooth_costs(nodes);

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
    if (rise == n) break;
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
      CopyEdge edge;
      edge.last_before = nodes[on].bytes;
      edge.first_in = nodes[on + 1].bytes;
      edge.rise = cost[top] / floor;
      edge.top_bytes = nodes[top].bytes;
      std::size_t end = top;
      while (end + 1 < n && nodes[end + 1].bytes <= 1.5 * nodes[top].bytes) ++end;
      if (const auto range = start_interval(nodes.subspan(level, end + 1 - level))) {
        edge.start =
            Interval{std::min(range->low, edge.last_before), std::max(range->high, edge.first_in)};
      }
      edge.recovered_bytes = measure_dip(nodes.subspan(on + 1), floor).recovered_bytes;
      found.push_back(edge);
    }
    start = top;
  }
  return found;
}

CopyDip measure_dip(CopyNodes nodes, double cost_before) {
  constexpr double kSame = 1.02;  // within 2 % bandwidth is what it was
  CopyDip dip;
  if (nodes.empty()) return dip;
  const std::vector<double> cost = smooth_costs(nodes);
  double most = cost_before * kSame;
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    if (cost[i] > most) {
      most = cost[i];
      dip.depth = 1 - cost_before / most;
      dip.bytes = nodes[i].bytes;
    }
    // The running median looks one size ahead: the size itself has to be back as well.
    if (cost[i] > cost_before * kSame || nodes[i].cost() > cost_before * kSame) continue;
    if (dip.bytes) dip.recovered_bytes = nodes[i].bytes;
    if (dip.bytes || i >= 3) break;
  }
  return dip;
}

}  // namespace sonde
