// `sonde check-model`: its verdicts on small tables of published figures, and the shipped ones.
#include <gtest/gtest.h>

#include <csignal>
#include <map>
#include <set>
#include <sstream>
#include <thread>

#include "core/csv_reader.h"
#include "core/parse.h"
#include "tests/output/commands.h"

namespace sonde {
namespace {

using test::read_text;
using test::Result;
using test::write_text;

const std::string kFigureHeader = "id,quantity,value,unit,tolerance,tolerance_kind,device,source\n";
const std::string kComparisonHeader = "id,quantity,device,variant,label,judged,measure,basis\n";

using Record = std::map<std::string, std::string>;

std::vector<Record> records(const std::string& csv) {
  std::istringstream text(csv);
  std::vector<std::string> header;
  std::vector<Record> all;
  for (std::string line; std::getline(text, line);) {
    std::string problem;
    const auto cells = split_record(line, &problem);
    if (!cells) throw std::runtime_error(problem + ": " + line);
    if (header.empty()) {
      header = *cells;
      continue;
    }
    EXPECT_EQ(cells->size(), header.size()) << line;
    Record record;
    for (std::size_t i = 0; i < header.size(); ++i) record[header[i]] = cells->at(i);
    all.push_back(record);
  }
  return all;
}

class CheckModel : public test::CommandLine {
 protected:
  CheckModel() {
    const std::filesystem::path data = std::filesystem::path(SONDE_SOURCE_DIR) / "data";
    std::filesystem::create_directories(directory_ / "data");
    std::filesystem::copy(data / "chips", directory_ / "data/chips",
                          std::filesystem::copy_options::recursive);
    std::filesystem::copy(data / "models.csv", directory_ / "data/models.csv");
    std::filesystem::copy(data / "published", published(),
                          std::filesystem::copy_options::recursive);
  }
  std::filesystem::path published() const { return directory_ / "data/published"; }

  /// Replaces the published tables by small ones; the text of each begins after its header.
  void tables(const std::string& figures, const std::string& comparisons) {
    const std::string other = "z,hbm_capacity,128,GiB,,exact,950pr_9579,a test\n";
    for (const char* name : {"maker.csv", "community.csv"}) {
      // Each figure of a file needs a comparison of its own.
      std::string line = other;
      line.replace(0, 1, std::string("z") + name[0]);
      write_text(published() / name, kFigureHeader + line);
    }
    write_text(published() / "study.csv", kFigureHeader + figures);
    write_text(published() / "comparisons.csv",
               kComparisonHeader + comparisons +
                   "zm,hbm_capacity,950pr_9579,,given,yes,memory_total,hbm.capacity\n"
                   "zc,hbm_capacity,950pr_9579,,given,yes,memory_total,hbm.capacity\n");
  }
  void edit(const std::string& file, const std::string& from, const std::string& to) {
    std::string text = read_text(published() / file);
    const std::size_t at = text.find(from);
    ASSERT_NE(at, std::string::npos) << from;
    write_text(published() / file, text.replace(at, from.size(), to));
  }
  Result check(std::vector<std::string> arguments) {
    std::vector<std::string> command = {"sonde", "check-model", "--device", kDevice,
                                        "--no-progress"};
    command.insert(command.end(), arguments.begin(), arguments.end());
    return run(command, {{"SONDE_DATA=" + (directory_ / "data").string()}});
  }
  /// Exit 2 with one line that holds every word.
  void refused_tables(const std::vector<std::string>& words) {
    const Result result = check({});
    EXPECT_EQ(result.exit_code, 2) << result.err;
    EXPECT_EQ(test::count_lines(result.err), 1u) << result.err;
    EXPECT_EQ(result.out, "");
    for (const std::string& word : words)
      EXPECT_NE(result.err.find(word), std::string::npos) << word << "\n" << result.err;
  }
  /// Record of a row of a check that ran.
  Record row(const std::string& id, int exit_code) {
    const Result result = check({"--csv", "-", "--row", id});
    EXPECT_EQ(result.exit_code, exit_code) << result.out << result.err;
    const std::vector<Record> all = records(result.out);
    EXPECT_EQ(all.size(), 1u) << result.out;
    return all.empty() ? Record{} : all.front();
  }

