#include "report/copy_classes.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include "core/statistics.h"

namespace sonde {
namespace {

/// Least that a class is off the other sizes, as a part of the time; on a real device whole sizes
/// move with the place of their buffers.
constexpr double kLeastOff = 0.05;
constexpr double kLeastOffReal = 0.10;
/// Standard errors that each of its sizes is off, and how many in a row make a class.
constexpr double kSigmas = 3.5;
constexpr std::size_t kInARow = 3;
/// Last size over first: closer together it is a switch between sizes that were added there.
constexpr double kLeastSpan = 2;
constexpr std::int64_t kLeastModulus = 128;
constexpr std::int64_t kMostModulus = std::int64_t{1} << 24;
constexpr int kMostClasses = 3;

/// A size of a class against the line between the two nearest sizes outside it.
struct Off {
  std::size_t node = 0;
  double by = 0;  ///< relative; 0 where it cannot be told
  double error = 0;
};

std::vector<Off> off_the_others(CopyNodes nodes, const CopyClass& candidate, double floor) {
  constexpr double kNear = 0.5;  // octaves to the nearest size outside the class
  std::vector<Off> all;
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    if (!candidate.holds(nodes[i].bytes)) continue;
    Off off{i, 0, HUGE_VAL};
    std::size_t before = i, after = i;
    while (before > 0 && candidate.holds(nodes[before].bytes)) --before;
    while (after + 1 < nodes.size() && candidate.holds(nodes[after].bytes)) ++after;
    const CopyNode &a = nodes[before], &b = nodes[after], &own = nodes[i];
    if (!candidate.holds(a.bytes) && !candidate.holds(b.bytes) &&
        std::log2(own.bytes / a.bytes) <= kNear && std::log2(b.bytes / own.bytes) <= kNear) {
      const double part = (own.bytes - a.bytes) / (b.bytes - a.bytes);
      const double between = a.time + part * (b.time - a.time);
      off.by = own.time / between - 1;
      // Between two sizes that differ much (a switch or an edge there) nothing can be told to
      // better than a part of the difference that size does not explain.
      const double unlike = std::abs(a.cost() / b.cost() - 1) / 2;
      const double error = std::max({a.error, b.error, own.error, floor});
      off.error = std::hypot(error * std::sqrt(2.0), part * (1 - part) * unlike);
    }
    all.push_back(off);
  }
  return all;
}

/// Relative deviation of a size outside the class, from its samples and from its neighbours.
double deviation_outside(CopyNodes nodes, const CopyClass& candidate) {
  std::vector<CopyNode> outside;
  std::copy_if(nodes.begin(), nodes.end(), std::back_inserter(outside),
               [&](const CopyNode& node) { return !candidate.holds(node.bytes); });
  measure_scatter(outside);
  std::vector<double> errors;
  errors.reserve(outside.size());
  for (const CopyNode& node : outside) errors.push_back(std::max(node.error, node.scatter));
  return median(errors).value_or(0);
}

/// Whether a size at the end of a run goes on with the sizes outside the class on that side: there
/// a switch of the others begins or ends right beside it, and it is not off them itself.
bool goes_on(CopyNodes nodes, const CopyClass& candidate, const Off& off, bool before) {
  std::vector<const CopyNode*> two;  // nearest first
  for (std::size_t i = off.node; two.size() < 2;) {
    if (before ? i == 0 : i + 1 >= nodes.size()) return false;
    i = before ? i - 1 : i + 1;
    if (!candidate.holds(nodes[i].bytes)) two.push_back(&nodes[i]);
  }
  const double slope = (two[1]->time - two[0]->time) / (two[1]->bytes - two[0]->bytes);
  const double expected = two[0]->time + slope * (nodes[off.node].bytes - two[0]->bytes);
  return std::abs(nodes[off.node].time / expected - 1) < std::abs(off.by) / 2;
}

/// The longest run of sizes of the class that are all off the others to one side.
void measure_class(CopyNodes nodes, bool real, CopyClass& candidate) {
  const std::vector<Off> all =
      off_the_others(nodes, candidate, deviation_outside(nodes, candidate));
  const double least = real ? kLeastOffReal : kLeastOff;
  const auto is_off = [&](const Off& off) {
    return std::abs(off.by) >= least && std::abs(off.by) > kSigmas * off.error;
  };
  std::size_t best = 0, best_at = 0;
  for (std::size_t begin = 0; begin < all.size();) {
    std::size_t end = begin;
    while (end < all.size() && is_off(all[end]) && (all[end].by > 0) == (all[begin].by > 0)) ++end;
    if (end - begin > best) {
      best = end - begin;
      best_at = begin;
    }
    begin = std::max(end, begin + 1);
  }
  candidate.sizes = 0;
  if (best > 0 && goes_on(nodes, candidate, all[best_at], true)) {
    ++best_at;
    --best;
  }
  if (best > 0 && goes_on(nodes, candidate, all[best_at + best - 1], false)) --best;
  if (best < kInARow ||
      nodes[all[best_at + best - 1].node].bytes < kLeastSpan * nodes[all[best_at].node].bytes) {
    return;
  }
  std::vector<double> factors;
  for (std::size_t i = best_at; i < best_at + best; ++i) factors.push_back(1 + all[i].by);
  candidate.sizes = static_cast<std::int64_t>(best);
  candidate.from = nodes[all[best_at].node].bytes;
  candidate.to = nodes[all[best_at + best - 1].node].bytes;
  candidate.factor = *median(factors);
  candidate.factor_interval = median_interval(factors);
}

}  // namespace

bool CopyClass::holds(double bytes) const {
  const auto whole = static_cast<std::uint64_t>(bytes);
  if (modulus == 0) return std::has_single_bit(whole);
  return whole % static_cast<std::uint64_t>(modulus) == 0;
}

std::vector<CopyClass> take_classes(std::vector<CopyNode>& nodes, bool real) {
  std::vector<CopyClass> found;
  for (int round = 0; round < kMostClasses; ++round) {
    CopyClass best;
    // The powers of two first: of classes with the same sizes the narrowest one is named.
    std::vector<std::int64_t> moduli = {0};
    for (std::int64_t m = kMostModulus; m >= kLeastModulus; m /= 2) moduli.push_back(m);
    for (const std::int64_t modulus : moduli) {
      CopyClass candidate;
      candidate.modulus = modulus;
      measure_class(nodes, real, candidate);
      if (candidate.sizes > best.sizes) best = candidate;
    }
    if (best.sizes == 0) break;
    std::erase_if(nodes, [&](const CopyNode& node) {
      return best.holds(node.bytes) && node.bytes >= best.from && node.bytes <= best.to;
    });
    found.push_back(best);
  }
  return found;
}

}  // namespace sonde
