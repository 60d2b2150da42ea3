#include "report/compare.h"

#include <algorithm>
#include <cmath>

#include "core/error.h"
#include "core/parse.h"
#include "report/compare_context.h"
#include "report/differences.h"
#include "report/point_times.h"

namespace sonde {
namespace {

/// Chance that a build fails for nothing, over all points together (Bonferroni).
constexpr double kFalseFailure = 0.01;

/// One point with what both sides say of it.
struct Pair {
  PointTimes a, b;
};

struct ProbePairs {
  std::string probe;
  std::vector<Pair> pairs;
  std::vector<std::string> only_a, only_b;
};

struct Rules {
  CompareOptions options;
  std::int64_t fewest = kFewestSamples;
  bool modelled = false;  ///< both: equal rows are equal, not luck
};

bool constant(const std::vector<double>& values) {
  return std::all_of(values.begin(), values.end(), [&](double x) { return x == values.front(); });
}

std::optional<Ratio> as_ratio(const LogDifference& difference) {
  const Interval interval = difference.interval();
  return Ratio{std::exp(difference.log_ratio),
               Interval{std::exp(interval.low), std::exp(interval.high)}};
}

/// Tests of all pairs of a probe in one quantity; nullopt where nothing can be said.
std::vector<std::optional<LogDifference>> test_all(const std::vector<Pair>& pairs,
                                                   std::vector<double> PointTimes::*quantity,
                                                   std::int64_t fewest) {
  const auto enough = [&](const PointTimes& side) {
    return static_cast<std::int64_t>((side.*quantity).size()) >= fewest;
  };
  std::vector<LogCentre> centres_a, centres_b;
  std::vector<std::size_t> tested;
  for (std::size_t i = 0; i < pairs.size(); ++i) {
    if (!enough(pairs[i].a) || !enough(pairs[i].b)) continue;
    tested.push_back(i);
    centres_a.push_back(log_centre(pairs[i].a.*quantity));
    centres_b.push_back(log_centre(pairs[i].b.*quantity));
  }
  const SharedNoise noise_a = shared_noise(centres_a), noise_b = shared_noise(centres_b);
  std::vector<std::optional<LogDifference>> all(pairs.size());
  for (std::size_t k = 0; k < tested.size(); ++k) {
    all[tested[k]] = log_difference(centres_a[k], noise_a, centres_b[k], noise_b);
  }
  return all;
}

bool within(const Interval& interval, double margin) {
  return interval.low >= 1 - margin && interval.high <= 1 + margin;
}

/// A modelled device may repeat to the bit: then a ratio is exact, whatever the number of samples.
std::optional<double> exact_ratio(const PointTimes& a, const PointTimes& b) {
  if (a.time == b.time) return 1.0;
  if (a.time.size() < 2 || b.time.size() < 2) return std::nullopt;
  if (!constant(a.time) || !constant(b.time)) return std::nullopt;
  return b.time.front() / a.time.front();
}

double fail_bound(const CompareOptions::FailOn& fail_on) {
  return fail_on.verdict == Verdict::slower ? std::log1p(fail_on.by) : std::log1p(-fail_on.by);
}

void describe(const PointTimes& side, std::int64_t& n, double& time, std::optional<double>& clock) {
  n = static_cast<std::int64_t>(side.time.size());
  time = *median(side.time);
  clock = median(side.clock_mhz);
}

PointComparison compare_exactly(const Pair& pair, double ratio, const Rules& rules) {
  PointComparison point;
  point.time = Ratio{ratio, Interval{ratio, ratio}};
  point.reason = pair.a.time == pair.b.time ? "identical samples" : "repeats exactly";
  point.verdict = within(*point.time->interval, rules.options.margin) ? Verdict::same
                  : ratio > 1                                         ? Verdict::slower
                                                                      : Verdict::faster;
  if (const auto& fail_on = rules.options.fail_on) {
    const double log = std::log(ratio), bound = fail_bound(*fail_on);
    point.fails = fail_on->verdict == point.verdict && (bound >= 0 ? log > bound : log < bound);
  }
  return point;
}

/// Verdicts over all probes together: they are one family.
void judge(Comparison& result, const std::vector<ProbePairs>& probes, const Rules& rules) {
  std::vector<LogDifference> family;
  std::vector<std::size_t> place;
  for (const ProbePairs& probe : probes) {
    const auto times = test_all(probe.pairs, &PointTimes::time, rules.fewest);
    const auto cycles = test_all(probe.pairs, &PointTimes::cycles, rules.fewest);
    for (std::size_t i = 0; i < probe.pairs.size(); ++i) {
      const Pair& pair = probe.pairs[i];
      const auto exact = rules.modelled ? exact_ratio(pair.a, pair.b) : std::nullopt;
      PointComparison point = exact ? compare_exactly(pair, *exact, rules) : PointComparison();
      point.probe = probe.probe;
      point.label = pair.a.label;
      describe(pair.a, point.n_a, point.time_a, point.clock_a);
      describe(pair.b, point.n_b, point.time_b, point.clock_b);
      if (!exact) {
        if (times[i]) {
          point.time = as_ratio(*times[i]);
          point.p = times[i]->p;
          family.push_back(*times[i]);
          place.push_back(result.points.size());
        } else {
          point.time = Ratio{point.time_b / point.time_a, std::nullopt};
          point.reason = std::min(point.n_a, point.n_b) < rules.fewest
                             ? "fewer than " + std::to_string(rules.fewest) + " samples"
                             : "no spread: the clock's steps hide it";
        }
        if (cycles[i]) point.cycles = as_ratio(*cycles[i]);
      }
      result.points.push_back(std::move(point));
    }
  }
  std::vector<double> p;
  p.reserve(family.size());
  for (const LogDifference& difference : family) p.push_back(difference.p);
  const std::vector<bool> found = discoveries(p, kFalseDiscoveries);
  for (std::size_t k = 0; k < family.size(); ++k) {
    PointComparison& point = result.points[place[k]];
    const bool slower = family[k].log_ratio > 0;
    if (within(*point.time->interval, rules.options.margin)) {
      point.verdict = Verdict::same;
    } else if (found[k]) {
      point.verdict = slower ? Verdict::slower : Verdict::faster;
    } else {
      point.reason = "the difference may be chance";
    }
    const bool called = point.verdict == Verdict::slower || point.verdict == Verdict::faster;
    point.clock_explains = called && point.cycles && point.clock_a != point.clock_b &&
                           (point.cycles->interval->contains(1) ||
                            within(*point.cycles->interval, rules.options.margin));
    if (const auto& fail_on = rules.options.fail_on; fail_on && point.verdict == fail_on->verdict) {
      point.fails = family[k].p_beyond(fail_bound(*fail_on)) <=
                    kFalseFailure / static_cast<double>(family.size());
    }
  }
}

void summarise(Comparison& result, const std::vector<ProbePairs>& probes) {
  for (const ProbePairs& probe : probes) {
    ProbeComparison summary;
    summary.probe = probe.probe;
    summary.only_a = probe.only_a;
    summary.only_b = probe.only_b;
    std::vector<double> ratios;
    for (const PointComparison& point : result.points) {
      if (point.probe != probe.probe) continue;
      ++summary.verdicts[point.verdict];
      if (point.time) ratios.push_back(point.time->value);
    }
    summary.middle = median(ratios);
    result.probes.push_back(std::move(summary));
  }
  std::stable_sort(result.points.begin(), result.points.end(),
                   [](const PointComparison& x, const PointComparison& y) {
                     return std::abs(std::log(x.time->value)) > std::abs(std::log(y.time->value));
                   });
}

std::vector<PointTimes> times_of(const StoredRun& run, const std::string& probe) {
  const ProbeRows* rows = run.probe(probe);
  if (rows == nullptr || !rows->table) return {};
  return point_times(*rows, run.manifest.device.time_source);
}

bool modelled(const StoredRun& run) {
  return run.manifest.device.time_source == TimeSource::modelled;
}

Comparison finish(Comparison result, const std::vector<ProbePairs>& probes, const Rules& rules) {
  result.margin = rules.options.margin;
  judge(result, probes, rules);
  if (rules.options.fail_on && result.judged() == 0) {
    result.notes.emplace_back("--fail-on has nothing to go by: no point could be judged");
  }
  summarise(result, probes);
  return result;
}

}  // namespace

const char* to_string(Verdict verdict) {
  switch (verdict) {
    case Verdict::slower:
      return "slower";
    case Verdict::faster:
      return "faster";
    case Verdict::same:
      return "same";
    case Verdict::cannot_tell:
      return "cannot tell";
  }
  return "";
}

CompareOptions::FailOn parse_fail_on(const std::string& text) {
  const std::size_t colon = text.find(':');
  const std::string what = text.substr(0, colon);
  const auto refuse = [&](const std::string& why) {
    return UsageError("--fail-on: '" + text + "' " + why);
  };
  if (colon == std::string::npos || !text.ends_with('%')) {
    throw refuse("is not slower:P% or faster:P%");
  }
  const std::string verdict = parse_names(what, "--fail-on", {"slower", "faster"}).front();
  const auto percent = parse_number(text.substr(colon + 1, text.size() - colon - 2));
  if (!percent || *percent < 0 || *percent >= 100) {
    throw refuse("needs a percentage from 0 to below 100");
  }
  return {verdict == "slower" ? Verdict::slower : Verdict::faster, *percent / 100};
}

std::int64_t Comparison::count(Verdict verdict) const {
  return std::count_if(points.begin(), points.end(),
                       [&](const PointComparison& point) { return point.verdict == verdict; });
}

std::int64_t Comparison::judged() const {
  return std::count_if(points.begin(), points.end(), [](const PointComparison& point) {
    return point.time && point.time->interval;
  });
}

bool Comparison::fails() const {
  return std::any_of(points.begin(), points.end(), [](const auto& point) { return point.fails; });
}

std::optional<double> Comparison::alarm_rate() const {
  if (judged() == 0) return std::nullopt;
  return static_cast<double>(count(Verdict::slower) + count(Verdict::faster)) /
         static_cast<double>(judged());
}

Comparison compare_runs(const StoredRun& a, const StoredRun& b, const CompareOptions& options) {
  Comparison result;
  result.a = run_side(a);
  result.b = run_side(b);
  result.differences = differences_between(a, b);
  result.notes = reading_notes({&a, &b});
  std::vector<ProbePairs> probes;
  std::int64_t matched = 0;
  for (const Schema* schema : all_schemas()) {
    ProbePairs probe{schema->probe, {}, {}, {}};
    std::map<std::string, PointTimes> in_b;
    for (PointTimes& point : times_of(b, schema->probe)) {
      if (!point.time.empty()) in_b.emplace(point.key, std::move(point));
    }
    for (PointTimes& point : times_of(a, schema->probe)) {
      if (point.time.empty()) continue;
      const auto partner = in_b.find(point.key);
      if (partner == in_b.end()) {
        probe.only_a.push_back(point.label);
        continue;
      }
      probe.pairs.push_back({std::move(point), std::move(partner->second)});
      in_b.erase(partner);
    }
    for (const auto& [key, point] : in_b) probe.only_b.push_back(point.label);
    matched += static_cast<std::int64_t>(probe.pairs.size());
    if (!probe.pairs.empty() || !probe.only_a.empty() || !probe.only_b.empty()) {
      probes.push_back(std::move(probe));
    }
  }
  if (matched == 0) {
    throw UsageError("no point has good rows in both " + a.dir.string() + " and " + b.dir.string());
  }
  return finish(std::move(result), probes, {options, kFewestSamples, modelled(a) && modelled(b)});
}

Comparison compare_halves(const StoredRun& run, const CompareOptions& options) {
  Comparison result;
  result.a = result.b = run_side(run);
  result.notes = reading_notes({&run});
  std::vector<ProbePairs> probes;
  for (const Schema* schema : all_schemas()) {
    ProbePairs probe{schema->probe, {}, {}, {}};
    for (const PointTimes& whole : times_of(run, schema->probe)) {
      if (whole.time.size() < 2) continue;
      Pair pair;
      pair.a.key = pair.b.key = whole.key;
      pair.a.label = pair.b.label = whole.label;
      for (std::size_t i = 0; i < whole.time.size(); ++i) {
        PointTimes& half = i % 2 == 0 ? pair.a : pair.b;
        half.time.push_back(whole.time[i]);
        if (!whole.cycles.empty()) half.cycles.push_back(whole.cycles[i]);
      }
      probe.pairs.push_back(std::move(pair));
    }
    if (!probe.pairs.empty()) probes.push_back(std::move(probe));
  }
  if (probes.empty()) {
    throw UsageError("--self " + run.dir.string() + ": no point has two good samples to deal out");
  }
  return finish(std::move(result), probes, {options, kFewestInHalf, modelled(run)});
}

}  // namespace sonde
