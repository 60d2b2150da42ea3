// Strict reading of chip files: each kind of error names file, line, section and key.
#include <gtest/gtest.h>

#include <algorithm>

#include "core/error.h"
#include "device/registry.h"
#include "tests/model/chip_text.h"

namespace sonde::sim {
namespace {

std::string error_of(const std::string& text) {
  try {
    parse_chip(text, kChipFile);
  } catch (const UsageError& error) {
    return error.what();
  }
  return "no error";
}

/// "950pr_9579.toml:<line of `needle` in `text`>: "
std::string place_of(const std::string& text, const std::string& needle) {
  const std::size_t at = text.find(needle);
  EXPECT_NE(at, std::string::npos) << needle;
  const auto line =
      1 + std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(at), '\n');
  return kChipFile + ":" + std::to_string(line) + ": ";
}

std::string one_section(const std::string& text) {  // up to the second section
  return text.substr(0, text.find("[clock]"));
}

TEST(SimChip, ShippedFileReads) {
  const Chip chip = shipped_chip();
  EXPECT_EQ(chip.product, "Ascend950PR_9579");
  EXPECT_EQ(chip.clock_hz, 1'650'000'000);
  EXPECT_EQ(chip.subsystems(), 28);
  EXPECT_EQ(chip.memory.hbm_bytes_per_s, 1'638'400'000'000);
  EXPECT_EQ(chip.l2_bytes(), 128 * kMiB);
  EXPECT_EQ(chip.data_cache.hit, 4848);  // 8 cycles at 1650 MHz
  EXPECT_EQ(chip.cubes(), 28);
  EXPECT_EQ(chip.vector_read_bytes_per_cycle(), 50);
  EXPECT_EQ(chip.gemm_tiles.size(), 5U);
  EXPECT_EQ(chip.power.idle_mw, 203'300);
  EXPECT_EQ(chip.power.cap_mw, 600'000);
  for (const Parameter& p : chip.parameters) {
    EXPECT_FALSE(p.source.empty()) << p.section << "." << p.key;
    EXPECT_FALSE(p.value.empty()) << p.section << "." << p.key;
    EXPECT_TRUE(p.file == kChipFile || p.file == "families/common.toml") << p.file;
  }
}

TEST(SimChip, UnknownKey) {
  const std::string text = with(chip_text(), "[clock]\n",
                                "[clock]\nboost = { value = 1, unit = \"MHz\", source = \"x\", "
                                "confidence = \"guess\" }\n");
  EXPECT_EQ(error_of(text),
            place_of(text, "boost") + "[clock] boost: unknown key, expected one of core");
}

TEST(SimChip, UnknownSection) {
  const std::string text = chip_text() + "\n[turbo]\non = 1\n";
  EXPECT_EQ(
      error_of(text).find(place_of(text, "[turbo]") + "[turbo]: unknown section, expected one of"),
      0U)
      << error_of(text);
}

TEST(SimChip, MissingKeyAndSection) {
  const std::string no_key = with(chip_text(), "core = {", "# core = {");
  EXPECT_EQ(error_of(no_key).find(place_of(no_key, "[clock]") +
                                  "[clock] core: missing, expected core = {"),
            0U)
      << error_of(no_key);
  EXPECT_EQ(error_of(one_section(chip_text())),
            kChipFile + ":1: [clock]: missing, expected a section");
}

TEST(SimChip, NoRateAtAll) {
  std::string text = chip_text();
  for (const char* dtype : {"bf16", "fp16", "fp8", "int8", "mxfp4", "fp32"}) {
    text = with(text, "\n" + std::string(dtype) + " = {", "\n# " + std::string(dtype) + " = {");
  }
  EXPECT_EQ(error_of(text),
            kChipFile +
                ":1: [flop_per_cycle] bf16: missing, expected at least one of bf16, fp16, "
                "fp8, int8, mxfp4 and fp32");
}

TEST(SimChip, WrongUnit) {
  const std::string text = with(chip_text(), "1650, unit = \"MHz\"", "1.65, unit = \"GHz\"");
  EXPECT_EQ(error_of(text), place_of(text, "core = ") + "[clock] core: unit is GHz, expected MHz");
}

TEST(SimChip, ImpossibleValues) {
  const struct {
    const char* from;
    const char* to;
    const char* key;
    const char* says;
  } cases[] = {
      {"value = 1650,", "value = 0,",
       "core = ", "[clock] core: out of range, expected 1 to 10000 MHz"},
      {"value = 1650,", "value = nan,", "core = ", "[clock] core: out of range"},
      // No double holds this whole number.
      {"value = 1650,", "value = 9000000000000000001,", "core = ", "[clock] core: out of range"},
      {"[\"vector\", \"cube\"]", "[\"<b>\", \"cube\"]",
       "kinds = ", "[structure] kinds: a kind of core is written in letters a to z"},
      {"[\"vector\", \"cube\"]", "[\"cube\", \"cube\"]",
       "kinds = ", "[structure] kinds: the same kind twice"},
      {"value = 1650,", "value = \"fast\",",
       "core = ", "[clock] core: not a number, expected 1 to"},
      {"dies = { value = 2,", "dies = { value = 2.5,",
       "dies = ", "[structure] dies: not a whole number, expected 1 to 8 count"},
      {"dies = { value = 2,", "dies = { value = 99,",
       "dies = ", "[structure] dies: 99 is out of range, expected 1 to 8 count"},
      {"[[3, 3, 3, 3, 2, 0], [3, 3, 3, 3, 2, 0]]", "[[3, 3, 3, 3, 2, 0]]", "working_subsystems",
       "[structure] working_subsystems: 1 lists, expected one for each of 2 dies"},
      {"[[3, 3, 3, 3, 2, 0], [3,", "[[4, 3, 3, 3, 2, 0], [3,", "working_subsystems",
       "[structure] working_subsystems: a value is not a number in range"},
      {"[[3, 3, 3, 3, 2, 0], [3, 3, 3, 3, 2, 0]]", "[[3], [0]]", "working_subsystems",
       "[structure] working_subsystems: a die without a working subsystem"},
      {"[[3, 3, 3, 3, 2, 0], [3, 3, 3, 3, 2, 0]]", "7", "working_subsystems",
       "[structure] working_subsystems: not a list"},
      {"\"interleaved\"", "\"scrambled\"", "subsystem_ids",
       "[structure] subsystem_ids: unknown name scrambled, expected one of interleaved"},
      {"channels = { value = 32,", "channels = { value = 31,",
       "channels = ", "[memory] channels: expected the same number on each die"},
      {"interleave = { value = 512,", "interleave = { value = 500,",
       "interleave = ", "[memory] interleave: 500 B, expected a power of two"},
      {"far = { value = 150,", "far = { value = 100,",
       "far = ", "[l2] far: less than near, expected at least near"},
      {"service = { value = 30.1,", "service = { value = 400,",
       "service = ", "[group_port] service: longer than the near L2 latency"},
      {"edge = { value = 16,", "edge = { value = 3,",
       "bf16 = ", "[flop_per_cycle] bf16: expected a multiple of 2 x cube.edge^2 = 18"},
      {"bf16 = { value = 8192,", "bf16 = { value = 0,",
       "bf16 = ", "[flop_per_cycle] bf16: 0 is out of range"},
      {"[\"vector\", \"cube\"]", "[\"vector\", \"cube\", \"scalar\"]",
       "kinds = ", "[structure] kinds: expected one or two kinds of core"},
      {"[\"vector\", \"cube\"]", "\"vector\"", "kinds = ", "[structure] kinds: not a list"},
      {"[\"vector\", \"cube\"]", "[\"vector\", 3]",
       "kinds = ", "[structure] kinds: a value is not a text"},
      {"visible = { value = 6,", "visible = { value = 8,",
       "visible = ", "[aicpu] visible: 8 is out of range, expected 0 to 7 count"},
      {"mixed_share = { value = 93,", "mixed_share = { value = 0,",
       "mixed_share = ", "[hbm] mixed_share: 0 %, expected more"},
      {"hop = { value = 1,", "hop = { value = 30,", "hop = ", "[noc] hop: half a ring is longer"},
      {"rate = { value = 300,", "rate = { value = 99,", "rate = { value = 99",
       "[group_port] rate: less than subsystem_port.rate"},
      {"[[256, 256], [128, 256]", "[[256, 512], [128, 256]",
       "tiles = ", "[gemm] tiles: 256 x 512 FP32 values, expected at most cube.l0c"},
      {"[[256, 256], [128, 256]", "[[256, 256, 64], [128, 256]",
       "tiles = ", "[gemm] tiles: expected rows and columns in each list"},
      {"cap = { value = 600,", "cap = { value = 200,",
       "cap = ", "[power] cap: expected more than the idle power"},
      {"buffer = { value = 253952,", "buffer = { value = 4000,",
       "smallest_tile = ", "[tensor_move] smallest_tile: larger than a slot"},
  };
  for (const auto& c : cases) {
    const std::string text = with(chip_text(), c.from, c.to);
    EXPECT_EQ(error_of(text).find(place_of(text, c.key) + c.says), 0U)
        << c.to << " gives " << error_of(text);
  }
}

TEST(SimChip, FieldsOfAValue) {
  const std::string plain =
      with(chip_text(), "core = { value = 1650, unit = \"MHz\"", "core = 1650 # ");
  EXPECT_EQ(error_of(plain).find(place_of(plain, "core = ") + "[clock] core: not an inline table"),
            0U)
      << error_of(plain);
  const std::string field = with(chip_text(), "1650, unit", "1650, since = 2026, unit");
  EXPECT_EQ(
      error_of(field),
      place_of(field, "core = ") +
          "[clock] core: unknown field since, expected one of value, unit, source and confidence");
  const std::string no_value = with(chip_text(), "value = 1650, ", "");
  EXPECT_EQ(
      error_of(no_value).find(place_of(no_value, "core = ") + "[clock] core: value is missing"),
      0U);
  const std::string doubt =
      with(chip_text(), "confidence = \"published\"", "confidence = \"sure\"");
  EXPECT_EQ(error_of(doubt),
            place_of(doubt, "\"sure\"") +
                "[chip] product: confidence is sure, expected one of published, derived and guess");
  const std::string source =
      with(chip_text(), "source = \"npu-smi output in the study\"", "source = \"\"");
  EXPECT_EQ(error_of(source).find(place_of(source, "product") +
                                  "[chip] product: source is missing or empty"),
            0U);
}

TEST(SimChip, NotToml) {
  const std::string text = with(chip_text(), "[clock]", "[clock");
  EXPECT_EQ(error_of(text).find(place_of(text, "[clock") + "not TOML: "), 0U) << error_of(text);
  const std::string twice = with(chip_text(), "[clock]\n", "[clock]\ncore = 1\n");
  EXPECT_NE(error_of(twice).find(": not TOML: "), std::string::npos) << error_of(twice);
}

std::string open_error(const std::string& name) {
  try {
    open_device(name);
  } catch (const UsageError& error) {
    return error.what();
  }
  return "no error";
}

TEST(SimChip, UnknownChipNamesTheOnesThereAre) {
  for (const char* name : {"sim:951", "sim:", "sim", "sim:../chips/950pr_9579"}) {
    EXPECT_NE(open_error(name).find("950pr_9579"), std::string::npos) << open_error(name);
    EXPECT_NE(open_error(name).find("no chip"), std::string::npos) << open_error(name);
  }
}

TEST(SimChip, UnknownOptionNamesTheValidOnes) {
  for (const char* query :
       {"?", "?fault", "?fault=", "?fault=bad", "?speed=1", "?noise=off&", "?noise=off&x=1"}) {
    const std::string error = open_error("sim:950pr_9579" + std::string(query));
    EXPECT_NE(error.find("fault=corrupt"), std::string::npos) << query << " gives " << error;
    EXPECT_NE(error.find("noise=off"), std::string::npos) << query << " gives " << error;
  }
  EXPECT_NE(open_error("sim:950pr_9579?noise=off&noise=on").find("given twice"), std::string::npos);
}

TEST(SimChip, EveryParameterIsInTheDocumentation) {
  const std::string page = read_file(SONDE_SOURCE_DIR "/docs/simulator.md");
  for (const Parameter& p : shipped_chip().parameters) {
    const std::string row = "| `" + p.section + "." + p.key + "` | " + p.value + " | " + p.unit +
                            " | " + p.confidence + " |";
    EXPECT_NE(page.find(row), std::string::npos) << row;
  }
}

}  // namespace
}  // namespace sonde::sim