  static constexpr const char* kDevice = test::kChip;
};

/// One comparison of the latency at 56 blocks, with its figure.
std::string latency_figure(const std::string& value, const std::string& unit,
                           const std::string& tolerance = "0.05,relative") {
  return "4,latency," + value + "," + unit + "," + tolerance + ",950pr_9579,a test\n";
}
const std::string kLatency =
    "4,latency,950pr_9579,,fitted,yes,median latency_ns of chase --blocks 56,group_port.service\n";

TEST_F(CheckModel, WrongUseIsOneLineAndExitTwo) {
  refused({"sonde", "check-model"}, 2, {"--device", "host", "not simulated"});
  refused({"sonde", "check-model", "--device", "sim:950pr_9578"}, 2, {"950pr_9578"});
  refused({"sonde", "check-model", "--device", kDevice, "--row", "99"}, 2, {"--row", "99", "25"});
  refused({"sonde", "check-model", "--device", kDevice, "--row", ""}, 2, {"--row"});
  refused({"sonde", "check-model", "--device", kDevice, "--row", "4-3"}, 2, {"--row", "4-3"});
  refused({"sonde", "check-model", "--device", kDevice, "--csv", "x"}, 2, {"--csv", "x"});
  refused({"sonde", "check-model", "--device", kDevice, "--seed", "x"}, 2, {"--seed", "x"});
}

TEST_F(CheckModel, AnotherValueOrUnitIsOutside) {
  tables(latency_figure("182", "ns"), kLatency);
  Record good = row("4", 0);
  EXPECT_EQ(good["verdict"], "ok");
  EXPECT_EQ(good["label"], "fitted");
  EXPECT_EQ(good["basis"], "group_port.service");
  const double simulated = parse_number(good["simulated"]).value();
  EXPECT_NEAR(simulated, 182, 0.05 * 182);
  EXPECT_NEAR(parse_number(good["difference"]).value(), simulated / 182 - 1, 1e-12);

  tables(latency_figure("200", "ns"), kLatency);
  EXPECT_EQ(row("4", 1)["verdict"], "outside");
  tables(latency_figure("165", "ns"), kLatency);
  EXPECT_EQ(row("4", 1)["verdict"], "outside");
  tables(latency_figure("182", "us"), kLatency);
  EXPECT_EQ(row("4", 1)["verdict"], "outside");
  tables(latency_figure("0.182", "us"), kLatency);
  Record converted = row("4", 0);
  EXPECT_NEAR(parse_number(converted["simulated"]).value(), simulated / 1000, 1e-12);
  tables(latency_figure("170", "ns", "20,absolute"), kLatency);
  EXPECT_EQ(row("4", 0)["verdict"], "ok");
  tables(latency_figure("170", "ns", "2,absolute"), kLatency);
  EXPECT_EQ(row("4", 1)["verdict"], "outside");
}

TEST_F(CheckModel, ADimensionThatDoesNotFitIsRefused) {
  tables(latency_figure("182", "W"), kLatency);
  refused_tables({"comparisons.csv:2", "measure", "ns", "W"});
}

TEST_F(CheckModel, OnlyAJudgedComparisonCanFail) {
  tables(latency_figure("100", "ns"),
         "4,latency,950pr_9579,,predicted,shape set unknown,median latency_ns of chase --blocks "
         "56,\n");
  Record printed = row("4", 0);
  EXPECT_EQ(printed["verdict"], "shape set unknown");
  EXPECT_NEAR(parse_number(printed["simulated"]).value(), 182, 0.05 * 182);
  tables(latency_figure("100", "ns"), "4,latency,950pr_9579,,,not modelled,,for a reason\n");
  Record unmodelled = row("4", 0);
  EXPECT_EQ(unmodelled["verdict"], "not modelled");
  EXPECT_EQ(unmodelled["reason"], "for a reason");
  EXPECT_EQ(unmodelled["simulated"], "");
}

TEST_F(CheckModel, WhatGivesNoValueFails) {
  tables(latency_figure("182", "ns"),
         "4,latency,950pr_9579,,predicted,yes,median latency_ns of chase --blocks 0,\n");
  Record failed = row("4", 1);
  EXPECT_EQ(failed["verdict"], "no value");
  EXPECT_NE(failed["reason"].find("--blocks"), std::string::npos) << failed["reason"];
  tables(latency_figure("182", "ns"),
         "4,latency,950pr_9579,,predicted,yes,median no_such_ns of chase --blocks 1,\n");
  EXPECT_EQ(row("4", 1)["verdict"], "no value");
  tables(latency_figure("182", "ns"),
         "4,latency,950pr_9579,,predicted,yes,finding chase.nothing of chase --blocks 1,\n");
  EXPECT_EQ(row("4", 1)["verdict"], "no value");
}

TEST_F(CheckModel, ExactIsExact) {
  const std::string cores = "1,cores,950pr_9579,,given,yes,cores cube,chip file\n";
  tables("1,cores,28,count,,exact,950pr_9579,a test\n", cores);
  EXPECT_EQ(row("1", 0)["simulated"], "28");
  tables("1,cores,29,count,,exact,950pr_9579,a test\n", cores);
  EXPECT_EQ(row("1", 1)["verdict"], "outside");
}

TEST_F(CheckModel, TablesAreReadStrictly) {
  tables(latency_figure("182", "ns"), "");
  refused_tables({"study.csv:2", "comparisons.csv"});
  tables(latency_figure("182", "ns"), kLatency + "5,latency,950pr_9579,,given,yes,dies,x\n");
  refused_tables({"comparisons.csv:3", "quantity"});
  tables(latency_figure("182", "parsec"), kLatency);
  refused_tables({"study.csv:2", "unit", "parsec"});
  tables(latency_figure("182", "ns", "0,relative"), kLatency);
  refused_tables({"study.csv:2", "tolerance"});
  tables(latency_figure("182", "ns", "3,about"), kLatency);
  refused_tables({"study.csv:2", "tolerance_kind", "about"});
  tables(latency_figure("1e", "ns"), kLatency);
  refused_tables({"study.csv:2", "value", "1e"});
  tables(latency_figure("182", "ns"), "4,latency,950pr_9579,,fitted,yes,dies,\n");
  refused_tables({"comparisons.csv:2", "basis"});
  tables(latency_figure("182", "ns"), "4,latency,950pr_9579,,guessed,yes,dies,x\n");
  refused_tables({"comparisons.csv:2", "label", "guessed"});
  tables(latency_figure("182", "ns"), "4,latency,950pr_9579,,given,yes,tea_leaves,x\n");
  refused_tables({"comparisons.csv:2", "measure", "tea_leaves"});
  tables(latency_figure("182", "ns"), "4,latency,950pr_9579,,given,yes,speed_ratio mean,x\n");
  refused_tables({"comparisons.csv:2", "measure", "speed_ratio"});
  std::filesystem::remove(published() / "maker.csv");
  refused_tables({"maker.csv"});
}

TEST_F(CheckModel, AnotherChipIsComparedWithTheSameFigures) {
  const Result result = run({"sonde", "check-model", "--device", "sim:950pr_9599", "--row", "1",
                             "--csv", "-", "--no-progress"});
  EXPECT_EQ(result.exit_code, 1) << result.err;
  std::map<std::string, std::string> verdicts;
  for (Record& record : records(result.out)) {
    EXPECT_EQ(record["device"], "sim:950pr_9599");
    verdicts[record["quantity"]] = record["verdict"];
  }
  EXPECT_EQ(verdicts["cube_cores"], "outside");
  EXPECT_EQ(verdicts["hbm_capacity"], "ok");
}

TEST_F(CheckModel, ASignalEndsItAndLeavesNothing) {
  std::filesystem::create_directories(directory_ / "tmp");
  const pid_t child =
      test::start(directory_.path(), {"sonde", "check-model", "--device", kDevice, "--no-progress"},
                  {{"TMPDIR=" + (directory_ / "tmp").string()}});
  const auto runs = [&] {
    std::size_t count = 0;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(
             directory_ / "tmp", std::filesystem::directory_options::skip_permission_denied)) {
      if (entry.path().extension() == ".csv") ++count;
    }
    return count;
  };
  for (int i = 0; i < 1000 && runs() == 0; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  ::kill(child, SIGTERM);
  const Result result = test::wait_for(directory_.path(), child);
  EXPECT_EQ(result.exit_code, 3) << result.err;
  EXPECT_EQ(result.out, "");
  EXPECT_TRUE(std::filesystem::is_empty(directory_ / "tmp"));
}

TEST_F(CheckModel, TheShippedChipsAreInsideEveryTolerance) {
  const Result result = check({"--csv", "-"});
  EXPECT_EQ(result.exit_code, 0) << result.out << result.err;
  EXPECT_EQ(result.err, "");
  std::set<std::string> rows;
  std::map<std::string, int> labels;
  for (Record& record : records(result.out)) {
    const std::string name =
        record["row"] + " " + record["quantity"] + " " + record["variant"] + " " + record["device"];
    rows.insert(record["row"]);
    const std::set<std::string> unjudged = {"10", "12", "13"};
    const auto number = parse_integer(record["row"]);
    if (number && *number >= 20 && *number <= 24) {
      EXPECT_EQ(record["verdict"], "not modelled") << name;
      EXPECT_NE(record["reason"], "") << name;
      continue;
    }
    EXPECT_NE(record["simulated"], "") << name << ": " << record["reason"];
    EXPECT_EQ(record["verdict"], unjudged.contains(record["row"]) ? "shape set unknown" : "ok")
        << name << ": " << record["simulated"] << " against " << record["published"];
    if (!unjudged.contains(record["row"])) ++labels[record["label"]];
    EXPECT_NE(record["source"], "") << name;
  }
  for (int id = 1; id <= 25; ++id) EXPECT_TRUE(rows.contains(std::to_string(id))) << id;
  for (int id = 1; id <= 9; ++id) EXPECT_TRUE(rows.contains("m" + std::to_string(id))) << id;
  EXPECT_GE(labels["predicted"], labels["fitted"]);
  EXPECT_GT(labels["fitted"], 0);
}

}  // namespace
}  // namespace sonde
