// Text from outside (names of devices, labels, kinds, directories, command-line values) is data
// wherever it goes: never run, never structure of a page, picture, table or document.
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <map>
#include <nlohmann/json.hpp>
#include <regex>
#include <sstream>

#include "core/csv_reader.h"
#include "core/files.h"
#include "core/parse.h"
#include "core/text.h"
#include "report/export.h"
#include "report/gnuplot.h"
#include "report/plot_script.h"
#include "report/report.h"
#include "tests/output/commands.h"
#include "tests/output/report_runs.h"
#include "topology/core_tree.h"

namespace sonde {
namespace {

using testing_runs::RunWriter;
namespace fs = std::filesystem;

/// What must not be made by anything; every text below tries to.
std::vector<std::string> hostile(const std::string& canary) {
  using namespace std::string_literals;
  // NOLINTBEGIN(misc-misleading-bidirectional): escapes here, the marks are for the page
  return {"it's `touch " + canary + "`",
          "$(touch " + canary + ")",
          "'; system('touch " + canary + "'); print '",
          "\".system(\"touch " + canary + "\").\"",
          "\n!touch " + canary + "\nsystem 'touch " + canary + "'\n",
          "@a {/=99 x} _^~ %n %s %d \\n",
          "<script>x()</script><img src=x onerror=x()>",
          "</script></style></svg>]]>--><script>x()//",
          "\" onload=\"x()\" x='",
          "\u202e\u2066right to left\u200f",
          "\x1b]0;t\x07\x1b[2J\u009b31m",
          "\xff\xc3\xed\xa0\x80\xf5",
          "-rf --out=/",
          "=cmd|' /C calc'!A0",
          "a,b;c\td|e\r\n",
          "a\0b"s,
          std::string(65536, 'A')};
  // NOLINTEND(misc-misleading-bidirectional)
}

/// A run in which every text that a run can hold is what `text` says of its number.
void write_run(const fs::path& dir, const std::function<std::string(std::size_t)>& text,
               std::size_t count) {
  RunWriter run(dir);
  DeviceDescription& device = run.manifest.device;
  device.product = text(0);
  device.memory = {{text(1), 32768, 64}, {text(2), 1 << 30, std::nullopt}};
  device.roofs.push_back({text(3), 1e12, text(4)});
  device.conditions.clear();
  for (std::size_t i = 0; i < count; ++i) device.conditions.emplace_back(text(i), text(i));
  run.manifest.revision = text(1);
  run.manifest.version = text(2);
  run.manifest.steps[0].state = "interrupted";
  run.manifest.steps[0].reason = text(5);
  run.manifest.steps[1].options = {{text(6), text(7)}};
  for (std::size_t i = 0; i < count; ++i) {
    const std::vector<double> seconds(8, 1e-6 * static_cast<double>(i + 1));
    for (const double bytes : {4096.0, 8192.0}) run.copy("d2d", text(i), bytes, seconds);
    run.copy(text(i), "auto", 4096, {1e-6}, Status::failed, text(i));
    run.gemm(64, 64, 64 + static_cast<std::int64_t>(i), seconds, 0, 0, Status::ok, "", text(i));
  }
  for (int core = 0; core < 4; ++core) {
    run.chase("vector" + std::to_string(core), 1, 16384, "cold",
              testing_runs::noisy(core < 2 ? 100 : 150, 0.01, 8, static_cast<std::uint64_t>(core)));
    run.interfere("vector" + std::to_string(core), "none", "none", {100, 101});
  }
  run.interfere("vector0", "vector1", text(8), {150, 151});
  run.handoff("vector0", "vector1", text(9), {60, 61});
  run.stream("vector0", text(3), 4096, {1e9});
  run.finish();
}

/// Names of all elements and attributes of a page, in order: its structure. What stands inside
/// <script> and <style> is text up to the end of that element, as a browser takes it.
std::vector<std::string> structure(const std::string& page) {
  std::vector<std::string> tags;
  for (std::size_t at = page.find('<'); at != std::string::npos; at = page.find('<', at)) {
    const std::size_t end = [&] {
      char quote = 0;
      for (std::size_t i = at; i < page.size(); ++i) {
        if (quote != 0) {
          if (page[i] == quote) quote = 0;
        } else if (page[i] == '"' || page[i] == '\'') {
          quote = page[i];
        } else if (page[i] == '>') {
          return i;
        }
      }
      return page.size();
    }();
    static const std::regex value("=\"[^\"]*\"|='[^']*'");
    const std::string tag = std::regex_replace(page.substr(at, end - at), value, "=");
    tags.push_back(tag);
    at = end;
    for (const char* raw : {"<script", "<style"}) {
      if (tag.rfind(raw, 0) == 0) at = page.find("</" + std::string(raw + 1), at);
    }
  }
  return tags;
}

class HostileText : public test::CommandLine {
 protected:
  void SetUp() override { texts_ = hostile(canary().string()); }
  void TearDown() override { EXPECT_FALSE(fs::exists(canary())) << "something was run"; }
  fs::path canary() const {
    return fs::temp_directory_path() / ("canary" + std::to_string(::getpid()));
  }
  std::function<std::string(std::size_t)> bad() const {
    return [this](std::size_t i) { return texts_.at(i); };
  }
  /// Valid UTF-8 without anything that acts on a terminal.
  static void expect_fit_to_show(const std::string& text) {
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);) EXPECT_EQ(line, shown_text(line));
  }
  static std::string plain(std::size_t i) { return "text" + std::to_string(i); }

