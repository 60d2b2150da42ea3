// How often the inference is right, over random chips. The inference sees rows and manifest alone.
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <map>

#include "tests/support/chip_outcome.h"

namespace sonde {
namespace {

using Kind = sim::Selector::Structure;

/// Larger chips, a half of all that are drawn, take seconds each.
constexpr std::size_t kMostCores = 96;

/// Counts over a set of chips.
struct Tally {
  int chips = 0, every_decidable = 0;
  int decidable = 0, decidable_found = 0;
  int weak = 0, weak_found = 0, made_up = 0;
  int sure = 0, sure_right = 0;  ///< levels of stability 0.95 or more
  int bare = 0, alarms = 0;
  std::map<int, std::pair<int, int>> by_clearness;  ///< of so many standard errors: all, found

  void add(const ChipOutcome& o) {
    ++chips;
    every_decidable += o.every_decidable() ? 1 : 0;
    made_up += o.made_up();
    if (o.levels.empty()) {
      ++bare;
      alarms += o.tree.levels.empty() ? 0 : 1;
    }
    for (std::size_t l = 0; l < o.levels.size(); ++l) {
      const bool can = o.levels[l].decidable();
      const int found = o.found[l] ? 1 : 0;
      (can ? decidable : weak) += 1;
      (can ? decidable_found : weak_found) += found;
      auto& bin = by_clearness[bin_of(o.levels[l].clearness)];
      ++bin.first;
      bin.second += found;
    }
    for (std::size_t l = 0; l < o.right.size(); ++l) {
      if (o.tree.levels[l].stability.value_or(0) < 0.95) continue;
      ++sure;
      sure_right += o.right[l] ? 1 : 0;
    }
  }

  static int bin_of(double clearness) {
    for (int edge : {64, 32, 16, 8, 4, 2, 0}) {
      if (clearness >= edge) return edge;
    }
    return -1;
  }
};

class Score {
 public:
  Score() : csv_(std::string(SONDE_SOURCE_DIR) + "/data/score/topology.csv") {
    csv_ << "set,seed,cores,planted,decidable,decidable_found,weak_found,made_up,launches\n";
  }

  Tally run(const std::string& set, int chips, Kind kind, const ChipDesign& design) {
    Tally tally;
    for (std::uint64_t seed = 1; tally.chips < chips; ++seed) {
      if (sim::Topology(sim::random_chip(seed, kind)).cores().size() > kMostCores) continue;
      const ChipOutcome o = measure_chip(seed, kind, design);
      Tally one;
      one.add(o);
      csv_ << fmt::format("{},{},{},{},{},{},{},{},{}\n", set, seed, o.cores, o.levels.size(),
                          one.decidable, one.decidable_found, one.weak_found, one.made_up,
                          o.launches);
      if (!o.every_decidable() || o.made_up() > 0) std::printf("  %s\n", text_of(o).c_str());
      tally.add(o);
    }
    std::printf(
        "%s: %d chips, %d with every decidable level; %d of %d decidable levels, %d of %d "
        "weaker ones; %d made up; %d of %d stable ones right; %d of %d bare chips seem "
        "to have some\n",
        set.c_str(), tally.chips, tally.every_decidable, tally.decidable_found, tally.decidable,
        tally.weak_found, tally.weak, tally.made_up, tally.sure_right, tally.sure, tally.alarms,
        tally.bare);
    for (const auto& [edge, bin] : tally.by_clearness) {
      std::printf("  from %d standard errors: %d of %d\n", edge, bin.second, bin.first);
    }
    std::fflush(stdout);
    return tally;
  }

 private:
  std::ofstream csv_;
};

bool target(const char* what, double value, double bound, bool at_least) {
  const bool met = at_least ? value >= bound : value < bound;
  std::printf("%s %s: %.4f, target %s %.4f\n", met ? "met   " : "MISSED", what, value,
              at_least ? "at least" : "below", bound);
  return met;
}

double share(int part, int all) { return all > 0 ? static_cast<double>(part) / all : 0; }

}  // namespace
}  // namespace sonde

/// An argument divides the number of chips, for a look in between.
int main(int argc, char** argv) {
  using namespace sonde;
  const int part = argc > 1 ? std::max(1, std::atoi(argv[1])) : 1;
  Score score;
  const Tally any = score.run("any", 1000 / part, Kind::any, {});
  const Tally bare = score.run("none", 500 / part, Kind::none, {});
  // Recovery against noise and launches.
  for (const std::int64_t noise : {1, 2, 4}) {
    for (const std::int64_t launches : {1, 3}) {
      score.run(fmt::format("noise {}% launches {}", noise, launches), 30 / part, Kind::planted,
                {.addresses = 1024, .launches = launches, .noise_percent = noise});
    }
  }
  bool met =
      target("chips with every decidable level", share(any.every_decidable, any.chips), 0.99, true);
  met &= target("structureless chips with a level", share(bare.alarms, bare.chips), 0.01, false);
  met &= target("levels of stability 0.95 that are right", share(any.sure_right, any.sure), 0.95,
                true);
  return met ? 0 : 1;
}
