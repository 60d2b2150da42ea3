// What a report leaves on disk: findings, pictures, the page, messages and exit codes.
#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

#include "core/error.h"
#include "core/files.h"
#include "report/html.h"
#include "report/report.h"
#include "report/show.h"
#include "tests/output/report_runs.h"
#include "tests/support/programs.h"

namespace sonde {
namespace {

using testing_runs::RunWriter;
using testing_runs::TempDir;
namespace fs = std::filesystem;

/// Puts a variable back at the end of a test.
class SetPath {
 public:
  explicit SetPath(const std::string& value)
      : before_(std::getenv("PATH") ? std::getenv("PATH") : "") {
    ::setenv("PATH", value.c_str(), 1);
  }
  ~SetPath() { ::setenv("PATH", before_.c_str(), 1); }
  SetPath(const SetPath&) = delete;
  SetPath& operator=(const SetPath&) = delete;

 private:
  std::string before_;
};

bool said(const ReportOutcome& outcome, const std::string& text) {
  for (const std::string& message : outcome.messages) {
    if (message.find(text) != std::string::npos) return true;
  }
  return false;
}

std::string all_messages(const ReportOutcome& outcome) {
  std::string text;
  for (const std::string& message : outcome.messages) text += message + "\n";
  return text;
}

std::vector<std::string> names_in(const fs::path& dir) {
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(dir))
    names.push_back(entry.path().filename().string());
  return names;
}

bool has_line(const std::string& text, const std::string& start) {
  return text.rfind(start, 0) == 0 || text.find("\n" + start) != std::string::npos;
}

void write_script(const fs::path& path, const std::string& body) {
  std::ofstream(path) << "#!/bin/sh\n" << body;
  fs::permissions(path, fs::perms::owner_all);
}

TEST(Report, WholeRunGivesFindingsPicturesAndPage) {
  TempDir temp;
  testing_runs::write_npu_run(temp.path() / "npu");
  const ReportOutcome outcome =
      make_report({.runs = {temp.path() / "npu"}, .out = {}, .read = {}, .draw = {}});
  EXPECT_EQ(outcome.code, ExitCode::ok);
  EXPECT_TRUE(outcome.messages.empty()) << all_messages(outcome);
  const fs::path out = temp.path() / "npu" / "report";
  EXPECT_EQ(outcome.page, out / "index.html");
  const std::string findings = read_file(out / "findings.csv");
  EXPECT_EQ(findings.substr(0, findings.find('\n')),
            "run,name,value,low,high,unit,time_source,n,basis");
  EXPECT_TRUE(has_line(findings, "npu,chase.wave_blocks,56,56,57,blocks,modelled,,"));
  EXPECT_TRUE(
      has_line(findings, "npu,chase.level_1.capacity_bytes,32768,32768,49152,B,modelled,,"));
  EXPECT_TRUE(has_line(
      findings, "npu,chase.level_2.capacity_bytes,134217728,134217728,201326592,B,modelled,,"));
  EXPECT_TRUE(has_line(findings, "npu,chase.level_3.capacity_bytes,,"));
  EXPECT_TRUE(has_line(findings, "npu,copy.switch_bytes,370752,370752,404288,B,modelled,,"));
  EXPECT_TRUE(has_line(findings, "npu,copy.switch_cost_ns,4"));
  EXPECT_TRUE(has_line(findings, "npu,chase.latency_ns.core_vector55,"));
  EXPECT_TRUE(has_line(findings, "npu,chase.latency_ns.blocks_56,"));
  EXPECT_TRUE(has_line(findings, "npu,copy.utilisation,0.9"));
  EXPECT_EQ(findings.find("copy.edge"), std::string::npos);
  for (const char* id :
       {"chase_blocks", "chase_footprint", "chase_cores", "copy_time", "copy_bandwidth"}) {
    EXPECT_TRUE(complete_picture(out / (std::string(id) + ".svg"), "svg")) << id;
    EXPECT_TRUE(complete_picture(out / (std::string(id) + ".png"), "png")) << id;
    EXPECT_TRUE(fs::exists(out / (std::string(id) + ".gp"))) << id;
  }
  const std::string page = read_file(outcome.page);
  EXPECT_NE(page.find("default-src 'none'"), std::string::npos);
  EXPECT_NE(page.find("modelled, not measured"), std::string::npos);
  // The page draws the pictures itself and links to their files and to the rows.
  EXPECT_NE(page.find("<div class=\"plot\" data-figure=\"chase_blocks\">"), std::string::npos);
  for (const char* link :
       {"chase_blocks.svg", "chase_blocks.png", "chase_blocks.gp", "../chase.csv"})
    EXPECT_NE(page.find("<a href=\"" + std::string(link) + "\">"), std::string::npos) << link;
  EXPECT_NE(page.find("<span class=\"letter big "), std::string::npos);
  EXPECT_EQ(page.find("http://"), std::string::npos);
  EXPECT_EQ(page.find("https://"), std::string::npos);
  for (const std::string& name : names_in(out))
    EXPECT_EQ(name.find("tmp"), std::string::npos) << name;
}

TEST(Report, GoldenRowsOfARunWithoutNoise) {
  TempDir temp;
  RunWriter run(temp.path() / "exact");
  run.chase("vector0", 1, 16384, "cold", std::vector<double>(8, 134.0));
  run.chase("vector1", 1, 16384, "cold", std::vector<double>(3, 150.0));
  run.copy("d2d", "auto", 1000000, std::vector<double>(8, 2e-6));
  run.finish();
  const ReportOutcome outcome =
      make_report({.runs = {temp.path() / "exact"}, .out = {}, .read = {}, .draw = {}});
  EXPECT_EQ(outcome.code, ExitCode::ok) << all_messages(outcome);
  EXPECT_EQ(
      read_file(temp.path() / "exact" / "report" / "findings.csv"),
      "run,name,value,low,high,unit,time_source,n,basis\n"
      "exact,chase.latency_ns.core_vector0,134,134,134,ns,modelled,8,\"chase.csv: median over "
      "repetitions, cold, 16384 B a block\"\n"
      "exact,chase.latency_ns.core_vector1,150,,,ns,modelled,3,\"chase.csv: median over "
      "repetitions, cold, 16384 B a block\"\n"
      "exact,copy.peak_bytes_per_s,500000000000,500000000000,500000000000,B/"
      "s,modelled,8,\"copy.csv: "
      "d2d auto, bytes counted once over median time at 1000000 B, the best size\"\n"
      "exact,copy.utilisation,0.6105006105006104,0.6105006105006104,0.6105006105006104,1,modelled,"
      "8,"
      "\"copy.csv: d2d auto, bytes counted once over median time at 1000000 B, the best size, read "
      "plus write over the datasheet memory bandwidth\"\n");
}

TEST(Report, ThrottledAndFailedRowsAreCountedNotUsed) {
  TempDir temp;
  RunWriter run(temp.path() / "r");
  run.chase("vector0", 1, 16384, "cold", std::vector<double>(8, 134.0));
  run.chase("vector0", 1, 16384, "cold", {900, 900}, Status::throttled, "clock fell");
  run.chase("vector1", 1, 16384, "cold", {500}, Status::failed, "verify <b>bytes</b>");
  run.finish();
  const ReportOutcome outcome =
      make_report({.runs = {temp.path() / "r"}, .out = {}, .read = {}, .draw = {}});
  const std::string findings = read_file(temp.path() / "r" / "report" / "findings.csv");
  EXPECT_TRUE(has_line(findings, "r,chase.latency_ns.core_vector0,134,134,134,ns,modelled,8,"));
  EXPECT_EQ(findings.find("core_vector1"), std::string::npos);
  const std::string page = read_file(outcome.page);
  EXPECT_NE(page.find("2 rows throttled"), std::string::npos);
  EXPECT_NE(page.find("failed: verify &lt;b&gt;bytes"), std::string::npos);
  EXPECT_NE(page.find("no usable sample at core vector1"), std::string::npos);
}

TEST(Report, DegenerateDataStillDraws) {
  TempDir temp;
  RunWriter run(temp.path() / "r");
  run.chase("vector0", 1, 16384, "warm", {134.0});
  run.chase("vector0", 1, 32768, "warm", {134.0});
  run.copy("d2d", "auto", 4096, {1e-6});
  run.finish();
  const ReportOutcome outcome =
      make_report({.runs = {temp.path() / "r"}, .out = {}, .read = {}, .draw = {}});
  EXPECT_EQ(outcome.code, ExitCode::ok) << all_messages(outcome);
  EXPECT_TRUE(outcome.messages.empty()) << all_messages(outcome);
  const fs::path out = temp.path() / "r" / "report";
  for (const char* id : {"chase_footprint", "chase_cores", "copy_time", "copy_bandwidth"}) {
    EXPECT_TRUE(complete_picture(out / (std::string(id) + ".svg"), "svg")) << id;
    EXPECT_TRUE(complete_picture(out / (std::string(id) + ".png"), "png")) << id;
  }
}

TEST(Report, ATimeThatIsNotAboveZeroIsABadRowNotAValue) {
  TempDir temp;
  RunWriter run(temp.path() / "r");
  run.chase("vector0", 1, 16384, "warm", {134.0, 0.0, 136.0, -3.0, 138.0});
  run.copy("d2d", "auto", 4096, {1e-6});
  run.finish();
  const auto report = [&](bool skip) {
    return make_report({.runs = {temp.path() / "r"},
                        .out = temp.path() / (skip ? "skipped" : "refused"),
                        .read = {.skip_bad_rows = skip, .accept_edited = false},
                        .draw = {}});
  };
  const ReportOutcome refused = report(false);
  EXPECT_EQ(refused.code, ExitCode::usage) << all_messages(refused);
  EXPECT_NE(all_messages(refused).find("chase.csv:3: elapsed_s: 0 is not above zero"),
            std::string::npos)
      << all_messages(refused);
  EXPECT_EQ(read_file(temp.path() / "refused/findings.csv").find("chase.latency_ns"),
            std::string::npos);
  const ReportOutcome skipped = report(true);
  EXPECT_EQ(skipped.code, ExitCode::ok) << all_messages(skipped);
  EXPECT_NE(read_file(temp.path() / "skipped/findings.csv")
                .find("chase.latency_ns.core_vector0,136,,,ns,modelled,3,"),
            std::string::npos)
      << "the middle of the three that are times";
}

TEST(Figure, WithoutAnyPointDrawsAndSaysSo) {
  TempDir temp;
  Figure figure;
  figure.id = "empty";
  figure.title = "nothing";
  figure.x = {"x", true, TickStyle::binary, false};
  figure.y = {"y", true, TickStyle::plain, false};
  figure.series.push_back(
      {"a", SeriesStyle::line_points, false, {{-1, 2, {}, {}, ""}, {1, std::nan(""), {}, {}, ""}}});
  drop_undrawable(figure);
  EXPECT_TRUE(figure.series[0].points.empty());
  EXPECT_NE(figure.caption.find("2 points are left out"), std::string::npos);
  const DrawResult drawn = draw_figures({figure}, temp.path());
  EXPECT_TRUE(drawn.errors.empty()) << drawn.errors.front();
  EXPECT_TRUE(drawn.warnings.empty()) << drawn.warnings.front();
}

TEST(Report, TextFromDataIsNeverCode) {
  TempDir temp;
  const fs::path canary = temp.path() / "canary";
  const std::string nasty = "a_b^c {x} @d ~n 'q' \"dq\" `touch " + canary.string() + "` $(touch " +
                            canary.string() + ") \\ % <script>alert(1)</script> \xff \x01";
  RunWriter run(temp.path() / "it's `x` $(y) \"z\"");
  run.manifest.device.product = nasty;
  run.manifest.device.name = "sim:" + nasty.substr(0, 20);
  run.manifest.device.conditions = {{nasty, nasty}};
  run.manifest.steps[0].state = nasty;
  run.manifest.device.cores = {{"vec'`touch " + canary.string() + "`", 0}};
  const std::string kind = run.manifest.device.cores[0].kind;
  for (int blocks : {1, 2, 3})
    run.chase(kind, blocks, 16384, "warm", std::vector<double>(8, 100.0 + blocks));
  run.chase(nasty, 1, 16384, nasty, {1.0}, Status::failed, nasty);
  for (double bytes : {4096.0, 8192.0}) {
    run.copy(nasty, "auto", bytes, std::vector<double>(8, 1e-6));
    run.copy("system('touch " + canary.string() + "')", nasty, bytes, std::vector<double>(8, 2e-6));
  }
  // The manifest is JSON, which holds no broken UTF-8.
  for (std::string* text :
       {&run.manifest.device.product, &run.manifest.steps[0].state,
        &run.manifest.device.conditions[0].first, &run.manifest.device.conditions[0].second}) {
    text->erase(text->size() - 4);
  }
  run.finish();
  const fs::path out = temp.path() / "out ' `x`";
  const ReportOutcome outcome = make_report(
      {.runs = {temp.path() / "it's `x` $(y) \"z\""}, .out = out, .read = {}, .draw = {}});
  EXPECT_EQ(outcome.code, ExitCode::ok) << all_messages(outcome);
  EXPECT_FALSE(fs::exists(canary));
  const std::string page = read_file(outcome.page);
  std::size_t scripts = 0;  // the figures and the script: the page's own
  for (std::size_t at = 0; (at = page.find("<script", at)) != std::string::npos; ++at) ++scripts;
  EXPECT_EQ(scripts, 2u);
  EXPECT_NE(page.find("&lt;script&gt;"), std::string::npos);
  EXPECT_TRUE(complete_picture(out / "copy_time.png", "png"));
  EXPECT_TRUE(complete_picture(out / "chase_blocks.svg", "svg"));
  EXPECT_EQ(read_file(out / "copy_time.svg").find("<script"), std::string::npos);
}

TEST(Report, MissingGnuplotCostsThePicturesOnly) {
  TempDir temp;
  testing_runs::write_npu_run(temp.path() / "npu", 0.01, 1);
  const fs::path out = temp.path() / "npu" / "report";
  fs::create_directories(out);
  std::ofstream(out / "copy_time.svg") << "<svg>old</svg>";  // of an earlier state of the data
  const SetPath empty("");
  const ReportOutcome outcome =
      make_report({.runs = {temp.path() / "npu"}, .out = {}, .read = {}, .draw = {}});
  EXPECT_EQ(outcome.code, ExitCode::output);
  EXPECT_EQ(outcome.messages.size(), 1u) << all_messages(outcome);
  EXPECT_TRUE(said(outcome, "gnuplot-nox"));
  EXPECT_TRUE(fs::exists(out / "findings.csv"));
  EXPECT_NE(read_file(outcome.page).find("gnuplot-nox"), std::string::npos);
  for (const std::string& name : names_in(out)) {
    EXPECT_FALSE(name.ends_with(".png") || name.ends_with(".svg")) << name;
  }
}

TEST(Report, FailingHangingAndLyingGnuplotLeaveNoPicture) {
  TempDir temp;
  fs::create_directories(temp.path() / "bin");
  RunWriter run(temp.path() / "r");
  run.copy("d2d", "auto", 4096, {1e-6});
  run.finish();
  const std::string path = std::getenv("PATH");
  struct Case {
    const char* body;
    const char* expected;
  };
  const Case cases[] = {
      {"echo 'cannot open <font>' >&2; printf '<svg' > .half.svg; exit 3\n",
       "ended with status 3: cannot open <font>"},
      {"sleep 1000\n", "did not end within 0.3 s"},
      // Half a picture, where the whole one was to be.
      {"t=${2#*target=\\'}; t=${t%%\\'*}; printf '<svg> cut off' > \"$t\"; exit 0\n",
       "left no complete picture"},
      {"trap '' TERM INT HUP; sleep 1000 & while :; do wait; done\n", "did not end within 0.3 s"},
      // Megabytes on both streams.
      {"yes warning | head -c 4000000 >&2; yes | head -c 4000000; exit 5\n",
       "ended with status 5: warning"},
      {"kill -SEGV $$\n", "ended by signal 11"}};
  for (const Case& one : cases) {
    write_script(temp.path() / "bin" / "gnuplot", one.body);
    const SetPath fake((temp.path() / "bin").string() + ":" + path);
    const auto begin = std::chrono::steady_clock::now();
    const ReportOutcome outcome =
        make_report({.runs = {temp.path() / "r"},
                     .out = {},
                     .read = {},
                     .draw = {.program = "gnuplot", .seconds = 0.3, .parallel = 2}});
    EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(5));
    EXPECT_EQ(outcome.code, ExitCode::output);
    EXPECT_TRUE(said(outcome, one.expected)) << all_messages(outcome);
    EXPECT_LT(all_messages(outcome).size(), 20'000U) << one.body;
    for (const std::string& name : names_in(temp.path() / "r" / "report")) {
      EXPECT_EQ(name.find(".draft"), std::string::npos) << name;
    }
    for (const char* id : {"copy_time", "copy_bandwidth"}) {
      EXPECT_FALSE(fs::exists(temp.path() / "r" / "report" / (std::string(id) + ".svg")));
      EXPECT_FALSE(fs::exists(temp.path() / "r" / "report" / (std::string(id) + ".png")));
    }
    EXPECT_TRUE(fs::exists(outcome.page));
  }
}

TEST(Report, OlderPngTerminalIsTriedWhereCairoIsMissing) {
  TempDir temp;
  fs::create_directories(temp.path() / "bin");
  const fs::path real = [] {
    std::istringstream parts(std::getenv("PATH"));
    for (std::string part; std::getline(parts, part, ':');) {
      if (fs::exists(fs::path(part) / "gnuplot")) return fs::path(part) / "gnuplot";
    }
    return fs::path();
  }();
  ASSERT_FALSE(real.empty());
  write_script(temp.path() / "bin" / "gnuplot",
               "case \"$2\" in print*) echo ' canvas png svg ' >&2; exit 0;; "
               "*plain=1*|*svg*) exec " +
                   real.string() + " \"$@\";; esac\n" +
                   "echo 'unknown or ambiguous terminal name' >&2; exit 1\n");
  RunWriter run(temp.path() / "r");
  run.copy("d2d", "auto", 4096, {1e-6});
  run.finish();
  const SetPath fake((temp.path() / "bin").string() + ":" + std::getenv("PATH"));
  const ReportOutcome outcome =
      make_report({.runs = {temp.path() / "r"}, .out = {}, .read = {}, .draw = {}});
  EXPECT_EQ(outcome.code, ExitCode::ok) << all_messages(outcome);
  EXPECT_TRUE(complete_picture(temp.path() / "r" / "report" / "copy_time.png", "png"));
}

TEST(Report, RefusedFileCostsItsProbeOnly) {
  TempDir temp;
  testing_runs::write_npu_run(temp.path() / "npu", 0.01, 2);
  std::string rows = read_file(temp.path() / "npu" / "chase.csv");
  rows.replace(rows.find("16384"), 5, "16,84");
  write_file_atomically(temp.path() / "npu" / "chase.csv", rows);
  ReportRequest request{.runs = {temp.path() / "npu"}, .out = {}, .read = {}, .draw = {}};
  ReportOutcome outcome = make_report(request);
  EXPECT_EQ(outcome.code, ExitCode::usage);
  EXPECT_TRUE(said(outcome, "chase.csv")) << all_messages(outcome);
  const fs::path out = temp.path() / "npu" / "report";
  EXPECT_TRUE(complete_picture(out / "copy_time.svg", "svg"));
  EXPECT_FALSE(fs::exists(out / "chase_blocks.svg"));
  EXPECT_NE(read_file(outcome.page).find("Refused: chase.csv"), std::string::npos);
  EXPECT_EQ(read_file(out / "findings.csv").find("chase."), std::string::npos);

  request.read.skip_bad_rows = true;
  outcome = make_report(request);
  EXPECT_EQ(outcome.code, ExitCode::ok) << all_messages(outcome);
  EXPECT_TRUE(complete_picture(out / "chase_blocks.svg", "svg"));
  EXPECT_NE(read_file(outcome.page).find("1 row bad, left out on request"), std::string::npos);
}

TEST(Report, OtherClockInsideAFileIsNamed) {
  TempDir temp;
  RunWriter run(temp.path() / "r");
  run.copy("d2d", "auto", 4096, {1e-6});
  run.manifest.device.time_source = TimeSource::host_clock;
  run.copy("d2d", "auto", 8192, {1e-6, 1e-6});
  run.manifest.device.time_source = TimeSource::modelled;
  run.finish();
  const ReportOutcome outcome =
      make_report({.runs = {temp.path() / "r"}, .out = {}, .read = {}, .draw = {}});
  EXPECT_TRUE(said(outcome, "time_source is not the manifest's modelled"));
  EXPECT_NE(read_file(outcome.page).find("2 rows timed by another clock"), std::string::npos);
}

TEST(Report, SeveralRunsShareOnePage) {
  TempDir temp;
  for (const char* name : {"a/run", "b/run"}) {
    RunWriter run(temp.path() / name);
    run.copy("d2d", "auto", 4096, {1e-6});
    run.finish();
  }
  ReportRequest request{
      .runs = {temp.path() / "a/run", temp.path() / "b/run"}, .out = {}, .read = {}, .draw = {}};
  EXPECT_THROW(make_report(request), UsageError);
  request.out = temp.path() / "both";
  const ReportOutcome outcome = make_report(request);
  EXPECT_EQ(outcome.code, ExitCode::ok) << all_messages(outcome);
  const std::string findings = read_file(request.out / "findings.csv");
  EXPECT_TRUE(has_line(findings, "run,copy.peak"));
  EXPECT_TRUE(has_line(findings, "run-2,copy.peak"));
  EXPECT_TRUE(complete_picture(request.out / "run_copy_time.svg", "svg"));
  EXPECT_TRUE(complete_picture(request.out / "run-2_copy_time.svg", "svg"));
  EXPECT_FALSE(fs::exists(temp.path() / "a/run/report"));
}

TEST(Report, BadRequestsAreOneClearLine) {
  TempDir temp;
  EXPECT_THROW(make_report({.runs = {temp.path() / "none"}, .out = {}, .read = {}, .draw = {}}),
               UsageError);
  EXPECT_THROW(make_report({.runs = {temp.path()}, .out = {}, .read = {}, .draw = {}}), UsageError);
  RunWriter(temp.path() / "bare").finish();
  const ReportOutcome outcome =
      make_report({.runs = {temp.path() / "bare"}, .out = {}, .read = {}, .draw = {}});
  EXPECT_EQ(outcome.code, ExitCode::usage);
  EXPECT_TRUE(said(outcome, "nothing measured in"));
  std::ofstream(temp.path() / "file") << "x";
  EXPECT_THROW(
      make_report(
          {.runs = {temp.path() / "bare"}, .out = temp.path() / "file", .read = {}, .draw = {}}),
      OutputError);
}

TEST(Report, DebugBuildAndUnfinishedStepAreSaid) {
  TempDir temp;
  RunWriter run(temp.path() / "r", false);
  run.manifest.build_preset = "dev";
  run.manifest.steps[1].state = "interrupted";
  run.manifest.steps[1].reason = "SIGINT";
  run.copy("d2d", "auto", 4096, {1e-6});
  run.finish();
  const ReportOutcome outcome =
      make_report({.runs = {temp.path() / "r"}, .out = {}, .read = {}, .draw = {}});
  const std::string page = read_file(outcome.page);
  EXPECT_NE(page.find("Not a release build"), std::string::npos);
  EXPECT_NE(page.find("copy: interrupted, SIGINT"), std::string::npos);
  EXPECT_NE(page.find("Not measured: there is no <code>chase.csv"), std::string::npos);
}

}  // namespace
}  // namespace sonde
