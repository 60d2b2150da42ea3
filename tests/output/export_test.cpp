// `sonde export`: findings as other tools read them.
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "report/export.h"
#include "tests/output/commands.h"
#include "tests/output/report_runs.h"

namespace sonde {
namespace {

Finding finding(const std::string& name, double value, const std::string& unit) {
  Finding made;
  made.run = "r\"1\\";
  made.name = name;
  made.value = value;
  made.low = value * 0.9;
  made.high = value * 1.1;
  made.unit = unit;
  made.source = TimeSource::modelled;
  made.n = 12;
  made.basis = "chase.csv: median";
  return made;
}

Manifest manifest() {
  Manifest made;
  made.device.name = "sim:x";
  made.device.product = "X";
  made.started_utc = "2026-11-30T12:00:00Z";
  return made;
}

TEST(Export, GoogleBenchmarkEntriesHoldTimes) {
  const auto json = nlohmann::json::parse(findings_gbench(
      manifest(), {finding("latency", 134.5, "ns"), finding("rate", 2e12, "B/s"),
                   finding("speed", 4e14, "FLOP/s"), finding("switch", 4096, "B")}));
  const auto& all = json.at("benchmarks");
  ASSERT_EQ(all.size(), 4u);
  for (const auto& entry : all) {
    for (const char* field :
         {"name", "run_name", "run_type", "iterations", "value", "low", "high", "label"}) {
      EXPECT_TRUE(entry.contains(field)) << field;
    }
  }
  EXPECT_EQ(all[0].at("real_time"), 134.5);
  EXPECT_EQ(all[0].at("cpu_time"), 134.5);
  EXPECT_EQ(all[0].at("time_unit"), "ns");
  EXPECT_EQ(all[0].at("iterations"), 12);
  // Half a millisecond for 10^9 bytes.
  EXPECT_DOUBLE_EQ(all[1].at("real_time").get<double>(), 5e5);
  EXPECT_EQ(all[1].at("bytes_per_second"), 2e12);
  EXPECT_DOUBLE_EQ(all[2].at("real_time").get<double>(), 2500);
  // What is no time must not reach the mean that compare.py takes over all but aggregates.
  EXPECT_FALSE(all[3].contains("real_time"));
  for (std::size_t i = 0; i < 3; ++i) EXPECT_EQ(all[i].at("run_type"), "iteration");
  EXPECT_EQ(all[3].at("run_type"), "aggregate");
  EXPECT_EQ(json.at("context").at("date"), "2026-11-30T12:00:00Z");
}

TEST(Export, OpenMetricsInBaseUnits) {
  const std::string text = findings_openmetrics(
      manifest(), {finding("latency", 100, "ns"), finding("clock", 1500, "MHz"),
                   finding("later", 200, "ns"), finding("odd", 3, "a/b")});
  EXPECT_TRUE(text.ends_with("# EOF\n"));
  EXPECT_NE(text.find("# TYPE sonde_finding_seconds gauge\n# UNIT sonde_finding_seconds seconds\n"
                      "# HELP sonde_finding_seconds "),
            std::string::npos);
  EXPECT_NE(text.find("sonde_finding_seconds{run=\"r\\\"1\\\\\",device=\"sim:x\",product=\"X\","
                      "time_source=\"modelled\",finding=\"latency\",bound=\"value\"} 1e-07\n"),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("finding=\"clock\",bound=\"value\"} 1.5e+09\n"), std::string::npos) << text;
  EXPECT_NE(text.find("sonde_finding_a_b{"), std::string::npos);
  // A family is one block.
  std::set<std::string> done;
  std::string current;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    if (line == "# EOF") continue;
    const std::string name = line.starts_with("# ") ? line.substr(7, line.find(' ', 7) - 7)
                                                    : line.substr(0, line.find('{'));
    if (name != current) {
      EXPECT_TRUE(done.insert(name).second) << name;
    }
    current = name;
  }
}

class ExportOutput : public test::CommandLine {};

TEST_F(ExportOutput, ExportsWhatFindingsHold) {
  testing_runs::write_npu_run(directory_ / "a");
  const test::Result gbench = run({"sonde", "export", "--run", "a"});
  EXPECT_EQ(gbench.exit_code, 0) << gbench.err;
  std::map<std::string, double> values;
  const auto json = nlohmann::json::parse(gbench.out);
  for (const auto& entry : json.at("benchmarks")) {
    values[entry.at("name")] = entry.at("value");
  }
  EXPECT_NEAR(values["chase.latency_ns.core_vector0"], 134, 3);
  EXPECT_EQ(values["chase.wave_blocks"], 56);
  const test::Result metrics =
      run({"sonde", "export", "--run", "a", "--format", "openmetrics", "--out", "m.prom"});
  EXPECT_EQ(metrics.exit_code, 0) << metrics.err;
  EXPECT_EQ(metrics.out, "");
  EXPECT_NE(test::read_text(directory_ / "m.prom").find("finding=\"chase.wave_blocks\""),
            std::string::npos);
  refused({"sonde-export"}, 2, {"--run"});
  refused({"sonde-export", "--run", "a", "--format", "xml"}, 2, {"--format"});
  refused({"sonde-export", "--run", "a", "--out", "no/such/folder"}, 4, {"no/such/folder"});
}

}  // namespace
}  // namespace sonde