  std::vector<std::string> texts_;
};

TEST_F(HostileText, MakesNoElementAndNoAttributeOfAPage) {
  DrawOptions none;
  none.program = "no-such-program";
  const auto page = [&](const fs::path& dir) {
    return read_file(make_report({.runs = {dir}, .out = {}, .read = {}, .draw = none}).page);
  };
  write_run(directory_ / "plain", plain, texts_.size());
  write_run(directory_ / "hostile", bad(), texts_.size());
  const std::string hostile_page = page(directory_ / "hostile");
  EXPECT_EQ(structure(hostile_page), structure(page(directory_ / "plain")));
  for (std::size_t i = 0; i < hostile_page.size();) {
    const std::size_t length = utf8_length(hostile_page, i);
    ASSERT_GT(length, 0u) << "not UTF-8 at " << i;
    i += length;
  }
  // So do the data that the page's program draws from, which hold what the pictures hold.
  static const std::string kData = "id=\"data\">";
  const std::size_t data = hostile_page.find(kData);
  ASSERT_NE(data, std::string::npos);
  const std::string json = hostile_page.substr(
      data + kData.size(), hostile_page.find("</script>", data) - data - kData.size());
  EXPECT_TRUE(nlohmann::json::accept(json));
  for (const char* mark : {"\\u202e", "\\u2066", "\\u001b", "\\u009b"}) {
    EXPECT_EQ(json.find(mark), std::string::npos) << mark;
  }
  // NOLINTNEXTLINE(misc-misleading-bidirectional): escapes here, the marks are looked for
  for (const char* mark : {"\u202e", "\u2066", "\x1b", "\u009b"}) {
    EXPECT_EQ(hostile_page.find(mark), std::string::npos);
  }
  EXPECT_EQ(hostile_page.find('\0'), std::string::npos);
}

TEST_F(HostileText, IsDrawnAndNeverRun) {
  write_run(directory_ / "hostile", bad(), texts_.size());
  const ReportOutcome outcome =
      make_report({.runs = {directory_ / "hostile"}, .out = {}, .read = {}, .draw = {}});
  EXPECT_EQ(outcome.code, ExitCode::ok);
  for (const std::string& message : outcome.messages) {
    EXPECT_EQ(message.find("gnuplot"), std::string::npos) << message;
  }
  std::size_t scripts = 0;
  for (const auto& entry : fs::directory_iterator(directory_ / "hostile/report")) {
    if (entry.path().extension() != ".gp") continue;
    ++scripts;
    const fs::path base = entry.path().parent_path() / entry.path().stem();
    EXPECT_TRUE(complete_picture(base.string() + ".png", "png")) << base;
    for (const std::string& tag : structure(read_file(base.string() + ".svg"))) {
      for (const char* word : {"script", "<im", "onload", "onerror"}) {
        EXPECT_EQ(tag.find(word), std::string::npos) << tag << " in " << base;
      }
    }
    // Outside of single quotes a script holds nothing that runs or expands.
    static const std::regex quoted("'(?:[^'\n]|'')*'");
    const std::string rest = std::regex_replace(read_file(entry.path()), quoted, "''");
    for (const char* word : {"`", "system", "touch", "@", "\n!", "load "}) {
      EXPECT_EQ(rest.find(word), std::string::npos) << word << " in " << entry.path();
    }
  }
  EXPECT_GE(scripts, 5u);
}

