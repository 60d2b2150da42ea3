// Chips drawn by seed through the engines, rows and inference: what is planted comes out, and what
// is not planted does not. The inference sees rows and manifest alone.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <iomanip>
#include <iostream>
#include <limits>
#include <sstream>

#include "device/registry.h"
#include "device/sim/random_chip.h"
#include "tests/support/planted.h"
#include "topology/core_tree.h"

namespace sonde {
namespace {

using sim::PlantedLevel;
using Kind = sim::Selector::Structure;

constexpr std::size_t kMostCores = 96;
constexpr std::size_t kChips = 40;
constexpr std::int64_t kAddresses = 1024;
constexpr std::int64_t kRepetitions = 3;
/// Controls of each victim, as in a quick campaign.
constexpr std::size_t kControls = 4;

/// Rows of a run, in memory.
class Rows {
 public:
  explicit Rows(const DeviceDescription& device) {
    run_.name = "run";
    run_.manifest.seed = kSeed;
    run_.manifest.device = device;
    for (const Schema* schema : all_schemas()) run_.probes.push_back({schema, "", {}, {}});
  }

  void add(const std::string& probe, std::int64_t repetition, std::vector<Cell> values) {
    ProbeRows& rows = *std::find_if(run_.probes.begin(), run_.probes.end(),
                                    [&](const ProbeRows& p) { return p.schema->probe == probe; });
    if (!rows.table) {
      rows.table.emplace();
      rows.file = probe + ".csv";
    }
    Row row;
    row.device = run_.manifest.device.name;
    row.time_source = run_.manifest.device.time_source;
    row.repetition = repetition;
    row.values = std::move(values);
    row.values.resize(rows.schema->size());
    rows.table->rows.push_back(std::move(row));
  }

  const StoredRun& run() const { return run_; }

  static constexpr std::uint64_t kSeed = 11;

