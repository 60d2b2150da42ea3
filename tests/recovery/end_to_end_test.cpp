// Planted values of the simulated chip, found again from the CSVs alone by the programs as a user
// runs them, and the same rows whatever happened on the way.
#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <sys/wait.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <sstream>

#include "core/core_name.h"
#include "core/csv_reader.h"
#include "core/parse.h"
#include "core/rng.h"
#include "tests/support/programs.h"

namespace sonde {
namespace {

using test::read_text;
using test::Result;
using test::run;
using test::TemporaryDirectory;

constexpr const char* kChip = "sim:950pr_9579";

struct Finding {
  double value = 0, low = 0, high = 0;
  std::string time_source;
};

std::map<std::string, Finding> read_findings(const std::filesystem::path& path) {
  std::map<std::string, Finding> findings;
  std::istringstream text(read_text(path));
  std::string line;
  std::getline(text, line);
  EXPECT_EQ(line, "run,name,value,low,high,unit,time_source,n,basis");
  while (std::getline(text, line)) {
    std::string problem;
    const auto cells = split_record(line, &problem);
    EXPECT_TRUE(cells) << problem;
    EXPECT_EQ(cells->size(), 9u) << line;
    Finding finding;
    finding.value = parse_number((*cells)[2]).value_or(-1);
    finding.low = parse_number((*cells)[3]).value_or(-1);
    finding.high = parse_number((*cells)[4]).value_or(-1);
    finding.time_source = (*cells)[6];
    findings[(*cells)[1]] = finding;
  }
  return findings;
}

/// The tree of the chip file, from the core numbers alone: die = subsystem mod 2; a subsystem j is
/// cube j with vectors 2j and 2j + 1.
void expect_planted_tree(const std::filesystem::path& path) {
  const auto json = nlohmann::json::parse(read_text(path));
  EXPECT_FALSE(json.at("none_found"));
  const auto& levels = json.at("levels");
  ASSERT_GE(levels.size(), 2u);
  const auto subsystem = [](const CoreName& core) {
    return core.kind == "cube" ? core.number : core.number / 2;
  };
  const auto groups_of = [&](const nlohmann::json& level) {
    std::vector<std::vector<CoreName>> groups;
    for (const auto& group : level.at("groups")) {
      groups.emplace_back();
      for (const auto& name : group)
        groups.back().push_back(parse_core_name(name.get<std::string>()));
    }
    return groups;
  };
  const auto dies = groups_of(levels.front());
  ASSERT_EQ(dies.size(), 2u);
  for (const auto& die : dies) {
    EXPECT_EQ(die.size(), 42u);
    for (const CoreName& core : die) EXPECT_EQ(subsystem(core) % 2, subsystem(die.front()) % 2);
  }
  const auto subsystems = groups_of(levels.back());
  ASSERT_EQ(subsystems.size(), 28u);
  for (const auto& members : subsystems) {
    EXPECT_EQ(members.size(), 3u);
    EXPECT_EQ(std::count_if(members.begin(), members.end(),
                            [](const CoreName& core) { return core.kind == "cube"; }),
              1);
    for (const CoreName& core : members) EXPECT_EQ(subsystem(core), subsystem(members.front()));
  }
}

TEST(QuickCampaign, FindsWhatWasPlanted) {
  TemporaryDirectory directory;
  const Result result = run(directory.path(), {"sonde", "campaign", "--device", kChip, "--out",
                                               "run", "--quick", "--no-progress"});
  ASSERT_EQ(result.exit_code, 0) << result.err;
  EXPECT_NE(result.out.find("run/report/index.html"), std::string::npos) << result.out;
  auto findings = read_findings(directory / "run/report/findings.csv");

  // Wave: one block a Vector core, 56 of them.
  EXPECT_EQ(findings.at("chase.wave_blocks").value, 56);
  EXPECT_EQ(findings.at("chase.wave_blocks").low, 56);
  EXPECT_EQ(findings.at("chase.wave_blocks").high, 57);
  // And of a launch on Cube cores: 28 of them.
  EXPECT_EQ(findings.at("chase.wave_blocks.cube").value, 28);
  // Published latencies (docs/simulator.md, rows 3 and 4), with their tolerances.
  EXPECT_NEAR(findings.at("chase.latency_ns.core_vector0").value, 134, 0.03 * 134);
  EXPECT_NEAR(findings.at("chase.latency_ns.blocks_56").value, 182, 0.05 * 182);
  // Levels: 32 KiB data cache, 128 MiB L2, HBM.
  EXPECT_EQ(findings.at("chase.level_1.capacity_bytes").value, 32768);
  // Hashed sets overflow one by one below the capacity, so the plateau ends inside the bracket.
  EXPECT_LE(findings.at("chase.level_2.capacity_bytes").low, 128 << 20);
  EXPECT_GE(findings.at("chase.level_2.capacity_bytes").high, 128 << 20);
  EXPECT_LE(findings.at("chase.level_2.capacity_bytes").high, 256 << 20);
  EXPECT_TRUE(findings.contains("chase.level_3.latency_ns"));
  EXPECT_FALSE(findings.contains("chase.level_4.latency_ns"));
  // Structure: two dies of 42 cores, in them ten sharing groups, in those 28 subsystems of one Cube
  // and two Vector cores (data/chips/950pr_9579.toml).
  expect_planted_tree(directory / "run/topology.json");
  EXPECT_EQ(findings.at("topology.level_1.groups").value, 2);
  EXPECT_GE(findings.at("topology.level_1.stability").value, 0.95);
  // Switch: 400,000 bytes is the last size on the old method, found by halving the gap of the
  // ladder.
  const Finding& change = findings.at("copy.switch_bytes");
  EXPECT_EQ(change.low, 400'000);
  EXPECT_EQ(change.high, 400'064);
  EXPECT_GT(findings.at("copy.switch_cost_ns").value, 0);
  EXPECT_FALSE(findings.contains("copy.switch_bytes.2"));
  // The idle state is published.
  EXPECT_EQ(findings.at("idle.power_w").value, 203.3);
  EXPECT_EQ(findings.at("idle.temperature_c").value, 56);
  EXPECT_EQ(findings.at("copy.clock_mhz.median").value, 1650);
  // Under a matrix product: the power cap, and a clock below the reference.
  EXPECT_NEAR(findings.at("gemm.power_w.median").value, 600, 0.02 * 600);
  EXPECT_LT(findings.at("gemm.clock_mhz.median").value, 1650);
  EXPECT_GT(findings.at("gemm.clock_mhz.median").value, 1450);
  EXPECT_NEAR(findings.at("gemm.peak_flop_per_s.datasheet").value, 378.5e12, 0.1e12);
  // Tiles, tail and the power cap leave this of what is attainable (docs/simulator.md).
  EXPECT_NEAR(findings.at("gemm.fraction.time_weighted.datasheet").value, 0.917, 0.02);
  EXPECT_NEAR(findings.at("gemm.fraction.median.datasheet").value, 0.883, 0.02);
  EXPECT_NEAR(findings.at("gemm.best.datasheet").value, 0.997, 0.005);
  EXPECT_NEAR(findings.at("gemm.ridge_flop_per_byte.datasheet").value, 231, 0.5);
  // Memory: 1638.4 GB/s in the chip file; the L2 through the ports of 28 subsystems.
  EXPECT_NEAR(findings.at("stream.memory_bytes_per_s.read").value, 1.62e12, 0.03e12);
  EXPECT_NEAR(findings.at("stream.peak_bytes_per_s.read").value, 4.6e12, 0.1e12);
  // A Cube or Vector core of the same subsystem costs a victim about 55 of 134 ns.
  EXPECT_NEAR(findings.at("interfere.slow_down.load.max").value, 1.42, 0.05);
  EXPECT_LT(findings.at("interfere.slow_down.register.max").value, 1.05);
  for (const auto& [name, finding] : findings) EXPECT_EQ(finding.time_source, "modelled") << name;
  for (const char* figure :
       {"chase_blocks", "chase_footprint", "chase_cores", "copy_time", "copy_bandwidth",
        "floor_plan", "profile_distance", "interfere_load", "interfere_register",
        "stream_bandwidth", "stream_request", "stream_size", "roofline", "gemm_fraction",
        "gemm_weights", "gemm_clock", "gemm_power"}) {
    EXPECT_TRUE(std::filesystem::exists(directory / "run/report" / (std::string(figure) + ".svg")))
        << figure;
    EXPECT_TRUE(std::filesystem::exists(directory / "run/report" / (std::string(figure) + ".png")))
        << figure;
  }
}

/// Waits until `path` has at least `bytes` or the child is gone; false in the latter case.
bool wait_for_size(const std::filesystem::path& path, std::uintmax_t bytes, pid_t child) {
  while (true) {
    std::error_code missing;
    const auto size = std::filesystem::file_size(path, missing);
    if (!missing && size >= bytes) return true;
    if (::kill(child, 0) != 0) return false;
    siginfo_t info{};
    if (::waitid(P_PID, static_cast<id_t>(child), &info, WEXITED | WNOHANG | WNOWAIT) == 0 &&
        info.si_pid == child) {
      return false;
    }
    ::usleep(200);
  }
}

TEST(Campaign, KilledFiveTimesEndsWithTheSameRows) {
  TemporaryDirectory directory;
  const std::vector<std::string> rest = {"--device",      kChip,    "--quick",
                                         "--no-progress", "--seed", "5"};
  const auto command = [&](const std::string& out) {
    std::vector<std::string> words = {"sonde", "campaign", "--out", out};
    words.insert(words.end(), rest.begin(), rest.end());
    return words;
  };
  ASSERT_EQ(run(directory.path(), command("whole")).exit_code, 0);
  // Each is a size reached, at a share drawn from a fixed seed, so that a fast machine is killed in
  // the middle of that step as well.
  Rng rng(31);
  int killed = 0;
  for (const char* probe : {"chase", "profile", "interfere", "stream", "gemm"}) {
    const std::string file = std::string(probe) + ".csv";
    const auto size = std::filesystem::file_size(directory / "whole" / file);
    const std::uintmax_t reached = size / 4 + rng.below(size / 2);
    const pid_t child = test::start(directory.path(), command("killed"));
    if (wait_for_size(directory / "killed" / file, reached, child)) {
      ::kill(child, SIGKILL);
      ++killed;
    }
    test::wait_for(directory.path(), child);
  }
  EXPECT_EQ(killed, 5);
  const Result last = run(directory.path(), command("killed"));
  ASSERT_EQ(last.exit_code, 0) << last.err;
  for (const Schema* schema : all_schemas()) {
    const std::string file = schema->probe + ".csv";
    EXPECT_EQ(std::filesystem::exists(directory / "whole" / file), schema->probe != "handoff");
    if (schema->probe == "handoff") continue;
    EXPECT_TRUE(read_text(directory / "killed" / file) == read_text(directory / "whole" / file))
        << file << " differs";
  }
  EXPECT_EQ(read_text(directory / "killed/topology.json"),
            read_text(directory / "whole/topology.json"));
}

TEST(Campaign, AFinishedStepIsNotRunAgain) {
  TemporaryDirectory directory;
  const std::vector<std::string> command = {"sonde",         "copy", "--device", kChip,
                                            "--out",         "run",  "--bytes",  "1KiB:64KiB:2x",
                                            "--repetitions", "8"};
  ASSERT_EQ(run(directory.path(), command).exit_code, 0);
  const std::string rows = read_text(directory / "run/copy.csv");
  const Result again = run(directory.path(), command);
  EXPECT_EQ(again.exit_code, 0);
  EXPECT_NE(again.err.find("already complete"), std::string::npos) << again.err;
  EXPECT_EQ(read_text(directory / "run/copy.csv"), rows);
}

TEST(Interrupt, EndsCleanlyAndResumes) {
  for (int signal_number : {SIGINT, SIGTERM, SIGHUP}) {
    TemporaryDirectory directory;
    const std::vector<std::string> command = {
        "sonde-chase",   "--device", kChip,  "--out",         "run",
        "--no-progress", "--blocks", "1-64", "--repetitions", "20"};
    const pid_t child = test::start(directory.path(), command);
    ASSERT_TRUE(wait_for_size(directory / "run/chase.csv", 20'000, child));
    ::kill(child, signal_number);
    const Result stopped = test::wait_for(directory.path(), child);
    EXPECT_EQ(stopped.exit_code, 3) << stopped.err;
    EXPECT_NE(stopped.err.find("resumes"), std::string::npos) << stopped.err;
    EXPECT_NE(read_text(directory / "run/manifest.json").find("\"interrupted\""),
              std::string::npos);
    const std::string partial = read_text(directory / "run/chase.csv");
    EXPECT_EQ(partial.back(), '\n');
    const Result resumed = run(directory.path(), command);
    EXPECT_EQ(resumed.exit_code, 0) << resumed.err;
    EXPECT_TRUE(read_text(directory / "run/chase.csv").starts_with(partial));
    EXPECT_NE(read_text(directory / "run/manifest.json").find("\"complete\""), std::string::npos);
  }
}

TEST(SameSeed, GivesTheSameBytesAndAnotherSeedOthers) {
  TemporaryDirectory directory;
  const auto rows = [&](const std::string& seed) {
    return run(directory.path(), {"sonde", "copy", "--device", kChip, "--csv", "-", "--seed", seed,
                                  "--bytes", "1KiB:1MiB:2x", "--repetitions", "8"})
        .out;
  };
  const std::string first = rows("1");
  EXPECT_EQ(test::count_lines(first), 1u + 11 * 8);
  EXPECT_EQ(rows("1"), first);
  EXPECT_NE(rows("2"), first);
}

}  // namespace
}  // namespace sonde
