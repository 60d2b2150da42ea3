// The shipped chip files against the published tables, and bases: what a file inherits, what is
// refused, and whose line an error names.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <sstream>

#include "core/csv_reader.h"
#include "core/error.h"
#include "core/manifest.h"
#include "device/registry.h"
#include "device/sim/topology.h"
#include "tests/model/chip_text.h"

namespace sonde::sim {
namespace {

constexpr double kTera = 1e12;

struct Figure {
  std::string quantity;
  double value = 0;
  std::string chip;
};

/// Lines of data/published/skus.csv.
std::vector<Figure> sku_table() {
  std::istringstream in(read_file(data_directory() / "published" / "skus.csv"));
  std::string line;
  std::getline(in, line);
  EXPECT_EQ(line, "id,quantity,value,unit,tolerance,tolerance_kind,device,source");
  std::vector<Figure> figures;
  while (std::getline(in, line)) {
    std::string problem;
    const auto cells = split_record(line, &problem);
    EXPECT_TRUE(cells && cells->size() == 8) << line << problem;
    EXPECT_FALSE(cells->back().empty()) << line;
    figures.push_back({(*cells)[1], std::stod((*cells)[2]), (*cells)[6]});
  }
  return figures;
}

double peak(const Chip& chip, const std::string& dtype) {
  return static_cast<double>(chip.cubes() * chip.structure.flop_per_cycle.at(dtype)) *
         static_cast<double>(chip.clock_hz);
}

/// The quantity of the table as the chip file gives it.
double given(const Chip& chip, const std::string& quantity) {
  const auto hbm = static_cast<double>(chip.memory.hbm_bytes_per_s);
  if (quantity == "cube_cores") return static_cast<double>(chip.cubes());
  if (quantity == "vector_cores") {
    return static_cast<double>(chip.subsystems() * chip.structure.vectors);
  }
  if (quantity == "clock") return static_cast<double>(chip.clock_hz) / 1e6;
  if (quantity == "hbm_capacity") return static_cast<double>(chip.memory.hbm_bytes) / kGiB;
  if (quantity == "l2") return static_cast<double>(chip.l2_bytes()) / kMiB;
  if (quantity == "aicpu_configured") return chip.aicpu->configured;
  if (quantity == "bf16_peak") return peak(chip, "bf16") / kTera;
  if (quantity == "fp16_peak") return peak(chip, "fp16") / kTera;
  if (quantity == "hbm_rate") return hbm / kTera;
  if (quantity == "power_cap") return static_cast<double>(chip.power.cap_mw) / 1e3;
  // The platform files cut bytes a cycle of each of 32 cores at 1650 MHz to whole bytes.
  if (quantity == "ddr_rate") return std::floor(hbm / (32 * 1.65e9) + 1e-6);
  ADD_FAILURE() << "no quantity " << quantity;
  return 0;
}

TEST(SimChipFiles, EveryFileIsInTheTableAndAgreesWithIt) {
  std::set<std::string> seen;
  for (const Figure& figure : sku_table()) {
    const Chip chip = load_chip(figure.chip);
    seen.insert(figure.chip);
    EXPECT_NEAR(given(chip, figure.quantity), figure.value, 0.001 * figure.value)
        << figure.chip << " " << figure.quantity;
  }
  const std::vector<std::string> names = chip_names();
  EXPECT_EQ(std::vector<std::string>(seen.begin(), seen.end()), names);
  EXPECT_GE(names.size(), 59U);
}

TEST(SimChipFiles, EveryValueHasUnitSourceAndConfidence) {
  for (const std::string& name : chip_names()) {
    const Chip chip = load_chip(name);
    EXPECT_GT(chip.parameters.size(), 40U) << name;
    for (const Parameter& p : chip.parameters) {
      const std::string where = name + ": " + p.section + "." + p.key;
      EXPECT_FALSE(p.value.empty() || p.unit.empty() || p.source.empty()) << where;
      EXPECT_TRUE(p.confidence == "published" || p.confidence == "derived" ||
                  p.confidence == "guess")
          << where;
      EXPECT_TRUE(chip_file_text(p.file.substr(0, p.file.size() - 5))) << where << p.file;
    }
  }
}

TEST(SimChipFiles, EveryProductAndCheckIsItsOwn) {
  std::map<std::string, std::string> products;
  std::map<std::string, std::string> checks;
  for (const std::string& name : chip_names()) {
    const Chip chip = load_chip(name);
    EXPECT_TRUE(products.emplace(chip.product, name).second) << name << " as " << chip.product;
    EXPECT_TRUE(checks.emplace(chip.check, name).second) << name;
  }
}

TEST(SimChipFiles, BinsTakeChannelsWithTheirSlices) {
  const struct {
    const char* name;
    std::int64_t channels;
    std::int64_t hbm_gib;
    std::int64_t giga;  // bytes a second
  } bins[] = {{"950pr_9579", 32, 128, 16384},   {"950pr_957b", 28, 112, 14336},
              {"950pr_957c", 28, 84, 14336},    {"950pr_957d", 24, 96, 12288},
              {"950pr_9589", 32, 128, 16384},   {"950pr_958b", 28, 112, 14336},
              {"ascend350_355e", 16, 64, 8192}, {"ascend350_354f", 14, 56, 7168}};
  for (const auto& bin : bins) {
    const Chip chip = load_chip(bin.name);
    EXPECT_EQ(chip.memory.channels, bin.channels) << bin.name;
    EXPECT_EQ(chip.l2_bytes(), bin.channels * 4 * kMiB) << bin.name;
    EXPECT_EQ(chip.memory.hbm_bytes, bin.hbm_gib * kGiB) << bin.name;
    EXPECT_EQ(chip.memory.hbm_bytes_per_s, bin.giga * 100'000'000) << bin.name;
  }
}

TEST(SimChipFiles, HarvestTakesWholeGroupsFirst) {
  using Groups = std::vector<std::vector<std::int64_t>>;
  const auto working = [](const char* name) { return load_chip(name).structure.working; };
  EXPECT_EQ(working("950pr_9599"), Groups(2, {3, 3, 3, 3, 3, 3}));
  EXPECT_EQ(working("950dt_9581"), Groups(2, {3, 3, 3, 3, 3, 1}));
  EXPECT_EQ(working("950dt_9571"), Groups(2, {3, 3, 3, 3, 2, 0}));
  EXPECT_EQ(working("ascend350_355e"), Groups(1, {3, 3, 3, 3, 3, 1}));
  EXPECT_EQ(working("950pr_950z"), Groups(1, {3, 1, 0, 0, 0, 0}));
}

TEST(SimChipFiles, DatasheetPeaksAreOrdered) {
  const double a100 = peak(load_chip("a100_sxm_80gb"), "bf16");
  const double npu = peak(load_chip("950pr_9579"), "bf16");
  const double mi300x = peak(load_chip("mi300x"), "bf16");
  EXPECT_LT(a100, npu);
  EXPECT_LT(npu, mi300x);
}

TEST(SimChipFiles, TypesHaveTheirOwnRates) {
  const Chip chip = load_chip("950pr_9579");
  EXPECT_NEAR(peak(chip, "fp8") / kTera, 756.9, 0.8);
  EXPECT_NEAR(peak(chip, "mxfp4") / kTera, 1513.9, 1.5);
  EXPECT_NEAR(peak(chip, "fp32") / kTera, 23.6, 0.06);
  EXPECT_EQ(chip.depth_per_cycle("bf16"), 16);
  EXPECT_EQ(chip.depth_per_cycle("mxfp4"), 64);
  EXPECT_EQ(chip.depth_per_cycle("fp32"), 1);
  EXPECT_EQ(chip.depth_per_cycle("int4"), 0);
  EXPECT_EQ(load_chip("910a").depth_per_cycle("bf16"), 0);
  EXPECT_EQ(load_chip("910a").depth_per_cycle("fp16"), 16);
}

TEST(SimChipFiles, CopySwitchOfEachGeneration) {
  for (const std::string& name : chip_names()) {
    const Chip chip = load_chip(name);
    const bool first = chip.structure.kinds.front() == "aicore";
    if (!chip.parts.two_copies) continue;
    EXPECT_EQ(chip.copy_switch_bytes, first ? 800'000 : 400'000) << name;
  }
}

TEST(SimChipFiles, OneKindOfCoreDoesAll) {
  const Chip chip = load_chip("910prob");
  const Topology topology(chip);
  EXPECT_EQ(chip.cubes(), 30);
  ASSERT_EQ(topology.cores().size(), 30U);
  EXPECT_EQ(topology.cores().back().name().str(), "aicore29");
  EXPECT_EQ(topology.find({"aicore", 29}), 29);
  EXPECT_FALSE(topology.find({"aicore", 30}));
  EXPECT_FALSE(topology.find({"vector", 0}));
  EXPECT_EQ(topology.block_order("aicore").size(), 30U);
  EXPECT_TRUE(topology.block_order("cube").empty());
  EXPECT_EQ(topology.names(), "cores are aicore0 to aicore29");
}

TEST(SimChipFiles, WhatAFileDoesNotDescribeIsAbsent) {
  const auto peer = open_device("sim:h100_sxm");
  EXPECT_EQ(peer->chase(), nullptr);
  EXPECT_EQ(peer->profile(), nullptr);
  EXPECT_EQ(peer->contention(), nullptr);
  EXPECT_EQ(peer->stream(), nullptr);
  ASSERT_NE(peer->copy(), nullptr);
  ASSERT_NE(peer->gemm(), nullptr);
  const DeviceDescription& d = peer->description();
  EXPECT_EQ(d.kinds(), std::vector<std::string>{"sm"});
  EXPECT_EQ(d.cores.size(), 132U);
  EXPECT_EQ(d.profile_bytes, 0);
  EXPECT_TRUE(d.aggressor_works.empty() && d.stream.kinds.empty());
  ASSERT_EQ(d.copies.size(), 1U);
  EXPECT_EQ(d.copies[0].methods, std::vector<std::string>{"auto"});
  EXPECT_NEAR(*d.roof("bf16_flop_per_s") / kTera, 989.4, 1);
  EXPECT_NEAR(*d.roof("fp8_flop_per_s") / *d.roof("bf16_flop_per_s"), 2, 1e-9);
  EXPECT_FALSE(d.roof("mxfp4_flop_per_s"));
}

TEST(SimChipFiles, OnePathCopiesTakeFixedCostAndShare) {
  const auto peer = open_device("sim:h100_sxm?noise=off");
  CopyWork work;
  work.bytes = 1 << 30;
  peer->copy()->prepare(work);
  const double seconds = peer->copy()->run({}).elapsed.value();
  EXPECT_NEAR(seconds, 2.5e-6 + 2.0 * (1 << 30) / (3.35e12 * 0.92), 1e-9);
  EXPECT_TRUE(peer->copy()->verify().ok);
  work.method = "tensor_move";
  EXPECT_THROW(peer->copy()->prepare(work), Skip);
}

TEST(SimChipFiles, TheListOfDevicesShowsEveryParameter) {
  const auto device = open_device("sim:950pr_957c");
  const DeviceDescription& d = device->description();
  EXPECT_EQ(d.parameters.size(), load_chip("950pr_957c").parameters.size());
  const std::string json = device_list_json({{"sim:950pr_957c", "", d}});
  EXPECT_NE(json.find("\"name\": \"hbm.capacity\",\n        \"value\": \"84\",\n        "
                      "\"unit\": \"GiB\""),
            std::string::npos);
  EXPECT_NE(json.find("\"file\": \"950pr_957b.toml\""), std::string::npos);
  EXPECT_NE(json.find("\"confidence\": \"guess\""), std::string::npos);
}

// Bases, from texts that a test makes up.

std::string full() { return chip_text(); }

Chip parse(const std::string& text, std::map<std::string, std::string> files) {
  return parse_chip(text, "mine.toml", [files = std::move(files)](const std::string& name) {
    const auto found = files.find(name);
    return found != files.end() ? std::optional(found->second) : chip_file_text(name);
  });
}

std::string error_of(const std::string& text, std::map<std::string, std::string> files = {}) {
  try {
    parse(text, std::move(files));
  } catch (const UsageError& error) {
    return error.what();
  }
  return "no error";
}

std::ptrdiff_t line_of(const std::string& text, const std::string& needle) {
  const auto at = static_cast<std::ptrdiff_t>(text.find(needle));
  return 1 + std::count(text.begin(), text.begin() + at, '\n');
}

const std::string kOther =
    "base = \"whole\"\n[clock]\ncore = { value = 1000, unit = \"MHz\", source = \"x\", "
    "confidence = \"guess\" }\n";

TEST(SimChipBases, AValueIsThatOfTheFirstFileThatHasIt) {
  const Chip whole = parse(full(), {});
  const Chip chip = parse(kOther, {{"whole", full()}});
  EXPECT_EQ(chip.clock_hz, 1'000'000'000);
  EXPECT_EQ(chip.product, whole.product);
  EXPECT_EQ(chip.parameters.size(), whole.parameters.size());
  const Chip second = parse("base = \"middle\"\n", {{"middle", kOther}, {"whole", full()}});
  EXPECT_EQ(second.clock_hz, 1'000'000'000);
  for (const Parameter& p : second.parameters) {
    if (p.section == "clock") {
      EXPECT_EQ(p.file, "middle.toml");
    } else if (p.section == "chip") {
      EXPECT_EQ(p.file, "whole.toml");
    }
  }
}

TEST(SimChipBases, TheCheckCoversFileAndBases) {
  const std::string check = parse(kOther, {{"whole", full()}}).check;
  EXPECT_EQ(parse(kOther, {{"whole", full()}}).check, check);
  EXPECT_NE(parse(kOther + "# x\n", {{"whole", full()}}).check, check);
  EXPECT_NE(parse(kOther, {{"whole", full() + "# x\n"}}).check, check);
  EXPECT_NE(parse("base = \"middle\"\n", {{"middle", kOther}, {"whole", full()}}).check, check);
}

TEST(SimChipBases, ErrorsNameTheFileAtFault) {
  EXPECT_EQ(error_of("# first\nbase = \"nothing\"\n"),
            "mine.toml:2: base: no chip file \"nothing\", expected a name without .toml");
  EXPECT_EQ(error_of("base = \"../chips/950pr_9579\"\n"),
            "mine.toml:1: base: no chip file \"../chips/950pr_9579\", expected a name without "
            ".toml");
  EXPECT_EQ(error_of("base = 950\n"), "mine.toml:1: base: not a text, expected a chip file's name");
  EXPECT_EQ(error_of("base = \"mine\"\n", {{"mine", "base = \"mine\"\n"}}),
            "mine.toml:1: base: mine has this file as a base, expected none");
  EXPECT_EQ(error_of("base = \"a\"\n", {{"a", "base = \"b\"\n"}, {"b", "\nbase = \"a\"\n"}}),
            "b.toml:2: base: a has this file as a base, expected none");
  // A bad value of the base, an unknown section there, an unknown key here.
  const std::string bad = with(full(), "1650,", "-1,");
  const std::string place = "whole.toml:" + std::to_string(line_of(bad, "core = {")) + ": ";
  EXPECT_EQ(
      error_of("base = \"whole\"\n", {{"whole", bad}}).find(place + "[clock] core: out of range"),
      0U);
  EXPECT_EQ(error_of(kOther, {{"whole", full() + "[turbo]\n"}}).find("whole.toml:"), 0U);
  EXPECT_EQ(error_of(kOther + "boost = 1\n", {{"whole", full()}}),
            "mine.toml:4: [clock] boost: unknown key, expected one of core");
  EXPECT_EQ(error_of(with(kOther, "MHz", "GHz"), {{"whole", full()}}),
            "mine.toml:3: [clock] core: unit is GHz, expected MHz");
  EXPECT_EQ(error_of(kOther, {{"whole", with(full(), "[chip]", "[chip")}}).find("whole.toml:"), 0U);
  const std::string missing = with(full(), "hit = {", "# hit = {");
  EXPECT_EQ(error_of(kOther, {{"whole", missing}}).find("whole.toml:"), 0U);
}

TEST(SimChipBases, AFolderOfFamiliesIsNoDevice) {
  const std::vector<std::string> names = chip_names();
  for (const std::string& name : names) EXPECT_EQ(name.find("famil"), std::string::npos);
  EXPECT_TRUE(chip_file_text("families/common"));
  EXPECT_THROW(load_chip("families/common"), UsageError);
}

}  // namespace
}  // namespace sonde::sim
