// How often the inference is right, over random chips. The inference sees rows and manifest alone.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <set>

#include "device/registry.h"
#include "device/sim/random_chip.h"
#include "tests/support/chip_rows.h"
#include "tests/support/decidable.h"
#include "topology/core_tree.h"

namespace sonde {
namespace {

using Kind = sim::Selector::Structure;

struct Outcome {
  std::uint64_t seed = 0;
  std::size_t cores = 0;
  std::vector<TrueLevel> levels;
  std::vector<bool> found;  ///< each of `levels`
  CoreTree tree;
  std::vector<bool> right;  ///< each level of the tree
  double seconds = 0, infer_seconds = 0;

  int made_up() const { return static_cast<int>(std::count(right.begin(), right.end(), false)); }
  bool all_decidable() const {
    for (std::size_t l = 0; l < levels.size(); ++l) {
      if (levels[l].decidable() && !found[l]) return false;
    }
    return true;
  }
};

std::set<std::set<CoreName>> sets_of(const TreeLevel& level) {
  std::set<std::set<CoreName>> sets;
  for (const auto& group : level.groups) sets.insert({group.begin(), group.end()});
  return sets;
}

double now() {
  using Clock = std::chrono::steady_clock;
  return std::chrono::duration<double>(Clock::now().time_since_epoch()).count();
}

Outcome measure(std::uint64_t seed, Kind kind, const ChipDesign& design,
                const std::string& options) {
  Outcome o;
  const double start = now();
  const std::string name = "sim:random?seed=" + std::to_string(seed) +
                           (kind == Kind::none      ? "&structure=none"
                            : kind == Kind::planted ? "&structure=planted"
                                                    : "");
  const auto device = open_device(name + options);
  o.seed = seed;
  o.cores = device->description().cores.size();
  ChipRows rows(device->description());
  measure_profiles(*device, design.addresses, rows);
  measure_pairs(*device, design.launches, rows);
  const double measured = now();
  o.tree = infer_core_tree(rows.run());
  o.infer_seconds = now() - measured;
  const sim::Chip chip = sim::random_chip(seed, kind);
  o.levels = true_levels(chip, name, design);
  for (const TrueLevel& level : o.levels) {
    o.found.push_back(
        std::any_of(o.tree.levels.begin(), o.tree.levels.end(),
                    [&](const TreeLevel& t) { return sets_of(t) == level.planted.groups; }));
  }
  for (const TreeLevel& level : o.tree.levels) {
    o.right.push_back(std::any_of(o.levels.begin(), o.levels.end(), [&](const TrueLevel& t) {
      return t.planted.groups == sets_of(level);
    }));
  }
  o.seconds = now() - start;
  return o;
}

void print(const Outcome& o) {
  std::string text = fmt::format("seed {:5} {:4} cores {:5.1f}s/{:.1f}s planted", o.seed, o.cores,
                                 o.seconds, o.infer_seconds);
  for (std::size_t l = 0; l < o.levels.size(); ++l) {
    text += fmt::format(" {}{}{}({:.1f})", o.found[l] ? "" : "!", o.levels[l].planted.groups.size(),
                        o.levels[l].planted.name.substr(0, 1), o.levels[l].clearness);
  }
  text += " found";
  for (std::size_t l = 0; l < o.tree.levels.size(); ++l) {
    text += fmt::format(" {}{}[{:.2f} {}]", o.right[l] ? "" : "X", o.tree.levels[l].groups.size(),
                        o.tree.levels[l].stability.value_or(0), o.tree.levels[l].basis);
  }
  if (!o.all_decidable()) text += " MISSED";
  if (o.made_up() > 0) text += " MADE-UP";
  std::printf("%s\n", text.c_str());
  std::fflush(stdout);
}

}  // namespace
}  // namespace sonde

int main(int argc, char** argv) {
  using namespace sonde;
  const int chips = argc > 1 ? std::atoi(argv[1]) : 100;
  const auto first = static_cast<std::uint64_t>(argc > 2 ? std::atoi(argv[2]) : 1);
  const Kind kind = argc > 3 && !std::strcmp(argv[3], "none")      ? Kind::none
                    : argc > 3 && !std::strcmp(argv[3], "planted") ? Kind::planted
                                                                   : Kind::any;
  const std::size_t most = argc > 4 ? static_cast<std::size_t>(std::atoi(argv[4])) : 96;
  const std::string options = argc > 5 ? argv[5] : "";
  const bool only_wrong = argc > 6;
  int measured = 0, decided = 0, made = 0, dl = 0, df = 0, sure = 0, sure_right = 0, alarms = 0,
      bare = 0;
  for (std::uint64_t seed = first; measured < chips; ++seed) {
    if (sim::Topology(sim::random_chip(seed, kind)).cores().size() > most) continue;
    ++measured;
    const Outcome o = measure(seed, kind, {}, options);
    decided += o.all_decidable();
    made += o.made_up();
    bare += o.levels.empty();
    alarms += o.levels.empty() && !o.tree.levels.empty();
    for (std::size_t l = 0; l < o.levels.size(); ++l) {
      dl += o.levels[l].decidable();
      df += o.levels[l].decidable() && o.found[l];
    }
    for (std::size_t l = 0; l < o.right.size(); ++l) {
      if (o.tree.levels[l].stability.value_or(0) < 0.95) continue;
      ++sure;
      sure_right += o.right[l];
    }
    if (!only_wrong || !o.all_decidable() || o.made_up() > 0) print(o);
  }
  std::printf(
      "%d chips: %d with every decidable level; %d of %d decidable levels; %d made up; "
      "stable %d of %d right; alarms %d of %d bare\n",
      measured, decided, df, dl, made, sure_right, sure, alarms, bare);
}
