#include "tests/support/chip_outcome.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>

namespace sonde {
namespace {

double now() {
  using Clock = std::chrono::steady_clock;
  return std::chrono::duration<double>(Clock::now().time_since_epoch()).count();
}

}  // namespace

int ChipOutcome::made_up() const {
  return static_cast<int>(std::count(right.begin(), right.end(), false));
}

bool ChipOutcome::every_decidable() const {
  for (std::size_t l = 0; l < levels.size(); ++l) {
    if (levels[l].decidable() && !found[l]) return false;
  }
  return true;
}

std::set<std::set<CoreName>> sets_of(const TreeLevel& level) {
  std::set<std::set<CoreName>> sets;
  for (const auto& group : level.groups) sets.insert({group.begin(), group.end()});
  return sets;
}

ChipOutcome measure_chip(std::uint64_t seed, sim::Selector::Structure kind,
                         const ChipDesign& design) {
  using Kind = sim::Selector::Structure;
  ChipOutcome o;
  const double start = now();
  const std::string name = "sim:random?seed=" + std::to_string(seed) +
                           (kind == Kind::none      ? "&structure=none"
                            : kind == Kind::planted ? "&structure=planted"
                                                    : "");
  const auto device = open_device(
      name + (design.noise_percent ? fmt::format("&noise={}%", *design.noise_percent) : ""));
  o.seed = seed;
  o.cores = device->description().cores.size();
  ChipRows rows(device->description());
  measure_profiles(*device, design.addresses, rows);
  o.launches = measure_pairs(*device, design.launches, rows);
  const double measured = now();
  o.tree = infer_core_tree(rows.run());
  o.infer_seconds = now() - measured;
  o.levels = true_levels(sim::random_chip(seed, kind), name, design);
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

std::string text_of(const ChipOutcome& o) {
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
  if (!o.every_decidable()) text += " MISSED";
  if (o.made_up() > 0) text += " MADE-UP";
  return text;
}

}  // namespace sonde
