// What other programs read: --json of each command, and CSVs that loaders take without options.
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "core/csv_reader.h"
#include "core/parse.h"
#include "tests/output/commands.h"

namespace sonde {
namespace {

class OtherPrograms : public test::CommandLine {
 protected:
  /// A small run of each kind of row, `name` below the scratch folder.
  void measure(const std::string& name) {
    const std::vector<std::vector<std::string>> probes = {
        {"sonde-chase", "--cores", "vector0-1", "--blocks", "1"},
        {"sonde-profile", "--cores", "vector0-3", "--addresses", "16"},
        {"sonde-interfere", "--cores", "vector0-3"},
        {"sonde-stream", "--cores", "vector0-1"},
        {"sonde-copy", "--bytes", "64KiB,1MiB"},
        {"sonde-gemm", "--shape", "512x4096x4096"}};
    for (std::vector<std::string> command : probes) {
      command.insert(command.end(), {"--device", test::kChip, "--out", name, "--quick", "--quiet"});
      const test::Result result = run(command);
      ASSERT_EQ(result.exit_code, 0) << command[0] << result.err;
    }
  }
  nlohmann::json json_of(const std::vector<std::string>& command, int code = 0) {
    const test::Result result = run(command);
    EXPECT_EQ(result.exit_code, code) << command[0] << result.err;
    const auto json = nlohmann::json::parse(result.out, nullptr, false);
    EXPECT_TRUE(json.is_object()) << command[0] << result.out;
    return json.is_object() ? json : nlohmann::json::object();
  }
};

TEST_F(OtherPrograms, EveryCommandThatPrintsHasJson) {
  const std::string chip = test::kChip;
  const auto plan = json_of({"sonde", "chase", "--device", chip, "--cores", "vector3", "--blocks",
                             "1", "--dry-run", "--json"});
  EXPECT_EQ(plan.at("schema"), "plan.1");
  EXPECT_EQ(plan.at("points").at(0).at("core"), "vector3");
  EXPECT_EQ(plan.at("points").at(0).at("blocks"), 1);
  EXPECT_TRUE(plan.at("points").at(0).at("skipped").is_null());
  EXPECT_EQ(plan.at("to_measure"), plan.at("points").size());
  EXPECT_GT(plan.at("seconds").at("most"), plan.at("seconds").at("least"));

  const auto measured = json_of({"sonde", "chase", "--device", chip, "--cores", "vector3",
                                 "--blocks", "1", "--repetitions", "8", "--out", "r", "--json"});
  EXPECT_EQ(measured.at("schema"), "measured.1");
  EXPECT_EQ(measured.at("new_rows"), 8 * measured.at("points").at("ok").get<int>());
  EXPECT_EQ(measured.at("out"), "r");

  const auto report = json_of({"sonde", "report", "--run", "r", "--format", "svg", "--json"});
  EXPECT_EQ(report.at("schema"), "report.1");
  EXPECT_EQ(report.at("exit"), 0);
  EXPECT_TRUE(std::filesystem::exists(directory_ / report.at("page").get<std::string>()));
  ASSERT_FALSE(report.at("pictures").empty());
  for (const auto& picture : report.at("pictures")) {
    EXPECT_TRUE(std::filesystem::exists(directory_ / picture.get<std::string>())) << picture;
  }
  const auto tree = json_of({"sonde", "topology", "--run", "r", "--json"});
  EXPECT_EQ(tree, nlohmann::json::parse(test::read_text(directory_ / "r/topology.json")));
  const auto model = json_of({"sonde", "check-model", "--device", chip, "--row", "3", "--json"});
  EXPECT_EQ(model.at("schema"), "check_model.1");
  EXPECT_EQ(model.at("rows").at(0).at("verdict"), "ok");
  json_of({"sonde", "compare", "r", "r", "--json"});

  refused({"sonde", "chase", "--device", chip, "--csv", "-", "--json"}, 2, {"--json"});
  refused({"sonde", "campaign", "--device", chip, "--dry-run", "--json"}, 2, {"--json"});
}

TEST_F(OtherPrograms, VerboseSaysWhatIsDoneAndQuietDoesNot) {
  const std::vector<std::string> chase = {"sonde-chase", "--device", test::kChip, "--cores",
                                          "vector0",     "--blocks", "1",         "--out",
                                          "r",           "--quick"};
  std::vector<std::string> verbose = chase, quiet = chase;
  verbose.emplace_back("--verbose");
  quiet.emplace_back("--quiet");
  const test::Result told = run(verbose);
  EXPECT_NE(told.err.find("points planned"), std::string::npos) << told.err;
  EXPECT_NE(told.err.find("ends after 8 samples: as many as asked for"), std::string::npos)
      << told.err;
  EXPECT_EQ(run(quiet).err.find("points planned"), std::string::npos);
  const test::Result report = run({"sonde-report", "--run", "r", "--format", "svg", "--verbose"});
  EXPECT_NE(report.err.find("read r/chase.csv: "), std::string::npos) << report.err;
  EXPECT_NE(report.err.find("gnuplot -e "), std::string::npos) << report.err;
  EXPECT_EQ(run({"sonde-report", "--run", "r", "--format", "svg"}).err, "");
  EXPECT_EQ(run({"sonde-report", "--run", "r", "--quiet", "--verbose"}).exit_code, 2);
}

TEST_F(OtherPrograms, LoadersTakeEveryCsvWithoutOptions) {
  measure("r");
  ASSERT_EQ(run({"sonde-report", "--run", "r", "--format", "svg"}).exit_code, 0);
  std::vector<std::filesystem::path> files = {directory_ / "r/report/findings.csv"};
  for (const auto& entry : std::filesystem::directory_iterator(directory_ / "r")) {
    if (entry.path().extension() == ".csv") files.push_back(entry.path());
  }
  EXPECT_GE(files.size(), 7u);
  for (const std::filesystem::path& file : files) {
    const std::string text = test::read_text(file);
    // A byte order mark, CR, a comment or a blank line needs an option somewhere.
    EXPECT_TRUE(text.starts_with("schema,") || text.starts_with("run,")) << file;
    EXPECT_EQ(text.find('\r'), std::string::npos) << file;
    EXPECT_EQ(text.find("\n\n"), std::string::npos) << file;
    EXPECT_EQ(text.back(), '\n') << file;
    std::istringstream lines(text);
    std::string line, problem;
    std::getline(lines, line);
    const auto names = split_record(line, &problem);
    ASSERT_TRUE(names) << problem;
    EXPECT_EQ(std::set<std::string>(names->begin(), names->end()).size(), names->size());
    // A column is of numbers or of text; unknown is empty, no word for it, else it would be text.
    std::map<std::string, std::set<bool>> numeric;
    while (std::getline(lines, line)) {
      const auto cells = split_record(line, &problem);
      ASSERT_TRUE(cells) << file << problem;
      ASSERT_EQ(cells->size(), names->size()) << file << line;
      for (std::size_t i = 0; i < cells->size(); ++i) {
        const std::string& cell = (*cells)[i];
        if (cell.empty()) continue;
        numeric[(*names)[i]].insert(parse_number(cell).has_value());
        for (const char* word : {"nan", "NaN", "inf", "null", "None", "N/A", "-1"}) {
          EXPECT_NE(cell, word) << file << " " << (*names)[i];
        }
      }
    }
    for (const auto& [name, kinds] : numeric) {
      // Text that may look like a number, of which no loader can take the others for broken: the
      // digits of a CRC, and the unit of a ratio, "1".
      if (name == "check" || name == "unit") continue;
      EXPECT_EQ(kinds.size(), 1u) << file << ": " << name << " mixes numbers and text";
    }
  }
}

}  // namespace
}  // namespace sonde