 private:
  StoredRun run_;
};

/// One profile a core.
void measure_profiles(Device& device, Rows& rows) {
  const DeviceDescription& d = device.description();
  std::int64_t point = 0;
  for (const CoreName& core : d.cores) {
    device.profile()->prepare({core, d.profile_bytes, kAddresses, Rows::kSeed});
    const Sample sample = device.profile()->run({Rows::kSeed, point++, 0});
    ASSERT_TRUE(device.profile()->verify().ok);
    std::int64_t index = 0;
    for (const AddressTime& at : sample.series) {
      rows.add(
          "profile", 0,
          {core.str(), index++, at.address_bytes, nanoseconds(at.latency), sample.elapsed.value()});
    }
  }
}

/// Every victim alone, beside each other core that loads, and beside some that only compute.
void measure_pairs(Device& device, Rows& rows) {
  const DeviceDescription& d = device.description();
  std::int64_t point = 0;
  const auto measure = [&](const CoreName& victim, const std::vector<CoreName>& aggressors,
                           const std::string& kind) {
    ContentionWork work;
    work.victim = victim;
    work.aggressors = aggressors;
    work.aggressor_work = kind;
    work.footprint_bytes = d.contention_bytes;
    work.loads = d.contention_bytes / d.chase_line_bytes;
    work.seed = Rows::kSeed;
    device.contention()->prepare(work);
    for (std::int64_t repetition = 0; repetition < kRepetitions; ++repetition) {
      const Sample sample = device.contention()->run({Rows::kSeed, point, repetition});
      ASSERT_TRUE(device.contention()->verify().ok);
      rows.add("interfere", repetition,
               {victim.str(), std::string("load"), format_core_set(aggressors), kind,
                work.footprint_bytes, work.loads, sample.elapsed.value(),
                nanoseconds(sample.elapsed) / static_cast<double>(work.loads)});
    }
    ++point;
  };
  const std::size_t cores = d.cores.size();
  for (std::size_t v = 0; v < cores; ++v) {
    measure(d.cores[v], {}, "none");
    for (std::size_t next = 1; next < cores; ++next) {
      const CoreName& aggressor = d.cores[(v + next) % cores];
      measure(d.cores[v], {aggressor}, "load");
      if (next <= kControls) measure(d.cores[v], {aggressor}, "register");
    }
  }
}

/// Slow-down of `victim` by one `aggressor` that loads, without noise, as a logarithm.
double slow_down(Device& device, const CoreName& victim, const CoreName& aggressor) {
  const DeviceDescription& d = device.description();
  ContentionWork work;
  work.victim = victim;
  work.footprint_bytes = d.contention_bytes;
  work.loads = d.contention_bytes / d.chase_line_bytes;
  device.contention()->prepare(work);
  const double alone = device.contention()->run({}).elapsed.value();
  work.aggressors = {aggressor};
  work.aggressor_work = "load";
  device.contention()->prepare(work);
  return std::log(device.contention()->run({}).elapsed.value() / alone);
}

/// Units of a level (groups of the next finer one, or cores) in each of its groups.
std::vector<std::size_t> units_of(const std::vector<PlantedLevel>& planted, std::size_t level) {
  std::vector<std::size_t> units;
  for (const std::set<CoreName>& group : planted[level].groups) {
    std::size_t inside = group.size();
    if (level + 1 < planted.size()) {
      inside = static_cast<std::size_t>(
          std::count_if(planted[level + 1].groups.begin(), planted[level + 1].groups.end(),
                        [&](const auto& unit) { return group.contains(*unit.begin()); }));
    }
    units.push_back(inside);
  }
  return units;
}

/// Least slow-down beside a core of the same group over the most beside any other, of one victim.
double contrast(Device& quiet, const PlantedLevel& level) {
  const auto group = std::find_if(level.groups.begin(), level.groups.end(),
                                  [](const auto& g) { return g.size() > 1; });
  const CoreName victim = *group->begin();
  double same = std::numeric_limits<double>::infinity(), other = 0;
  for (const CoreName& core : quiet.description().cores) {
    if (core == victim) continue;
    const double slow = slow_down(quiet, victim, core);
    if (group->contains(core)) {
      same = std::min(same, slow);
    } else {
      other = std::max(other, slow);
    }
  }
  return same - other;
}

/// Why a planted tree cannot be asked for whole; empty: it can. By what docs/analysis.md says of a
/// level: most units stand in groups of two or more, of which there are at least two, and what
/// shows it stands out of the noise. And by what the sweep of docs/simulator.md showed: with few
/// units, or one group that holds a large part of all cores, levels are missed or made up.
std::string unclear(const sim::Chip& chip, const std::vector<PlantedLevel>& planted,
                    Device& quiet) {
  const std::size_t cores = quiet.description().cores.size();
  for (std::size_t l = 0; l < planted.size(); ++l) {
    const PlantedLevel& level = planted[l];
    std::size_t all = 0, joined = 0, several = 0, largest = 0;
    for (std::size_t units : units_of(planted, l)) {
      all += units;
      joined += units > 1 ? units : 0;
      several += units > 1 ? 1 : 0;
    }
    for (const auto& group : level.groups) largest = std::max(largest, group.size());
    if (several < 2 || 2 * joined <= all) return level.name + "s of one unit";
    if (all < 8) return "few units in " + level.name + "s";
    if (level.groups.size() > 2 && 5 * largest >= 2 * cores) return "one large " + level.name;
    const double noise = static_cast<double>(chip.noise.launch_ppm) / 1e6;
    if (level.name != "die" && contrast(quiet, level) < 3 * noise) {
      return level.name + "s in the noise";
    }
  }
  return "";
}

struct Outcome {
  std::uint64_t seed = 0;
  std::size_t cores = 0;
  std::vector<PlantedLevel> planted;
  CoreTree tree;
  std::string unclear;  ///< why the whole tree cannot be asked for
  int found = 0;        ///< planted levels that came out whole
  int others = 0;       ///< levels that came out and were not planted

