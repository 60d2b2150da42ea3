// Random copy engines, chips, profiles, pairs and samples of fixed seeds through the analyses, held
// to what came out when last looked at: a constant or an operator that changes is noticed, wherever
// it is. It stands beside the tests of truth, not in their place.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "core/decide.h"
#include "core/line.h"
#include "gemm_sweep/order.h"
#include "membw/ladder.h"
#include "membw/refine.h"
#include "tests/recovery/stored_facts.h"
#include "tests/recovery/topology_truth.h"
#include "tests/score/random_copies.h"
#include "tests/support/chip_outcome.h"
#include "tests/support/programs.h"
#include "topology/gram.h"
#include "topology/levels.h"
#include "topology/profile_fit.h"
#include "topology/sources.h"

namespace sonde::test {
namespace {

using truth::gaussian;

std::vector<double> as_numbers(const std::vector<std::int64_t>& whole) {
  return {whole.begin(), whole.end()};
}

TEST(Facts, SayWhatChangedAndNothingWithinABillionth) {
  EXPECT_TRUE(same_value("1", "1.0000000009"));
  EXPECT_FALSE(same_value("1", "1.0000000011"));
  EXPECT_TRUE(same_value("-2e9", "-2000000001"));
  EXPECT_FALSE(same_value("1", "-1"));
  EXPECT_FALSE(same_value("0", "1e-300"));
  EXPECT_FALSE(same_value("1", "one"));
  EXPECT_TRUE(same_value("one", "one"));
  EXPECT_FALSE(same_value("-", "0"));
  if (std::getenv("SONDE_RENEW_EXPECTED") != nullptr) GTEST_SKIP();
  const TemporaryDirectory directory;
  write_text(directory / "facts", "kept\t1 | a\nother\t2 | b\ngone\t3\nshort\t4\n");
  Facts facts;
  facts.add("kept", {1.0, "a"});
  facts.add("other", {2.5, "b"});
  facts.add("short", {4, 5});
  facts.add("fresh", {"x"});
  bool renewed = true;
  EXPECT_EQ(facts.compare(directory / "facts", renewed),
            (std::vector<std::string>{"changed: other: value 1 was 2, is 2.5",
                                      "changed: short: had 1 values, has 2", "new: fresh: x",
                                      "gone: gone: 3"}));
  EXPECT_FALSE(renewed);
}

TEST(StoredTables, Statistics) {
  Facts facts;
  for (int n = 1; n <= 61; n += n < 16 ? 1 : 9) {
    for (const char* kind : {"normal", "skewed", "ties"}) {
      Rng rng(key_of({static_cast<std::uint64_t>(n), static_cast<std::uint64_t>(kind[0])}));
      std::vector<double> s;
      for (int i = 0; i < n; ++i) {
        s.push_back(*kind == 'n'   ? 100 + 3 * gaussian(rng)
                    : *kind == 's' ? 100 + std::pow(gaussian(rng), 4)
                                   : 100 + static_cast<double>(rng.below(3)));
      }
      const std::string name = fmt::format("{} {}", kind, n);
      facts.add(name + " quantiles",
                {quantile(s, 0), quantile(s, 0.1), quantile(s, 0.37), median(s), quantile(s, 1)});
      facts.add(name + " spread", {mad(s), robust_deviation(s), median_deviation(n)});
      for (const double confidence : {0.8, 0.99}) {
        const auto interval = median_interval(s, confidence);
        facts.add(fmt::format("{} interval {}", name, confidence),
                  {interval ? std::optional(interval->low) : std::nullopt,
                   interval ? std::optional(interval->high) : std::nullopt});
      }
      facts.estimate(name + " plain", estimate_median(s, {}));
      facts.estimate(name + " looked", estimate_median(s, {true, {0.4, 0.8}}));
      facts.estimate(name + " rate", rate_of(7, estimate_median(s, {false, {0.2, 0.5}})));
      facts.add(name + " stop", {static_cast<int>(decide_stop(s, 0.002)),
                                 static_cast<int>(decide_stop(s, 0.05)), is_look(n)});
    }
  }
  for (std::uint64_t seed = 1; seed <= 8; ++seed) {
    Rng rng(seed);
    std::vector<Estimate> all(1 + rng.below(6));
    for (Estimate& e : all) {
      std::vector<double> s;
      for (std::uint64_t i = 3 + rng.below(20); i > 0; --i) s.push_back(10 + gaussian(rng));
      e = estimate_median(s, {});
    }
    facts.estimate(fmt::format("largest {}", seed), largest_of(all));
    std::vector<std::vector<double>> points;
    for (std::uint64_t p = 0; p < 3 * seed; ++p) {
      auto& series = points.emplace_back();
      double state = 0;
      for (std::uint64_t i = 6 + rng.below(25); i > 0; --i) {
        state = 0.1 * static_cast<double>(seed) * state + gaussian(rng);
        series.push_back(50 + state);
      }
    }
    const Drift drift = measure_drift(points);
    facts.add(fmt::format("drift {}", seed), {drift.neighbour, drift.decay, widening(drift, 9),
                                              widening(drift, 27), widening({0.5, 0.7}, 12)});
    std::vector<LinePoint> line;
    for (int i = 0; i < 4 + static_cast<int>(seed); ++i) {
      line.push_back({10.0 * i, (20 + 3 * i) * (1 + 0.05 * gaussian(rng))});
    }
    const RelativeLine fit = fit_relative_line(line);
    facts.add(fmt::format("line {}", seed),
              {fit.a, fit.b, fit.residual, fit.variance_at(3), fit.variance_at(40)});
  }
  for (const double freedom : {1.0, 2.0, 3.0, 7.0, 20.0, 200.0}) {
    for (const double p : {0.4, 0.1, 0.025, 1e-4}) {
      facts.add(fmt::format("above {} {}", p, freedom),
                {normal_above(p), student_above(p, freedom)});
    }
  }
  for (const std::size_t tests : {std::size_t{1}, std::size_t{40}, std::size_t{5000}}) {
    std::string decisions;
    for (int step = 0; step < 80; ++step) {
      decisions += "-?+"[static_cast<int>(decide(0.1 * step, 1, tests))];
    }
    facts.add(fmt::format("decide {}", tests), {decisions});
  }
  expect_stored(facts, "statistics.txt");
}

std::vector<double> numbers_of(const CopyShape& shape) {
  std::vector<double> all = {shape.peak_rate.value.value_or(0)};
  const auto add = [&](std::initializer_list<double> more) { all.insert(all.end(), more); };
  for (const CopySwitch& s : shape.switches) {
    add({s.last_old, s.first_new, s.jump_s, s.before_s, s.after_s, s.strength, s.dip_depth,
         s.jump_interval ? s.jump_interval->width() : 0, s.dip_bytes.value_or(0),
         s.recovered_bytes.value_or(0)});
  }
  for (const CopyEdge& e : shape.edges) {
    add({e.last_before, e.first_in, e.rise, e.top_bytes, e.start ? e.start->low : 0,
         e.start ? e.start->high : 0, e.recovered_bytes.value_or(0)});
  }
  for (const CopyClass& c : shape.classes) {
    add({static_cast<double>(c.modulus), c.from, c.to, c.factor,
         c.factor_interval ? c.factor_interval->width() : 0, static_cast<double>(c.sizes)});
  }
  for (const CopyUndecided& u : shape.undecided) add({u.last_before, u.first_after, u.jump_s});
  for (const CopyPiece& c : shape.pieces) add({c.from, c.to, c.fixed_s, c.per_byte_s});
  return all;
}

TEST(StoredTables, Copies) {
  Facts facts;
  for (std::uint64_t seed = 1000; seed < 1036; ++seed) {
    const auto engine = testing_copies::random_engine(seed);
    const Curve curve = testing_copies::measure_engine(engine, seed);
    std::vector<double> sizes;
    for (const CurvePoint& point : curve) sizes.push_back(point.x);
    const std::string name = fmt::format("engine {}", seed);
    facts.digest(name + " sizes", sizes);
    std::vector<double> capacities;
    if (!engine.edges.empty()) capacities.push_back(2 * engine.edges[0].from);
    add_copy_shape(facts, name, analyse_copy(curve, seed % 3 == 0, capacities));
  }
  for (std::uint64_t seed = 2000; seed < 2080; ++seed) {
    const auto engine = testing_copies::random_engine(seed);
    facts.digest(fmt::format("engine {}", seed),
                 numbers_of(analyse_copy(testing_copies::measure_engine(engine, seed), false)));
  }
  for (const int per_octave : {1, 2, 4, 8}) {
    for (const std::int64_t low : {64, 1000, 4096}) {
      for (const std::int64_t high : {4096, 70'001, 1 << 22}) {
        const std::string name = fmt::format("{} to {} by {}", low, high, per_octave);
        facts.digest("ladder " + name, as_numbers(size_ladder(low, high, per_octave)));
        if (per_octave == 1) facts.digest("classes " + name, as_numbers(class_sizes(low, high)));
      }
    }
  }
  for (std::uint64_t seed = 1; seed <= 12; ++seed) {
    Rng rng(seed);
    std::vector<TimedSize> tested;
    const double jump_at = 1e4 * static_cast<double>(1 + rng.below(40));
    for (const std::int64_t bytes : size_ladder(1024, 1 << 20, 4)) {
      const auto size = static_cast<double>(bytes);
      const double time = 1e-6 + 1e-10 * size + (size > jump_at ? 4e-6 : 0);
      tested.push_back({bytes, time * (1 + 0.01 * gaussian(rng)), 0.005 * rng.uniform()});
    }
    for (const bool real : {false, true}) {
      facts.digest(fmt::format("refine {} {}", seed, real), as_numbers(refine_sizes(tested, real)));
    }
  }
  expect_stored(facts, "copies.txt");
}

void add_partition(Facts& facts, const std::string& name, const Partition& partition) {
  std::string text;
  for (const int group : partition) text += std::to_string(group) + " ";
  facts.add(name, {text});
}

void add_look(Facts& facts, const std::string& name, const Look& look) {
  facts.digest(name + " all", look.all.cells());
  facts.digest(name + " half a", look.half_a.cells());
  facts.digest(name + " half b", look.half_b.cells());
  facts.digest(name + " weight", look.weight.cells());
  facts.add(name, {look.places, look.least_noise});
  if (look.resample) {
    Rng rng(7);
    facts.digest(name + " drawn", look.resample(rng).cells());
  }
}

/// Levels of the evidence, and what it says of cores alone, of groups, and inside groups.
void add_evidence(Facts& facts, const std::string& name, const Evidence& evidence) {
  const std::size_t cores = evidence.cores().size();
  const Partition one = one_group(cores), single = single_groups(cores);
  const Partition fours = truth::blocks(cores, 4), eights = truth::blocks(cores, 8);
  for (const Own own : {Own::none, Own::mean}) {
    const std::string of = name + (own == Own::none ? " none" : " mean");
    add_look(facts, of, evidence.look(one, single, single, {}, own));
    add_look(facts, of + " fours", evidence.look(one, fours, fours, {}, own));
    add_look(facts, of + " inside", evidence.look(eights, fours, fours, {single}, own));
  }
  facts.add(name, {evidence.one_start(), pair_noise(evidence)});
  for (const FoundLevel& level : find_levels(evidence, 3)) {
    add_partition(facts, name + " groups", level.partition);
    facts.add(name + " level", {level.stability, level.strength, level.gap});
  }
  for (const FoundLevel& level : find_levels(evidence, 3, eights)) {
    facts.add(name + " level inside", {level.stability, level.strength, level.gap});
  }
  const Look look = evidence.look(one, single, single, {}, Own::mean);
  const Dendrogram tree(look.all, look.weight, one);
  facts.digest(name + " joins", tree.joins());
  if (tree.joins().size() < 4) return;
  const Partition cut = tree.cut_above(tree.joins()[tree.joins().size() / 2]);
  add_partition(facts, name + " cut", cut);
  add_partition(facts, name + " cut like", tree.cut_like(fours));
  facts.add(name + " agree", {adjusted_rand(cut, fours, one), adjusted_rand(cut, fours, eights)});
}

TEST(StoredTables, Topology) {
  Facts facts;
  const std::vector<truth::Planted> two = {{truth::blocks(16, 8), 12}, {truth::blocks(16, 4), 8}};
  const std::vector<truth::Blemish> blemishes = {
      {},
      {.noise = 0.04, .offsets = 5, .noisy_cores = 2, .tails = 0.02},
      {.drift = 0.05, .clocks = 0.03, .hits_and_misses = false},
      {.noise = 0.3, .missing = 0.2}};
  for (std::size_t i = 0; i < blemishes.size(); ++i) {
    ProfileTable table = truth::profile(16, 200, two, blemishes[i], 40 + i);
    keep_covered(table);
    const std::string name = fmt::format("profile {}", i);
    const ProfileFit fit = fit_profiles(table.latency_ns);
    facts.digest(name + " rest", fit.rest.cells());
    facts.add(name, {fit.rounding, profile_spread(table), table.cores.size()});
    facts.digest(name + " products", mean_products(fit.rest, 8, 180).cells());
    add_evidence(facts, name, *profile_evidence(table));
  }
  for (std::uint64_t i = 0; i < 4; ++i) {
    const CoreMatrix matrix =
        truth::pairs(16, {{truth::blocks(16, 8), 0.05}, {truth::blocks(16, 4), 0.2}},
                     i == 3 ? 0.2 : 0.01, 0.02, 60 + i, i == 1 ? 0.02 : 0, i == 2 ? 0.2 : 0);
    const std::string name = fmt::format("pairs {}", i);
    add_evidence(facts, name, *pair_evidence(matrix, 0.01));
    Rng rng(i);
    PairSamples samples{matrix.cores, {}};
    for (const auto& cell : matrix.cells) {
      auto& values = samples.cells.emplace_back();
      for (std::uint64_t n = rng.below(4); cell && n > 0; --n) {
        values.push_back(*cell + 0.02 * gaussian(rng));
      }
    }
    add_evidence(facts, name + " samples", *pair_evidence(samples, 0.001));
  }
  Matrix normal(3, 3, 0.5);
  for (std::size_t i = 0; i < 3; ++i) normal(i, i) = static_cast<double>(i + 2);
  facts.digest("solved", solve_symmetric(normal, {1, 2, 4}));
  expect_stored(facts, "topology.txt");
}

void add_source(Facts& facts, const std::string& name, const SourceResult& source) {
  facts.add(name, {source.judged, source.verdict, source.basis, source.seen.size()});
  for (const NamedLevel& level : source.levels) {
    std::string groups;
    for (const auto& group : level.groups) groups += format_core_set(group) + " / ";
    facts.add(name + " level", {groups, level.stability, level.strength, level.basis});
  }
}

/// Ten cores, pairs of which slow each other down by a third, beside `subsets` random others (0:
/// beside each alone), `samples` times each.
void add_interference(Facts& facts, std::size_t subsets, int samples, std::uint64_t seed) {
  constexpr std::size_t kCores = 10;
  Rng rng(seed);
  DeviceDescription device;
  device.name = "made up";
  device.cores = truth::names(kCores);
  ChipRows rows(device);
  const auto add = [&](std::size_t victim, const std::vector<CoreName>& beside, const char* work,
                       double more) {
    for (int i = 0; i < samples; ++i) {
      const double ns = 100 * (1 + more) * (1 + 0.01 * gaussian(rng));
      rows.add("interfere", i,
               {device.cores[victim].str(), "load", format_core_set(beside), work,
                std::int64_t{4096}, std::int64_t{1000}, ns * 1e-6, ns});
    }
  };
  for (std::size_t victim = 0; victim < kCores; ++victim) {
    for (const char* work : {"none", "register", "load"}) {
      if (*work == 'n') add(victim, {}, work, 0);
      for (std::size_t s = 0; *work != 'n' && s < (subsets == 0 ? kCores : subsets); ++s) {
        std::vector<CoreName> beside;
        double more = 0;
        for (std::size_t core = 0; core < kCores; ++core) {
          if (core == victim || (subsets == 0 ? core != s : rng.below(3) == 0)) continue;
          beside.push_back(device.cores[core]);
          more += *work == 'r' ? 0 : core / 2 == victim / 2 ? 0.33 : 0.02;
        }
        if (!beside.empty()) add(victim, beside, work, more);
      }
    }
  }
  const ProbeRows& probe = *rows.run().probe("interfere");
  const std::string name = fmt::format("subsets {} of {}", subsets, samples);
  for (const Contention& kind : contentions_of(probe, TimeSource::host_clock)) {
    const auto matrix = slow_down(probe, TimeSource::host_clock, kind);
    facts.add(name + " " + kind.label(), {matrix.has_value()});
    if (!matrix) continue;
    std::vector<double> cells;
    for (const auto& cell : matrix->cells) cells.push_back(cell.value_or(std::nan("")));
    facts.digest(name + " " + kind.label(), cells);
  }
  for (const auto& source :
       judge_interference(slow_downs_of(probe, TimeSource::host_clock), probe.file, 3)) {
    add_source(facts, name, source);
    for (const auto& level :
         levels_inside(source, {{device.cores.begin(), device.cores.begin() + 8}}, 3)) {
      facts.add(name + " inside", {level.stability, level.strength});
    }
  }
}

TEST(StoredTables, Interference) {
  Facts facts;
  for (const std::size_t subsets : {0U, 7U, 11U, 12U, 13U, 30U}) {
    add_interference(facts, subsets, 1, 70 + subsets);
    add_interference(facts, subsets, 4, 90 + subsets);
  }
  Rng rng(8);
  DeviceDescription device;
  device.cores = truth::names(8);
  ChipRows rows(device);
  for (std::size_t from = 0; from < 8; ++from) {
    for (std::size_t to = 0; to < 8; ++to) {
      if (from == to || rng.below(8) == 0) continue;
      for (int i = 0; i < 3; ++i) {
        const double ns = (from / 4 == to / 4 ? 60 : 200) * (1 + 0.02 * gaussian(rng));
        rows.add("handoff", i,
                 {device.cores[from].str(), device.cores[to].str(), "write", std::int64_t{i},
                  std::int64_t{100}, ns * 1e-7, ns});
      }
    }
  }
  const ProbeRows& probe = *rows.run().probe("handoff");
  for (const auto& source : judge_handoff(probe, TimeSource::host_clock, 3)) {
    add_source(facts, "handoff", source);
  }
  expect_stored(facts, "interference.txt");
}

TEST(StoredTables, RandomChips) {
  using Kind = sim::Selector::Structure;
  constexpr std::size_t kMostCores = 28;
  Facts facts;
  int taken = 0;
  for (std::uint64_t seed = 200; taken < 16; ++seed) {
    const Kind kind = taken < 12 ? Kind::planted : Kind::none;
    if (sim::Topology(sim::random_chip(seed, kind)).cores().size() > kMostCores) continue;
    const ChipOutcome outcome = measure_chip(seed, kind, {});
    const std::string name = fmt::format("chip {}", seed);
    add_tree(facts, name, outcome.tree);
    facts.add(name + " launches", {outcome.launches});
    for (const TrueLevel& level : outcome.levels) facts.add(name + " true", {level.clearness});
    ++taken;
  }
  expect_stored(facts, "chips.txt");
}

TEST(StoredTables, Gemms) {
  Facts facts;
  const std::vector<Shape> shapes = standard_shapes();
  std::vector<double> m, n, k, turns;
  std::string labels;
  for (const Shape& shape : shapes) {
    m.push_back(static_cast<double>(shape.m));
    n.push_back(static_cast<double>(shape.n));
    k.push_back(static_cast<double>(shape.k));
    if (m.size() % 40 == 0) labels += shape.label + ", ";
  }
  facts.digest("m", m);
  facts.digest("n", n);
  facts.digest("k", k);
  facts.add("labels", {labels});
  facts.digest("stratified", as_numbers(stratify(shapes, 5)));
  for (const std::optional<double> budget : {std::optional<double>(), std::optional(3.0)}) {
    SweepWish wish;
    wish.budget_s = budget;
    wish.seed = 9;
    wish.estimate_s = [](const Shape& s) { return 1e-13 * static_cast<double>(s.m * s.n) * 64; };
    turns.clear();
    std::size_t skipped = 0;
    std::string roles;
    for (const Visit& visit : visits_of(shapes, wish)) {
      turns.push_back(static_cast<double>(visit.turn));
      turns.push_back(static_cast<double>(visit.shape.m));
      turns.push_back(static_cast<double>(visit.shape.k));
      skipped += visit.skip.empty() ? 0U : 1U;
      if (!visit.role.empty()) roles += visit.role + " ";
    }
    facts.digest("visits", turns);
    facts.add("visits", {skipped, roles});
  }
  expect_stored(facts, "gemms.txt");
}

}  // namespace
}  // namespace sonde::test
