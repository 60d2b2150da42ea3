// Chips drawn by seed: what is drawn, how often, and how a device name asks for one.
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <map>

#include "core/error.h"
#include "device/registry.h"
#include "device/sim/random_chip.h"
#include "device/sim/selector.h"
#include "tests/support/planted.h"

namespace sonde::sim {
namespace {

using Kind = Selector::Structure;

std::int64_t core_count(const Chip& chip) {
  return chip.subsystems() * (chip.structure.vectors + chip.structure.cubes);
}

std::string open_error(const std::string& name) {
  try {
    open_device(name);
  } catch (const UsageError& error) {
    return error.what();
  }
  return "";
}

TEST(RandomChip, OneSeedIsOneChip) {
  const Chip a = random_chip(7, Kind::any), b = random_chip(7, Kind::any);
  EXPECT_EQ(a.check, b.check);
  EXPECT_EQ(a.structure.working, b.structure.working);
  EXPECT_EQ(a.scatter.core_offset, b.scatter.core_offset);
  EXPECT_NE(a.check, random_chip(8, Kind::any).check);
  EXPECT_NE(random_chip(7, Kind::none).check, random_chip(7, Kind::planted).check);
}

TEST(RandomChip, KnownDrawsOfTheFirstSeeds) {
  // Pinned: the same on every machine and compiler. Changes only with the way chips are drawn.
  std::vector<std::int64_t> cores;
  std::vector<Ticks> near;
  for (std::uint64_t seed = 1; seed <= 6; ++seed) {
    const Chip chip = random_chip(seed, Kind::any);
    cores.push_back(core_count(chip));
    near.push_back(chip.memory.l2_near);
  }
  EXPECT_EQ(cores, (std::vector<std::int64_t>{8, 96, 252, 102, 481, 448}));
  EXPECT_EQ(near, (std::vector<Ticks>{187307, 148718, 106174, 168405, 115876, 77210}));
}

TEST(RandomChip, DrawsCoverTheirRanges) {
  constexpr int kChips = 500;
  std::map<int, int> dies, octaves;
  int hop = 0, hop_possible = 0, shared_port = 0, structured = 0, unequal = 0, copy_switch = 0;
  int gradient = 0, offset = 0, without_cubes = 0;
  for (std::uint64_t seed = 1; seed <= kChips; ++seed) {
    const Chip chip = random_chip(seed, Kind::any);
    const std::int64_t cores = core_count(chip);
    ASSERT_GE(cores, 8) << seed;
    ASSERT_LE(cores, 1024) << seed;
    ++octaves[static_cast<int>(std::bit_width(static_cast<std::uint64_t>(cores)))];
    copy_switch += chip.copy_switch_bytes > 0 ? 1 : 0;
    offset += chip.scatter.core_offset > 0 ? 1 : 0;
    const auto planted = planted_structure(chip);
    if (planted.empty()) {
      gradient += chip.scatter.gradient > 0 ? 1 : 0;
      continue;
    }
    ++structured;
    EXPECT_EQ(chip.scatter.gradient, 0) << seed;
    ++dies[chip.structure.dies];
    without_cubes += chip.structure.cubes == 0 ? 1 : 0;
    shared_port += chip.structure.group_subsystems > 1 ? 1 : 0;
    if (chip.structure.dies > 1) {
      ++hop_possible;
      hop += chip.memory.l2_far > chip.memory.l2_near ? 1 : 0;
    }
    std::set<std::size_t> sizes;
    for (const auto& group : planted.back().groups) sizes.insert(group.size());
    for (const auto& group : planted.front().groups) sizes.insert(group.size());
    unequal += sizes.size() > 2 ? 1 : 0;
  }
  const auto share = [](int part, int whole) {
    return static_cast<double>(part) / static_cast<double>(whole);
  };
  EXPECT_NEAR(share(structured, kChips), 0.75, 0.06);
  for (int octave = 4; octave <= 10; ++octave) {
    EXPECT_NEAR(share(octaves[octave], kChips), 1.0 / 7, 0.06) << (1 << octave) / 2;
  }
  for (int count = 1; count <= 8; ++count) EXPECT_GT(dies[count], structured / 20) << count;
  EXPECT_NEAR(share(hop, hop_possible), 5.0 / 6, 0.07);
  EXPECT_NEAR(share(shared_port, structured), 0.75, 0.07);
  EXPECT_NEAR(share(copy_switch, kChips), 2.0 / 3, 0.07);
  EXPECT_NEAR(share(gradient, kChips - structured), 0.5, 0.12);
  EXPECT_NEAR(share(offset, kChips), 0.5, 0.07);
  EXPECT_NEAR(share(without_cubes, structured), 1.0 / 3, 0.08);
  EXPECT_GT(share(unequal, structured), 0.5);
}

TEST(RandomChip, StructureIsAsAskedFor) {
  for (std::uint64_t seed = 1; seed <= 100; ++seed) {
    EXPECT_TRUE(planted_structure(random_chip(seed, Kind::none)).empty()) << seed;
    EXPECT_FALSE(planted_structure(random_chip(seed, Kind::planted)).empty()) << seed;
  }
}

TEST(RandomChip, LevelsNest) {
  for (std::uint64_t seed = 1; seed <= 100; ++seed) {
    const Chip chip = random_chip(seed, Kind::planted);
    const auto levels = planted_structure(chip);
    for (std::size_t l = 0; l < levels.size(); ++l) {
      std::size_t cores = 0;
      for (const auto& group : levels[l].groups) {
        cores += group.size();
        if (l == 0) continue;
        const auto holds = [&](const std::set<CoreName>& outer) {
          return std::includes(outer.begin(), outer.end(), group.begin(), group.end());
        };
        EXPECT_EQ(std::count_if(levels[l - 1].groups.begin(), levels[l - 1].groups.end(), holds), 1)
            << seed;
      }
      EXPECT_EQ(static_cast<std::int64_t>(cores), core_count(chip)) << seed;
    }
  }
}

/// Neighbours by number share a subsystem as often as chance has it: twice in fifteen where a
/// subsystem has three of sixteen cores.
TEST(RandomChip, NumbersSayNothingOfPlaces) {
  double together = 0, expected = 0;
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    const Chip chip = random_chip(seed, Kind::planted);
    const Topology topology(chip);
    const auto vectors = topology.vectors();
    for (std::size_t i = 0; i + 1 < vectors.size(); ++i) {
      ASSERT_EQ(vectors[i].number, static_cast<int>(i));
      together += vectors[i].subsystem == vectors[i + 1].subsystem ? 1 : 0;
      expected +=
          static_cast<double>(chip.structure.vectors - 1) / static_cast<double>(vectors.size() - 1);
    }
  }
  ASSERT_GT(expected, 50);
  EXPECT_NEAR(together, expected, 4 * std::sqrt(expected));
}

TEST(RandomChip, EveryCoreHasItsOwnOffsetAndPlaceOnTheRow) {
  Chip chip = random_chip(3, Kind::none);
  chip.scatter.core_offset = 10'000;
  chip.scatter.gradient = 30'000;
  const Topology topology(chip);
  std::set<std::int64_t> places;
  Ticks least = 10'000, most = 0;
  for (const CoreSite& site : topology.cores()) {
    places.insert(site.along_row);
    least = std::min(least, site.offset);
    most = std::max(most, site.offset);
  }
  EXPECT_EQ(places.size(), topology.cores().size());
  EXPECT_EQ(*places.begin(), 0);
  EXPECT_EQ(*places.rbegin(), kRow);
  EXPECT_GE(least, 0);
  EXPECT_LE(most, 10'000);
  EXPECT_GT(most - least, 5'000);
}

TEST(RandomChip, TheDescriptionTellsTheSeedAndNoStructure) {
  const auto device = open_device("sim:random?seed=12&structure=planted");
  const DeviceDescription& d = device->description();
  const Chip chip = random_chip(12, Kind::planted);
  EXPECT_EQ(d.name, "sim:random?seed=12&structure=planted");
  EXPECT_EQ(static_cast<std::int64_t>(d.cores.size()), core_count(chip));
  bool found = false;
  for (const auto& [name, value] : d.conditions) {
    if (name != "chip file") continue;
    found = true;
    EXPECT_NE(value.find("seed=12"), std::string::npos) << value;
    EXPECT_NE(value.find(chip.check), std::string::npos) << value;
  }
  EXPECT_TRUE(found);
  EXPECT_TRUE(d.parameters.empty());
}

TEST(RandomChip, IsListedOnce) {
  int listed = 0;
  for (const Listing& listing : list_devices()) {
    listed += listing.name.starts_with("sim:random") ? 1 : 0;
  }
  EXPECT_EQ(listed, 1);
}

TEST(SelectorText, TakesEveryOption) {
  const Selector plain = parse_selector("950pr_9579");
  EXPECT_TRUE(plain.noise && !plain.drift && !plain.episodes && !plain.steps &&
              !plain.noise_spread_ppm);
  const Selector all = parse_selector(
      "random?structure=none&noise=2.5%+drift+episodes+steps&seed=18446744073709551615");
  EXPECT_EQ(all.chip, "random");
  EXPECT_EQ(all.seed, ~std::uint64_t{0});
  EXPECT_EQ(all.structure, Kind::none);
  EXPECT_TRUE(all.noise && all.drift && all.episodes && all.steps);
  EXPECT_EQ(all.noise_spread_ppm, 25'000);
  EXPECT_FALSE(parse_selector("a?noise=off").noise);
  EXPECT_TRUE(parse_selector("a?noise=drift").drift);
  EXPECT_EQ(parse_selector("a?noise=0.0001%").noise_spread_ppm, 1);
  EXPECT_EQ(parse_selector("a?noise=20%").noise_spread_ppm, 200'000);
  for (const char* noise : {"on", "off", "on+drift", "2.0000%+episodes", "on+steps"}) {
    EXPECT_EQ(noise_text(parse_selector("a?noise=" + std::string(noise))), noise);
  }
}

TEST(SelectorText, RefusesInOneLine) {
  for (const auto& [name, said] : std::map<std::string, std::string>{
           {"sim:random", "no seed"},
           {"sim:random?structure=none", "no seed"},
           {"sim:random?seed=", "whole number"},
           {"sim:random?seed=-1", "whole number"},
           {"sim:random?seed=1.5", "whole number"},
           {"sim:random?seed=18446744073709551616", "whole number"},
           {"sim:random?seed=1&seed=2", "given twice"},
           {"sim:random?seed=1&structure=some", "planted"},
           {"sim:random?seed=1&cores=8", "unknown option \"cores=8\""},
           {"sim:950pr_9579?seed=1", "sim:random alone"},
           {"sim:950pr_9579?structure=any", "sim:random alone"},
           {"sim:950pr_9579?noise=", "unknown option"},
           {"sim:950pr_9579?noise=off+drift", "unknown option"},
           {"sim:950pr_9579?noise=drift+", "unknown option"},
           {"sim:950pr_9579?noise=drift+drift", "given twice"},
           {"sim:950pr_9579?noise=1%+2%", "unknown option"},
           {"sim:950pr_9579?noise=21%", "20%"},
           {"sim:950pr_9579?noise=-1%", "20%"},
           {"sim:950pr_9579?noise=%", "20%"},
           {"sim:950pr_9579?noise=1.%", "20%"},
           {"sim:950pr_9579?noise=0.00001%", "20%"},
           {"sim:950pr_9579?noise=1e1%", "20%"},
       }) {
    const std::string error = open_error(name);
    EXPECT_NE(error.find(said), std::string::npos) << name << " gives " << error;
    EXPECT_EQ(error.find('\n'), std::string::npos) << error;
  }
}

}  // namespace
}  // namespace sonde::sim
