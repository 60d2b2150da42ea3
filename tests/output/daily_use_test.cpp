// Completion, man pages, doctor and messages that know what was meant.
#include <nlohmann/json.hpp>

#include "tests/output/commands.h"

namespace sonde {
namespace {

class DailyUse : public test::CommandLine {
 protected:
  bool offers(const std::vector<std::string>& words, const std::string& word) {
    std::vector<std::string> command = {"sonde", "complete-words"};
    command.insert(command.end(), words.begin(), words.end());
    std::istringstream lines(run(command).out);
    for (std::string line; std::getline(lines, line);) {
      if (line.substr(0, line.find('\t')) == word) return true;
    }
    return false;
  }
  std::vector<std::string> commands() {
    std::vector<std::string> names;
    std::istringstream lines(run({"sonde", "complete-words"}).out);
    for (std::string line; std::getline(lines, line);) {
      names.push_back(line.substr(0, line.find('\t')));
    }
    return names;
  }
};

TEST_F(DailyUse, CompletesCommandsFlagsAndValues) {
  EXPECT_TRUE(offers({"ch"}, "chase"));
  EXPECT_FALSE(offers({"ch"}, "copy"));
  EXPECT_TRUE(offers({"chase", "--foot"}, "--footprint"));
  EXPECT_FALSE(offers({"chase", "--foot"}, "--device"));
  EXPECT_TRUE(offers({"gemm", ""}, "--shape"));
  EXPECT_TRUE(offers({"chase", "--device", "sim:950pr_95"}, "sim:950pr_9579"));
  EXPECT_FALSE(offers({"chase", "--device", "sim:950pr_95"}, "host"));
  EXPECT_TRUE(offers({"chase", "--quick", "--order", "l"}, "listed"));
  EXPECT_TRUE(offers({"completion", ""}, "fish"));
  EXPECT_TRUE(offers({"report", "--run", "x", "--o"}, "--out"));
  // A value that nothing is known of is left to the shell.
  EXPECT_EQ(run({"sonde", "complete-words", "chase", "--out", ""}).out, "");
}

TEST_F(DailyUse, BashCompletesThroughTheScript) {
  const test::Result script = run({"sonde", "completion", "bash"});
  test::write_text(directory_ / "script", script.out);
  const std::string bin = SONDE_BIN_DIR;
  const std::string ask =
      ". ./script; COMP_WORDS=(sonde chase --device sim:950pr_957); COMP_CWORD=3; _sonde; "
      "printf '%s\\n' \"${COMPREPLY[@]}\"; COMP_WORDS=(sonde-copy --meth); COMP_CWORD=1; _sonde; "
      "printf '%s\\n' \"${COMPREPLY[@]}\"";
  const test::Result result = run({"/bin/bash", "-c", ask}, {{"PATH=" + bin + ":/usr/bin:/bin"}});
  EXPECT_NE(result.out.find("sim:950pr_9579\n"), std::string::npos) << result.out << result.err;
  EXPECT_NE(result.out.find("\n--method\n"), std::string::npos) << result.out << result.err;
}

TEST_F(DailyUse, EveryShellGetsAScriptAndNoOther) {
  for (const char* shell : {"bash", "zsh", "fish"}) {
    const test::Result result = run({"sonde", "completion", shell});
    EXPECT_EQ(result.exit_code, 0);
    EXPECT_NE(result.out.find("complete-words"), std::string::npos) << shell;
    EXPECT_NE(result.out.find("sonde-gemm"), std::string::npos) << shell;
  }
  refused({"sonde", "completion", "zhs"}, 2, {"zsh"});
  refused({"sonde", "completion"}, 2, {"bash"});
}

TEST_F(DailyUse, EveryCommandHasAManPageOfItsFlags) {
  EXPECT_GE(commands().size(), 14u);
  for (const std::string& command : commands()) {
    const test::Result page = run({"sonde", command, "--man-page"});
    EXPECT_EQ(page.exit_code, 0) << command << page.err;
    EXPECT_TRUE(page.out.starts_with(".TH \"sonde\\-")) << page.out;
    for (const char* part : {".SH NAME\n", ".SH DESCRIPTION\n", ".B \\-h,\\-\\-help\n"}) {
      EXPECT_NE(page.out.find(part), std::string::npos) << command << "\n" << page.out;
    }
  }
  const std::string chase = run({"sonde-chase", "--man-page"}).out;
  EXPECT_NE(chase.find("\\-\\-footprint"), std::string::npos);
  EXPECT_NE(run({"sonde", "--man-page"}).out.find("check\\-model"), std::string::npos);
}

TEST_F(DailyUse, DoctorSaysWhatIsThere) {
  const test::Result result = run({"sonde", "doctor", "--json"});
  const auto json = nlohmann::json::parse(result.out);
  bool gnuplot = false, missing = false;
  for (const auto& check : json) {
    gnuplot = gnuplot || check.at("name") == "gnuplot";
    missing = missing || check.at("state") == "missing";
    EXPECT_EQ(check.at("fix").is_null(), check.at("state") == "ok") << check;
  }
  EXPECT_TRUE(gnuplot);
  EXPECT_EQ(result.exit_code, missing ? 1 : 0);
  const test::Result bare = run({"sonde", "doctor"}, {{"PATH=/nowhere"}});
  EXPECT_EQ(bare.exit_code, 1);
  EXPECT_NE(bare.out.find("missing  gnuplot"), std::string::npos) << bare.out;
  // Not a terminal: no colours.
  EXPECT_EQ(bare.out.find('\033'), std::string::npos);
  EXPECT_EQ(run({"sonde", "doctor", "--quiet"}).out.find("data files"), std::string::npos);
}

TEST_F(DailyUse, RefusalsNameWhatWasMeant) {
  const std::string chip = test::kChip;
  const std::vector<std::pair<std::vector<std::string>, std::string>> cases = {
      {{"sonde", "chas"}, "did you mean chase?"},
      {{"sonde-chase", "--device", "hots"}, "did you mean host?"},
      {{"sonde-chase", "--device", "sim:950pr_957"}, "did you mean 950pr_957"},
      {{"sonde-chase", "--device", chip, "--cores", "vectr3"}, "did you mean vector?"},
      {{"sonde-chase", "--device", chip, "--footprnt", "1"}, "did you mean --footprint?"},
      {{"sonde-chase", "--device", chip, "--order", "randm"}, "did you mean random?"},
      {{"sonde-copy", "--device", chip, "--method", "sdna"}, "did you mean sdma?"},
      {{"sonde-copy", "--device", chip, "--direction", "d2g"}, "did you mean d2d?"},
      {{"sonde-gemm", "--device", chip, "--dtype", "bf1"}, "did you mean bf16?"},
      {{"sonde-stream", "--device", chip, "--kind", "raed"}, "did you mean read?"},
      {{"sonde-gemm", "--device", "host", "--kernel", "autoo"}, "did you mean auto?"}};
  for (const auto& [command, hint] : cases) refused(command, 2, {hint});
}

}  // namespace
}  // namespace sonde
