#include "report/copy_nodes.h"

#include <algorithm>
#include <cmath>

#include <Eigen/Core>
#include <Eigen/QR>

#include "core/statistics.h"

namespace sonde {
namespace {

constexpr double kLadderStep = 1.0 / 16;  // octaves
/// A bend is looked for at this spacing, in octaves: half a step of the ladder, or half the way
/// between two neighbours.
constexpr double kKnotStep = 1.0 / 17;

/// Places where a bend is tried: every size and half-way between, not closer than kKnotStep.
std::vector<double> knots_of(CopyNodes nodes) {
  std::vector<double> knots;
  const auto add = [&](double bytes) {
    if (knots.empty() || std::log2(bytes / knots.back()) >= kKnotStep) knots.push_back(bytes);
  };
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    add(nodes[i].bytes);
    if (i + 1 < nodes.size()) add(std::sqrt(nodes[i].bytes * nodes[i + 1].bytes));
  }
  return knots;
}

/// Residual of the continuous curve with these bends; HUGE_VAL where its time falls with size.
double bent_residual(CopyNodes nodes, std::span<const double> bends) {
  const double scale = nodes.back().bytes;
  const auto rows = static_cast<Eigen::Index>(nodes.size());
  const auto columns = static_cast<Eigen::Index>(2 + bends.size());
  Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::ColMajor, Eigen::Dynamic, 4> x(
      rows, columns);
  const Eigen::VectorXd y = Eigen::VectorXd::Ones(rows);
  for (Eigen::Index r = 0; r < rows; ++r) {
    const CopyNode& node = nodes[static_cast<std::size_t>(r)];
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
}

/// Residual of a curve whose time per byte rises in proportion to the logarithm of the size from
/// `low` to `high`, as it does while more and more of a walk misses a cache; HUGE_VAL where it
/// falls.
double ramp_residual(CopyNodes nodes, double low, double high) {
  const double scale = nodes.back().bytes;
  const auto rows = static_cast<Eigen::Index>(nodes.size());
  Eigen::MatrixX3d x(rows, 3);
  for (Eigen::Index r = 0; r < rows; ++r) {
    const CopyNode& node = nodes[static_cast<std::size_t>(r)];
    const double risen = std::clamp(std::log(node.bytes / low) / std::log(high / low), 0.0, 1.0);
    x(r, 0) = 1.0 / node.time;
    x(r, 1) = node.bytes / scale / node.time;
    x(r, 2) = risen * x(r, 1);
  }
  const Eigen::Matrix3d normal = x.transpose() * x;
  const Eigen::Vector3d beta = normal.ldlt().solve(x.transpose() * Eigen::VectorXd::Ones(rows));
  if (!(beta(1) >= 0 && beta(2) >= 0)) return HUGE_VAL;
  return (Eigen::VectorXd::Ones(rows) - x * beta).squaredNorm();
}

/// Of constant time: the one curve that is always allowed.
double constant_residual(CopyNodes nodes) {
  double weight = 0, sum = 0, residual = 0;
  for (const CopyNode& node : nodes) {
    weight += 1.0 / (node.time * node.time);
    sum += 1.0 / node.time;
  }
  for (const CopyNode& node : nodes) residual += std::pow(1.0 - sum / weight / node.time, 2);
  return residual;
}

}  // namespace

std::vector<CopyNode> copy_nodes(const Curve& curve) {
  std::vector<CopyNode> nodes;
  for (const CurvePoint& point : curve) {
    // Below a picosecond it is no copy but a damaged number.
    constexpr double kLeastSeconds = 1e-12;
    if (point.x <= 0 || !point.y.value || !(*point.y.value >= kLeastSeconds)) continue;
    const double spread = point.spread().value_or(0.0);
    const double error = spread * median_deviation(static_cast<std::int64_t>(point.samples.size()));
    nodes.push_back({.bytes = point.x,
                     .time = *point.y.value,
                     .spread = spread,
                     .error = error,
                     .point = &point});
  }
  return nodes;
}

void measure_scatter(std::vector<CopyNode>& nodes) {
  constexpr std::size_t kReach = 12;
  if (nodes.size() < 3) return;
  std::vector<double> off(nodes.size(), 0.0);
  for (std::size_t i = 1; i + 1 < nodes.size(); ++i) {
    const CopyNode& a = nodes[i - 1];
    const CopyNode& b = nodes[i + 1];
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

RelativeLine fit_line(CopyNodes nodes) {
  std::vector<LinePoint> points;
  points.reserve(nodes.size());
  for (const CopyNode& node : nodes) points.push_back({node.bytes, node.time});
  return fit_relative_line(points);
}

double best_continuous(CopyNodes nodes, double least_rise) {
  const std::vector<double> knots = knots_of(nodes);
  double best = std::min(constant_residual(nodes), bent_residual(nodes, {}));
  for (std::size_t i = 1; i + 1 < knots.size(); ++i) {
    const double one[] = {knots[i]};
    best = std::min(best, bent_residual(nodes, one));
    for (std::size_t j = i + 1; j + 1 < knots.size(); ++j) {
      if (std::log2(knots[j] / knots[i]) < least_rise) continue;
      const double two[] = {knots[i], knots[j]};
      best = std::min(best, bent_residual(nodes, two));
    }
  }
  // A rise may begin before the window or end behind it.
  constexpr double kLongestRise = 2;
  for (double low = nodes.front().bytes / 2; low < nodes.back().bytes;
       low *= std::exp2(kKnotStep)) {
    for (double rise = least_rise; rise <= kLongestRise; rise *= 1.25) {
      const double high = low * std::exp2(rise);
      if (high > nodes.front().bytes) best = std::min(best, ramp_residual(nodes, low, high));
    }
  }
  return best;
}

std::size_t ladder_steps(CopyNodes nodes) {
  std::size_t steps = 0;
  double counted = 0;
  for (const CopyNode& node : nodes) {
    if (counted > 0 && std::log2(node.bytes / counted) < kLadderStep) continue;
    counted = node.bytes;
    ++steps;
  }
  return steps;
}

}  // namespace sonde
