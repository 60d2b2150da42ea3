// Inputs near the limits at which the analyses decide one way or the other, held to what came out
// when last looked at: a limit that moves is noticed. Beside the tests of truth, as
// stored_tables_test.cpp.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "core/decide.h"
#include "membw/refine.h"
#include "tests/recovery/stored_facts.h"
#include "tests/recovery/topology_truth.h"
#include "tests/score/random_copies.h"
#include "topology/levels.h"

namespace sonde::test {
namespace {

using truth::gaussian;

double between(Rng& rng, double low, double high) {
  return low * std::pow(high / low, rng.uniform());
}

/// Groups of 1 to 6 cores; each of some two groups of the coarser level above.
std::vector<Partition> random_levels(Rng& rng, std::size_t& cores) {
  std::vector<Partition> levels(2);
  cores = 0;
  for (std::uint64_t groups = 2 + rng.below(5), g = 0; g < groups; ++g) {
    for (std::uint64_t size = 1 + rng.below(6); size > 0; --size, ++cores) {
      levels[0].push_back(static_cast<int>(g / 2));
      levels[1].push_back(static_cast<int>(g));
    }
  }
  return levels;
}

std::vector<double> numbers_of(const std::vector<FoundLevel>& levels) {
  std::vector<double> all;
  for (const FoundLevel& level : levels) {
    all.insert(all.end(), {level.stability, level.strength, level.gap});
    all.insert(all.end(), level.partition.begin(), level.partition.end());
  }
  return all;
}

void add_levels(Facts& facts, const std::string& name, const Evidence& evidence,
                const Partition& parent) {
  const auto levels = find_levels(evidence, 5), inside = find_levels(evidence, 5, parent);
  facts.digest(name, numbers_of(levels));
  facts.digest(name, numbers_of(inside));
  facts.add(name, {evidence.cores().size(), levels.size(), inside.size(), pair_noise(evidence)});
}

TEST(StoredMargins, LevelsHardlySeen) {
  Facts facts;
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    Rng rng(key_of({seed, 3}));
    std::size_t cores = 0;
    const std::vector<Partition> groups = random_levels(rng, cores);
    if (cores < kFewestCores) continue;
    const bool coarse = rng.below(2) == 0;
    const double own = rng.below(2) == 0 ? 0 : 0.05;
    const std::string name = fmt::format("seed {}", seed);

    truth::Blemish blemish;
    blemish.noise = 0.02;
    blemish.noisy_cores = static_cast<int>(rng.below(2));
    blemish.missing = rng.below(3) == 0 ? 0.1 : 0;
    blemish.drift = rng.below(3) == 0 ? 0.02 : 0;
    std::vector<truth::Planted> patterns = {{groups[1], between(rng, 0.3, 12)}};
    if (coarse) patterns.push_back({groups[0], between(rng, 0.3, 12)});
    ProfileTable table = truth::profile(cores, 64 + 8 * rng.below(12), patterns, blemish, seed);
    keep_covered(table);
    if (table.cores.size() == cores)
      add_levels(facts, name + " profile", *profile_evidence(table), groups[0]);

    std::vector<truth::Sharing> shared = {{groups[1], between(rng, 0.004, 0.3)}};
    if (coarse) shared.push_back({groups[0], between(rng, 0.004, 0.3)});
    const CoreMatrix matrix =
        truth::pairs(cores, shared, 0.02, own, seed, 0.01 * static_cast<double>(rng.below(3)),
                     0.1 * static_cast<double>(rng.below(3)));
    add_levels(facts, name + " pairs", *pair_evidence(matrix, 0.02), groups[0]);
    PairSamples samples{matrix.cores, {}};
    for (const auto& cell : matrix.cells) {
      auto& values = samples.cells.emplace_back();
      for (std::uint64_t n = 1 + rng.below(3); cell && n > 0; --n)
        values.push_back(*cell + 0.02 * gaussian(rng));
    }
    add_levels(facts, name + " samples", *pair_evidence(samples, 0.005), groups[0]);
  }
  expect_stored(facts, "margins_levels.txt");
}

/// The curve with few samples a point, as a run that was cut short leaves it.
Curve thinned(Curve curve, Rng& rng) {
  for (CurvePoint& point : curve) {
    point.samples.resize(std::min<std::size_t>(point.samples.size(), 1 + rng.below(9)));
    point.y = estimate_median(point.samples, {});
  }
  return curve;
}

/// Every so-manieth size of a part of the curve, as a user's own list of sizes may be.
Curve coarse(const Curve& curve, Rng& rng) {
  Curve kept;
  const std::size_t step = 1 + rng.below(9), most = 4 + rng.below(30);
  for (std::size_t i = rng.below(curve.size() / 2); i < curve.size() && kept.size() < most;
       i += step)
    kept.push_back(curve[i]);
  return kept;
}

TEST(StoredMargins, CopiesAtFewSizes) {
  Facts facts;
  for (std::uint64_t seed = 6000; seed < 6040; ++seed) {
    Rng rng(seed);
    testing_copies::CopyEngine engine = testing_copies::random_engine(seed);
    engine.noise *= between(rng, 0.05, 1);
    const Curve curve = testing_copies::measure_engine(engine, seed);
    for (int part = 0; part < 4; ++part) {
      add_copy_shape(facts, fmt::format("engine {} part {}", seed, part),
                     analyse_copy(coarse(curve, rng), part == 0, {}));
    }
  }
  expect_stored(facts, "margins_few_sizes.txt");
}

TEST(StoredMargins, CopiesOfFewSamplesAndMuchNoise) {
  Facts facts;
  for (std::uint64_t seed = 5000; seed < 5050; ++seed) {
    Rng rng(seed);
    testing_copies::CopyEngine engine = testing_copies::random_engine(seed);
    engine.noise *= between(rng, 0.05, 3);
    // Jumps of a fraction of the noise to a few of it.
    if (engine.switch_bytes) {
      const double jump =
          between(rng, 0.3, 8) * engine.noise * engine.old_time(*engine.switch_bytes);
      engine.new_fixed_s += jump - engine.jump_s;
      engine.jump_s = jump;
    }
    Curve curve = testing_copies::measure_engine(engine, seed);
    if (seed % 2 == 0) curve = thinned(std::move(curve), rng);
    if (seed % 5 == 0) curve.resize(curve.size() / (1 + rng.below(12)));
    std::vector<double> capacities;
    for (const auto& edge : engine.edges) capacities.push_back(edge.from * between(rng, 0.7, 3));
    add_copy_shape(facts, fmt::format("engine {}", seed),
                   analyse_copy(curve, seed % 3 == 0, capacities));
  }
  expect_stored(facts, "margins_copies.txt");
}

TEST(StoredMargins, GapsHardlyWorthASize) {
  Facts facts;
  for (std::uint64_t seed = 1; seed <= 120; ++seed) {
    Rng rng(key_of({seed, 9}));
    std::vector<TimedSize> tested;
    const double at = between(rng, 2e3, 8e5), jump = between(rng, 0.003, 0.6),
                 noise = between(rng, 1e-4, 0.02), step = 1.02 + 0.4 * rng.uniform();
    for (double size = 1024 + 64 * static_cast<double>(rng.below(30)); size < 1e6; size *= step) {
      const auto bytes = static_cast<std::int64_t>(size) / 64 * 64;
      if (!tested.empty() && bytes <= tested.back().bytes) continue;
      const double time = (2e-7 + 1e-10 * size) * (size > at ? 1 + jump : 1);
      tested.push_back({bytes, time * (1 + noise * gaussian(rng)), noise * rng.uniform()});
    }
    if (seed % 10 == 0) tested.resize(std::min<std::size_t>(tested.size(), seed / 10));
    for (const bool real : {false, true}) {
      const std::vector<std::int64_t> next = refine_sizes(tested, real);
      facts.digest(fmt::format("gaps {} {}", seed, real),
                   std::vector<double>(next.begin(), next.end()));
    }
  }
  expect_stored(facts, "margins_gaps.txt");
}

TEST(StoredMargins, Stops) {
  Facts facts;
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    Rng rng(key_of({seed, 11}));
    const double noise = between(rng, 1e-4, 0.3);
    std::vector<double> samples;
    std::string stops;
    while (samples.size() < 130) {
      samples.push_back(100 * (1 + noise * gaussian(rng)));
      stops += std::to_string(static_cast<int>(decide_stop(samples, 0.02)));
    }
    facts.add(fmt::format("stops {}", seed), {stops});
    std::vector<std::vector<double>> points(1 + rng.below(4));
    for (auto& series : points) {
      double state = 0, slow = 0;
      for (std::uint64_t i = 2 + rng.below(40); i > 0; --i) {
        state = 0.6 * rng.uniform() * state + gaussian(rng);
        slow = 0.95 * slow + 0.3 * gaussian(rng);
        series.push_back(50 + state + (seed % 2 == 0 ? slow : 0));
      }
    }
    const Drift drift = measure_drift(points);
    facts.add(fmt::format("drift {}", seed),
              {drift.neighbour, drift.decay, widening(drift, 5), widening(drift, 60)});
  }
  expect_stored(facts, "margins_stops.txt");
}

}  // namespace
}  // namespace sonde::test