  bool whole() const { return others == 0 && found == static_cast<int>(planted.size()); }
};

std::set<std::set<CoreName>> sets_of(const TreeLevel& level) {
  std::set<std::set<CoreName>> sets;
  for (const auto& group : level.groups) sets.insert({group.begin(), group.end()});
  return sets;
}

Outcome measure_chip(std::uint64_t seed, Kind kind) {
  const std::string name = "sim:random?seed=" + std::to_string(seed) +
                           (kind == Kind::none ? "&structure=none" : "&structure=planted");
  const auto device = open_device(name);
  Rows rows(device->description());
  measure_profiles(*device, rows);
  measure_pairs(*device, rows);
  Outcome outcome;
  outcome.seed = seed;
  outcome.cores = device->description().cores.size();
  outcome.planted = planted_structure(sim::random_chip(seed, kind));
  outcome.unclear =
      unclear(sim::random_chip(seed, kind), outcome.planted, *open_device(name + "&noise=off"));
  outcome.tree = infer_core_tree(rows.run());
  for (const TreeLevel& level : outcome.tree.levels) {
    const bool right =
        std::any_of(outcome.planted.begin(), outcome.planted.end(),
                    [&](const PlantedLevel& p) { return p.groups == sets_of(level); });
    ++(right ? outcome.found : outcome.others);
  }
  return outcome;
}

std::string text_of(const Outcome& o) {
  std::ostringstream line;
  line << "seed " << std::setw(3) << o.seed << ", " << std::setw(2) << o.cores << " cores: planted";
  for (const PlantedLevel& level : o.planted) {
    line << ' ' << level.groups.size() << ' ' << level.name << 's';
  }
  if (o.planted.empty()) line << " nothing";
  line << "; found";
  for (const TreeLevel& level : o.tree.levels) line << ' ' << level.groups.size();
  if (o.tree.levels.empty()) line << (o.tree.none_found ? " none" : " cannot tell");
  if (!o.whole()) line << (o.others > 0 ? "; WRONG" : "; missed");
  if (!o.unclear.empty()) line << "; " << o.unclear;
  return line.str();
}

std::vector<Outcome> sweep(Kind kind) {
  std::vector<Outcome> all;
  for (std::uint64_t seed = 1; all.size() < kChips; ++seed) {
    const sim::Topology topology(sim::random_chip(seed, kind));
    if (topology.cores().size() > kMostCores) continue;
    all.push_back(measure_chip(seed, kind));
    std::cout << text_of(all.back()) << '\n';
  }
  return all;
}

TEST(RandomTopology, WhatIsPlantedComesOut) {
  int whole = 0, clear = 0, planted = 0, found = 0, others = 0;
  for (const Outcome& o : sweep(Kind::planted)) {
    EXPECT_FALSE(o.planted.empty()) << o.seed;
    EXPECT_TRUE(o.whole() || !o.unclear.empty()) << text_of(o);
    clear += o.unclear.empty() ? 1 : 0;
    whole += o.whole() ? 1 : 0;
    planted += static_cast<int>(o.planted.size());
    found += o.found;
    others += o.others;
  }
  std::cout << whole << " of " << kChips << " trees whole, " << clear << " were clear; " << found
            << " of " << planted << " levels found, " << others << " made up\n";
  EXPECT_GE(clear, 10);
  EXPECT_GE(whole, 28);
  EXPECT_GE(10 * found, 8 * planted);
  EXPECT_LE(10 * others, planted);
}

TEST(RandomTopology, NothingPlantedIsNoneFound) {
  int alarms = 0;
  for (const Outcome& o : sweep(Kind::none)) {
    EXPECT_TRUE(o.planted.empty()) << o.seed;
    alarms += o.tree.none_found ? 0 : 1;
  }
  std::cout << alarms << " of " << kChips << " chips without structure seem to have one\n";
  EXPECT_LE(20 * alarms, static_cast<int>(kChips));
}

}  // namespace
}  // namespace sonde