TEST_F(HostileText, LeavesTablesAndDocumentsWhole) {
  write_run(directory_ / "hostile", bad(), texts_.size());
  StoredRun run = load_run(directory_ / "hostile", {});
  EXPECT_FALSE(run.any_refused());
  run.name = texts_[2] + texts_[14];
  const RunAnalysis analysis = analyse_run(run);
  const std::vector<Finding> findings = find_findings(analysis);
  ASSERT_GT(findings.size(), 10u);

  std::istringstream table(findings_csv(findings));
  std::size_t rows = 0;
  for (std::string line; std::getline(table, line); ++rows) {
    std::string problem;
    const auto cells = split_record(line, &problem);
    ASSERT_TRUE(cells) << problem;
    EXPECT_EQ(cells->size(), 9u) << line.substr(0, 200);
  }
  EXPECT_EQ(rows, findings.size() + 1);

  EXPECT_EQ(nlohmann::json::parse(findings_gbench(run.manifest, findings)).at("benchmarks").size(),
            static_cast<std::size_t>(std::count_if(findings.begin(), findings.end(),
                                                   [](const Finding& f) { return f.value; })));
  const std::string label = "[a-z_]+=\"(?:[^\"\\\\\n]|\\\\[\\\\\"n])*\"";
  const std::regex sample("sonde_finding_[a-z_]+\\{(?:" + label + ",){5}" + label +
                          "\\} -?[0-9.e+-]+");
  Manifest short_names = run.manifest;  // std::regex recurses over long lines
  short_names.device.product = texts_[2];
  std::istringstream samples(findings_openmetrics(short_names, findings));
  for (std::string line; std::getline(samples, line);) {
    if (line.starts_with("# ")) continue;
    EXPECT_TRUE(std::regex_match(line, sample)) << line.substr(0, 300);
  }
  EXPECT_TRUE(analysis.tree.has_value());
  const CoreTree tree = infer_core_tree(run);
  EXPECT_TRUE(nlohmann::json::accept(topology_json(run, tree)));
  for (const std::string& text : texts_) {
    run.manifest.device.product = text;
    run.manifest.device.name = text;
    test::write_text(directory_ / "tree.xml", topology_xml(run, tree));
    const test::Result drawn = this->run({"/usr/bin/lstopo-no-graphics", "--input",
                                          (directory_ / "tree.xml").string(), "--of", "console"});
    EXPECT_EQ(drawn.exit_code, 0) << drawn.err;
    EXPECT_NE(drawn.out.find("PU L#3"), std::string::npos) << text.substr(0, 80);
  }
}

TEST_F(HostileText, IsNamedByDirectoriesAndStaysOneLineOfAMessage) {
  const std::string canary_name = canary().filename().string();
  for (const std::string& name :
       {"it's `touch " + canary_name + "`", std::string("$(touch ") + canary_name + ")",
        "\n!touch " + canary_name, std::string("=cmd|' C calc'!A0"),
        // NOLINTNEXTLINE(misc-misleading-bidirectional): an escape here, the mark is in a name
        std::string("\u202e\x1b[2J\xff\xc3"), std::string("-rf"), std::string(200, 'A')}) {
    const std::string dir = "./" + name;
    testing_runs::RunWriter run(directory_ / name);
    run.copy("d2d", "auto", 4096, std::vector<double>(8, 1e-6));
    run.finish();
    for (const std::vector<std::string>& command :
         {std::vector<std::string>{"sonde-topology", "--run", dir},
          {"sonde-export", "--run", dir},
          {"sonde-export", "--run", dir, "--format", "openmetrics"},
          {"sonde-compare", dir, dir},
          {"sonde-chase", "--device", "sim:950pr_9579", "--out", dir, "--blocks", "1", "--cores",
           "vector0", "--footprint", "16KiB", "--repetitions", "1"}}) {
      const test::Result result = this->run(command);
      EXPECT_LE(result.exit_code, 2) << command[0] << result.err;
      EXPECT_GE(result.exit_code, 0);
      expect_fit_to_show(result.err);
      // What is printed for people; an export is data.
      if (command[0] == "sonde-topology" || command[0] == "sonde-compare") {
        expect_fit_to_show(result.out);
      }
    }
    EXPECT_FALSE(fs::exists(directory_ / canary_name));
  }
}

TEST_F(HostileText, IsRefusedByEveryFlagInOneLine) {
  for (std::string text : texts_) {
    text.erase(std::remove(text.begin(), text.end(), '\0'), text.end());  // argv holds none
    for (const std::vector<std::string>& command :
         {std::vector<std::string>{"sonde-chase", "--footprint=" + text},
          {"sonde-chase", "--device=" + text},
          {"sonde-chase", "--device=sim:" + text},
          {"sonde-chase", "--cores=" + text},
          {"sonde-gemm", "--shape=" + text},
          {"sonde-gemm", "--shapes=" + text},
          {"sonde-copy", "--method=" + text},
          {"sonde-report", "--run=" + text},
          {"sonde-chase", "--" + text},
          {"sonde", text}}) {
      const test::Result result = run(command);
      EXPECT_EQ(result.exit_code, 2) << command[0] << ' ' << command[1].substr(0, 60);
      EXPECT_EQ(result.out, "");
      EXPECT_EQ(test::count_lines(result.err), 1u) << result.err.substr(0, 300);
      EXPECT_LE(result.err.size(), 8000u);
      expect_fit_to_show(result.err);
    }
    const test::Result words = run({"sonde", "complete-words", "chase", "--device", text});
    EXPECT_EQ(words.exit_code, 0);
    EXPECT_EQ(words.out, "");
  }
}

}  // namespace
}  // namespace sonde
