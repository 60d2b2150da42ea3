#include "tests/score/random_copies.h"

#include <algorithm>
#include <cmath>

#include "membw/ladder.h"
#include "membw/refine.h"

namespace sonde::testing_copies {
namespace {

constexpr double kLadderStep = 1.0905;  // an eighth of an octave
constexpr double kSeconds = 1e-6;

/// Log-uniform.
double between(Rng& rng, double low, double high) {
  return low * std::pow(high / low, rng.uniform());
}

CurvePoint sample(const CopyEngine& engine, std::int64_t bytes, std::uint64_t seed) {
  const Sampling sampling{.adaptive = true, .drift = {}};
  Rng rng(key_of({seed, static_cast<std::uint64_t>(bytes)}));
  CurvePoint point{.x = static_cast<double>(bytes), .y = {}, .samples = {}};
  const double time = engine.time(point.x);
  do {
    double one = time * (1 + engine.noise * static_cast<double>(rng.gaussian_q16()) / 65536.0);
    if (rng.uniform() < engine.outliers) one *= 1.2 + 3 * rng.uniform();
    point.samples.push_back(one);
  } while (decide_stop(point.samples, 0.05) == Stop::more);  // as --confidence-width
  point.y = estimate_median(point.samples, sampling);
  return point;
}

}  // namespace

double CopyEngine::old_time(double bytes) const {
  double cost = 1;
  for (const Edge& edge : edges) {
    cost += edge.rise * std::clamp(std::log2(bytes / edge.from) / edge.octaves, 0.0, 1.0);
  }
  return fixed_s + bytes * cost / rate;
}

double CopyEngine::line_time(double bytes) const {
  if (!switch_bytes || bytes <= *switch_bytes) return old_time(bytes);
  return new_fixed_s + new_slope * (old_time(bytes) - fixed_s);
}

double CopyEngine::time(double bytes) const {
  const double line = line_time(bytes);
  if (!aligned || bytes < aligned->from || !aligned->holds(bytes)) return line;
  return line * aligned->factor;
}

double CopyEngine::jump_over_noise() const {
  return std::abs(jump_s) / (noise * line_time(*switch_bytes));
}

CopyEngine random_engine(std::uint64_t seed) {
  Rng rng(key_of({seed, 0xc0b7}));
  CopyEngine engine;
  engine.fixed_s = between(rng, 0.05, 20) * kSeconds;
  engine.rate = between(rng, 8e9, 2e12);
  engine.noise = 0.01 + 0.04 * rng.uniform();
  engine.outliers = 0.02;
  double from = between(rng, 8e3, 1e6);
  for (std::uint64_t left = rng.below(4); left > 0; --left) {
    engine.edges.push_back({from, 0.6 + 0.9 * rng.uniform(), 0.3 + 1.7 * rng.uniform()});
    from *= between(rng, 4, 64);
    if (from > 128e6) break;
  }
  if (rng.below(3) != 0) {
    // A size that an author would choose as well as any other.
    const double at = between(rng, 4e3, 100e6);
    engine.switch_bytes = std::round(at / 64) * 64;
    const double before = engine.old_time(*engine.switch_bytes);
    engine.new_slope = between(rng, 0.6, 1.6);
    const bool down = rng.below(3) == 0;
    double jump = between(rng, 0.2, 20) * kSeconds;
    // A method is not faster by more than four fifths of the whole time.
    if (down) jump = -std::min(jump, 0.8 * before);
    engine.jump_s = jump;
    engine.new_fixed_s = before + jump - engine.new_slope * (before - engine.fixed_s);
  }
  if (rng.below(4) == 0) {
    constexpr std::int64_t kModuli[] = {0, 4096, 4096, 65536};
    CopyClass aligned;
    aligned.modulus = kModuli[rng.below(4)];
    aligned.from = between(rng, 8e3, 4e6);
    aligned.factor = rng.below(2) == 0 ? between(rng, 0.4, 0.8) : between(rng, 1.25, 2.5);
    engine.aligned = aligned;
  }
  return engine;
}

Curve measure_engine(const CopyEngine& engine, std::uint64_t seed) {
  constexpr std::int64_t kSmallest = 1024, kLargest = 256 << 20;
  std::vector<std::int64_t> sizes = size_ladder(kSmallest, kLargest, 8);
  const std::vector<std::int64_t> classes = class_sizes(kSmallest, kLargest);
  sizes.insert(sizes.end(), classes.begin(), classes.end());
  std::sort(sizes.begin(), sizes.end());
  sizes.erase(std::unique(sizes.begin(), sizes.end()), sizes.end());
  Curve curve;
  std::vector<TimedSize> tested;
  while (!sizes.empty()) {
    for (const std::int64_t bytes : sizes) {
      curve.push_back(sample(engine, bytes, seed));
      const CurvePoint& point = curve.back();
      tested.push_back(
          {bytes, *point.y.value, point.spread().value_or(0) * median_deviation(point.y.n)});
    }
    std::sort(tested.begin(), tested.end(),
              [](const TimedSize& a, const TimedSize& b) { return a.bytes < b.bytes; });
    sizes = refine_sizes(tested, false);
  }
  std::sort(curve.begin(), curve.end(),
            [](const CurvePoint& a, const CurvePoint& b) { return a.x < b.x; });
  return curve;
}

void CopyScore::add(const CopyEngine& engine, const Curve& curve) {
  const CopyShape shape = analyse_copy(curve, false);
  ++engines;
  undecided += shape.undecided.empty() ? 0 : 1;
  const CopySwitch* truth = nullptr;
  if (engine.switch_bytes) {
    ++with_switch;
    for (const CopySwitch& one : shape.switches) {
      const bool near = one.last_old / kLadderStep <= *engine.switch_bytes &&
                        one.first_new * kLadderStep > *engine.switch_bytes;
      if (near && (one.jump_s > 0) == (engine.jump_s > 0)) truth = &one;
    }
    extra += static_cast<std::int64_t>(shape.switches.size()) - (truth != nullptr ? 1 : 0);
    if (engine.jump_over_noise() > 3) {
      ++clear;
      if (truth != nullptr) {
        ++found;
        ++brackets;
        brackets_hold +=
            truth->last_old <= *engine.switch_bytes && truth->first_new > *engine.switch_bytes;
        ++jumps;
        jumps_hold += truth->jump_interval && truth->jump_interval->contains(engine.jump_s);
      }
    }
  } else {
    ++without_switch;
    claimed += shape.switches.empty() ? 0 : 1;
  }
  if (engine.aligned) {
    ++classes;
    classes_named += !shape.classes.empty() && shape.classes[0].modulus == engine.aligned->modulus;
    if (!shape.classes.empty() && shape.classes[0].factor_interval) {
      ++factors;
      factors_hold += shape.classes[0].factor_interval->contains(engine.aligned->factor);
    }
  } else {
    classes_claimed += shape.classes.empty() ? 0 : 1;
  }
  double fastest = 0;
  for (const CurvePoint& point : curve) fastest = std::max(fastest, point.x / engine.time(point.x));
  if (shape.peak_rate.interval) {
    ++peaks;
    peaks_hold += shape.peak_rate.interval->contains(fastest);
  }
  for (const CopyEngine::Edge& edge : engine.edges) {
    ++edges;
    const auto seen = std::find_if(
        shape.edges.begin(), shape.edges.end(),
        [&](const CopyEdge& one) { return std::abs(std::log2(one.last_before / edge.from)) < 1; });
    if (seen == shape.edges.end()) continue;
    ++edges_seen;
    edges_hold += seen->start && seen->start->contains(edge.from);
  }
}

std::vector<std::string> missed(const CopyScore& score) {
  std::vector<std::string> all;
  const auto share = [](std::int64_t part, std::int64_t whole) {
    return static_cast<double>(part) / static_cast<double>(std::max<std::int64_t>(1, whole));
  };
  if (share(score.found, score.clear) < 0.99) all.emplace_back("found: below 99 %");
  if (share(score.claimed, score.without_switch) > 0.01) all.emplace_back("claimed: above 1 %");
  if (share(score.brackets_hold, score.brackets) < 0.95) all.emplace_back("brackets: below 95 %");
  const double jumps = share(score.jumps_hold, score.jumps);
  if (jumps < 0.93 || jumps > 0.97) all.emplace_back("jump intervals: not within 93 to 97 %");
  if (score.edges_seen > 0 && share(score.edges_hold, score.edges_seen) < 0.95) {
    all.emplace_back("starts of edges: below 95 %");
  }
  return all;
}

}  // namespace sonde::testing_copies
