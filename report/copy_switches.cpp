#include "report/copy_switches.h"

#include <algorithm>
#include <cmath>

#include "core/statistics.h"

namespace sonde {
namespace {

/// Smallest jump worth the name, as a part of the copy time. On a real device whole sizes move by
/// several per cent with the place of their buffers.
constexpr double kLeastJump = 0.025;
constexpr double kLeastJumpReal = 0.08;
/// Standard errors a jump must reach: about 200 gaps are tried at four window widths each. On a
/// real device the standard error holds the scatter of whole sizes.
constexpr double kSigmas = 5.5;
/// No model of a copy is true to better than this; keeps noise-free curves from dividing by zero.
constexpr double kModelError = 0.003;
/// A local line uses the sizes of this many steps of the ladder on its side of the gap (more where
/// it was refined), and no more than these octaves.
constexpr std::size_t kWidths[] = {2, 4, 6, 8};
constexpr std::size_t kFewest = 3;
constexpr double kWindowOctaves = 1.3;
/// A continuous rise takes at least this much, in octaves and in steps of the window.
constexpr double kLeastRise = 0.35;
constexpr double kLeastRiseSteps = 3;
/// A gap closer than this was refined: there a real device's rise may be as short as this many
/// octaves.
constexpr double kRefined = 0.03;
constexpr double kLeastRiseRefined = 0.1;
/// How much better (in units of the variance) the jump must describe the window than the best
/// continuous curve does.
constexpr double kBetterThanContinuous = 10.0;
/// Two-sided 95 % of Student's t for 40 degrees of freedom: about what the spreads of a window's 16
/// sizes are worth together (8 samples each; the MAD uses 0.37 of them).
constexpr double kJumpQuantile = 2.02;
/// A bracket takes in every neighbouring gap that explains the window about as well: the best one
/// is better by less than this, in units of the variance. 6 keeps the truth in 99 of 100 (a
/// likelihood ratio of 20).
constexpr double kAsGood = 6.0;

/// The two lines about one gap.
struct GapFit {
  std::size_t gap = 0, first = 0, last = 0;  ///< left line [first, gap], right line [gap + 1, last]
  RelativeLine left, right;
  double middle = 0, jump = 0;
  double variance = 0;    ///< relative, of one size
  double deviation = 0;   ///< of the jump
  bool explained = true;  ///< the samples' own scatter explains what the lines leave
  double strength() const { return std::abs(jump) / deviation; }
  double residual() const { return left.residual + right.residual; }
};

/// Relative variance of one size, from the samples of all: a size stops being sampled when its own
/// seem to agree, so one by one they say too little.
double own_variance(CopyNodes nodes) {
  constexpr double kMost = 4;  // times the median: beyond, something disturbed that size
  std::vector<double> spreads;
  double shrink = 0;
  for (const CopyNode& node : nodes) {
    spreads.push_back(std::pow(node.spread, 2));
    shrink += std::pow(median_deviation(static_cast<std::int64_t>(node.point->samples.size())), 2);
  }
  const double most = kMost * *median(spreads);
  double sum = 0;
  for (const double spread : spreads) sum += std::min(spread, most);
  const auto n = static_cast<double>(nodes.size());
  return sum / n * shrink / n;
}

GapFit fit_window(CopyNodes nodes, std::size_t gap, std::size_t first, std::size_t last,
                  bool real) {
  GapFit fit;
  fit.gap = gap;
  fit.first = first;
  fit.last = last;
  const std::size_t left_count = gap + 1 - first;
  const std::size_t right_count = last - gap;
  fit.left = fit_line(nodes.subspan(first, left_count));
  fit.right = fit_line(nodes.subspan(gap + 1, right_count));
  fit.middle = std::sqrt(nodes[gap].bytes * nodes[gap + 1].bytes);
  fit.jump = fit.right.at(fit.middle) - fit.left.at(fit.middle);

  // Spread of one size about its line: what its samples say, or what the fit left if that is more
  // than chance leaves in one window of five.
  const double freedom = std::max(1.0, static_cast<double>(left_count + right_count) - 4.0);
  const double unexplained = fit.residual() / freedom;
  const double own = std::max(own_variance(nodes.subspan(first, left_count + right_count)),
                              kModelError * kModelError);
  fit.explained = unexplained <= own * (1 + 0.84 * std::sqrt(2 / freedom));
  fit.variance = fit.explained ? own : unexplained;
  if (real) {
    const double scatter = std::max(nodes[gap].scatter, nodes[gap + 1].scatter);
    fit.variance = std::max({own, unexplained, scatter * scatter});
  }
  // Line variances are for weights 1/time^2, so they are absolute times already.
  fit.deviation = std::sqrt(fit.variance *
                            (fit.left.variance_at(fit.middle) + fit.right.variance_at(fit.middle)));
  return fit;
}

std::optional<GapFit> fit_gap(CopyNodes nodes, std::size_t gap, std::size_t width, bool real) {
  std::size_t first = gap;
  while (first > 0 && std::log2(nodes[gap].bytes / nodes[first - 1].bytes) <= kWindowOctaves &&
         ladder_steps(nodes.subspan(first - 1, gap - first + 2)) <= width) {
    --first;
  }
  std::size_t last = gap + 1;
  while (last + 1 < nodes.size() &&
         std::log2(nodes[last + 1].bytes / nodes[gap + 1].bytes) <= kWindowOctaves &&
         ladder_steps(nodes.subspan(gap + 1, last - gap + 1)) <= width) {
    ++last;
  }
  // The narrowest window is for sizes close together only. A coarse ladder has few sizes in those
  // octaves: the wider ones take the fewest that make a line.
  if (width > kWidths[0]) {
    while (gap + 1 - first < kFewest && first > 0) --first;
    while (last - gap < kFewest && last + 1 < nodes.size()) ++last;
  }
  if (gap + 1 - first < kFewest || last - gap < kFewest) return std::nullopt;
  return fit_window(nodes, gap, first, last, real);
}

bool is_jump(const GapFit& fit, bool real) {
  const double level =
      std::min(std::abs(fit.left.at(fit.middle)), std::abs(fit.right.at(fit.middle)));
  return std::abs(fit.jump) >= (real ? kLeastJumpReal : kLeastJump) * level &&
         fit.strength() > kSigmas;
}

/// By how much (in units of the variance) the jump beats every continuous curve.
double beats_continuous(CopyNodes nodes, const GapFit& fit, bool real) {
  const CopyNodes window = nodes.subspan(fit.first, fit.last - fit.first + 1);
  const double octaves = std::log2(window.back().bytes / window.front().bytes);
  const double step = octaves / std::max(1.0, static_cast<double>(ladder_steps(window)) - 1.0);
  double least = std::max(kLeastRise, kLeastRiseSteps * step);
  if (real && std::log2(nodes[fit.gap + 1].bytes / nodes[fit.gap].bytes) < kRefined) {
    least = kLeastRiseRefined;
  }
  return (best_continuous(window, least) - fit.residual()) / fit.variance;
}

/// Samples of the neighbours separate even after the growth that size alone explains: of all
/// pairs, one sample a side, at least three quarters go the way of the jump. Counting pairs bears
/// with a third of samples that something else slowed, where intervals and quartiles do not.
bool separated(CopyNodes nodes, const GapFit& fit) {
  constexpr double kMostPairs = 0.75;
  const CopyNode& before = nodes[fit.gap];
  const CopyNode& after = nodes[fit.gap + 1];
  const double growth = std::max(1.0, fit.left.at(after.bytes) / fit.left.at(before.bytes));
  std::size_t along = 0;
  for (const double a : before.point->samples) {
    for (const double b : after.point->samples) {
      if (fit.jump > 0 ? b > a * growth : b < a * growth) ++along;
    }
  }
  const std::size_t pairs = before.point->samples.size() * after.point->samples.size();
  return static_cast<double>(along) >= kMostPairs * static_cast<double>(pairs);
}

/// What is a jump is one in the narrowest window too: lines over a bend meet somewhere else, and
/// the closer one looks the less is left of it.
bool jumps_nearby(CopyNodes nodes, const GapFit& fit, bool real) {
  constexpr double kSigmasNearby = 2.0;
  constexpr double kUnlike = 3.5;
  std::size_t first = fit.gap + 1 - kFewest, last = fit.gap + kFewest;
  GapFit near = fit_window(nodes, fit.gap, first, last, real);
  near.deviation *= std::sqrt(fit.variance / near.variance);  // that of six sizes is not known well
  return near.jump / fit.jump > 0 && near.strength() > kSigmasNearby &&
         std::abs(near.jump - fit.jump) < kUnlike * near.deviation;
}

/// The widest window that straight lines describe as well as the samples allow: chosen without a
/// look at the jump, so that the jump is not the largest of several.
GapFit widest_straight(CopyNodes nodes, std::size_t gap, bool real, const GapFit& otherwise) {
  for (std::size_t i = std::size(kWidths); i-- > 0;) {
    const auto fit = fit_gap(nodes, gap, kWidths[i], real);
    if (fit && fit->explained) return *fit;
  }
  return otherwise;
}

CopySwitch describe_switch(CopyNodes nodes, const GapFit& strongest, bool real) {
  const GapFit fit = widest_straight(nodes, strongest.gap, real, strongest);
  CopySwitch found;
  std::size_t low = fit.gap, high = fit.gap;
  const auto as_good = [&](std::size_t gap) {
    const double residual = fit_line(nodes.subspan(fit.first, gap + 1 - fit.first)).residual +
                            fit_line(nodes.subspan(gap + 1, fit.last - gap)).residual;
    return residual - fit.residual() < kAsGood * fit.variance;
  };
  while (low >= fit.first + kFewest && as_good(low - 1)) --low;
  while (high + 1 + kFewest <= fit.last && as_good(high + 1)) ++high;
  found.last_old = nodes[low].bytes;
  found.first_new = nodes[high + 1].bytes;
  found.jump_s = fit.jump;
  found.before_s = fit.left.at(fit.middle);
  found.after_s = fit.right.at(fit.middle);
  found.strength = fit.strength();
  bool enough = true;
  for (const CopyNode& node : nodes.subspan(fit.first, fit.last - fit.first + 1)) {
    const auto n = static_cast<std::int64_t>(node.point->samples.size());
    found.n += n;
    enough = enough && n >= kFewestSamples;
  }
  if (enough) {
    found.jump_interval = Interval{fit.jump - kJumpQuantile * fit.deviation,
                                   fit.jump + kJumpQuantile * fit.deviation};
  }
  return found;
}

/// Splits at the strongest switch, then looks on both sides of it.
void search(CopyNodes nodes, bool real, SwitchSearch& result) {
  std::vector<GapFit> jumps;
  for (std::size_t gap = 0; gap + 1 < nodes.size(); ++gap) {
    for (const std::size_t width : kWidths) {
      const auto fit = fit_gap(nodes, gap, width, real);
      if (fit && is_jump(*fit, real)) jumps.push_back(*fit);
    }
  }
  std::stable_sort(jumps.begin(), jumps.end(),
                   [](const GapFit& a, const GapFit& b) { return a.strength() > b.strength(); });
  std::optional<CopyUndecided> doubtful;
  for (const GapFit& fit : jumps) {
    const double better = beats_continuous(nodes, fit, real);
    if (better >= kBetterThanContinuous && jumps_nearby(nodes, fit, real) &&
        (!real || separated(nodes, fit))) {
      const CopySwitch found = describe_switch(nodes, fit, real);
      search(nodes.first(fit.gap + 1), real, result);
      result.switches.push_back(found);
      search(nodes.subspan(fit.gap + 1), real, result);
      return;
    }
    if (better > 0 && !doubtful) {
      doubtful = CopyUndecided{nodes[fit.gap].bytes, nodes[fit.gap + 1].bytes, fit.jump};
    }
  }
  if (doubtful) result.undecided.push_back(*doubtful);
}

}  // namespace

SwitchSearch find_switches(CopyNodes nodes, bool real) {
  SwitchSearch result;
  search(nodes, real, result);
  return result;
}

}  // namespace sonde
