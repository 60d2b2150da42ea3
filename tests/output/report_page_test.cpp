// The page in a browser: its self-test on the stored runs, on several together and on hostile text.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "core/files.h"
#include "report/html.h"
#include "report/page.h"
#include "report/report.h"
#include "tests/output/report_runs.h"
#include "tests/support/programs.h"

namespace sonde {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;
using testing_runs::RunWriter;

fs::path browser() {
  std::istringstream parts(std::getenv("PATH"));
  for (std::string part; std::getline(parts, part, ':');) {
    for (const char* name : {"chromium", "chromium-browser", "google-chrome"}) {
      if (fs::exists(fs::path(part) / name)) return fs::path(part) / name;
    }
  }
  return {};
}

/// Without pictures in files, which are not what is tested here.
fs::path page_of(const std::vector<fs::path>& runs, const fs::path& out) {
  ReportRequest request{.runs = runs, .out = out, .read = {}, .draw = {}};
  request.draw.program = "no-gnuplot-here";
  return make_report(request).page;
}

Json figures_of(const std::string& page) {
  const std::string begin = "<script type=\"application/json\" id=\"data\">";
  const std::size_t from = page.find(begin) + begin.size();
  return Json::parse(page.substr(from, page.find("</script>", from) - from)).at("figures");
}

std::size_t count_of(const std::string& text, const std::string& word) {
  std::size_t count = 0;
  for (std::size_t at = 0; (at = text.find(word, at)) != std::string::npos; ++at) ++count;
  return count;
}

/// How many lines the self-test must have, from the data of the page alone.
std::size_t expected_checks(const std::string& page) {
  constexpr std::size_t kForThePage = 5;
  std::size_t checks = kForThePage + 3 * count_of(page, "<div class=\"data\">");
  for (const Json& figure : figures_of(page)) {
    checks += 7;  // marks, hover, click, keys, and its points sorted, filtered, copied
    if (!figure.contains("series")) continue;
    std::size_t points = 0, named = 0;
    for (const Json& series : figure.at("series")) {
      points += series.at("points").size();
      named += !series.at("name").get<std::string>().empty() && !series.at("points").empty();
    }
    if (points == 0) --checks;  // nothing to hover over or to click on
    if (named > 0) ++checks;
  }
  return checks;
}

void expect_passes(const fs::path& page, const std::string& width = "1200") {
  const fs::path chromium = browser();
  if (chromium.empty()) GTEST_SKIP() << "no chromium is on the PATH (package chromium)";
  test::TemporaryDirectory scratch;
  const test::Result result =
      test::run(scratch.path(),
                {"/usr/bin/timeout", "240", chromium.string(), "--headless", "--no-sandbox",
                 "--disable-gpu", "--no-first-run", "--disable-background-networking",
                 "--disable-dev-shm-usage", "--user-data-dir=" + (scratch / "profile").string(),
                 "--window-size=" + width + ",900", "--virtual-time-budget=20000", "--dump-dom",
                 "file:///" + relative_link(page, "/") + "#self-test"});
  ASSERT_EQ(result.exit_code, 0) << result.err;
  const std::string begin = "<pre id=\"self-test\">";  // the script has the same words further up
  const std::size_t from = result.out.rfind(begin);
  ASSERT_NE(from, std::string::npos) << "the self-test did not end";
  std::istringstream lines(result.out.substr(from + begin.size()));
  std::size_t good = 0;
  std::string last;
  for (std::string line; std::getline(lines, line);) {
    last = line.substr(0, line.find("</pre>"));
    if (last.starts_with("done ")) break;
    EXPECT_TRUE(last.starts_with("ok ")) << last;
    ++good;
  }
  EXPECT_EQ(good, expected_checks(read_file(page)));
  EXPECT_EQ(last, "done " + std::to_string(good));
}

fs::path stored(const std::string& name) { return fs::path(SONDE_SOURCE_DIR) / "data" / name; }

TEST(ReportPageInABrowser, FullCampaignOfACard) {
  test::TemporaryDirectory directory;
  const fs::path page = page_of({stored("measured/h200_sxm")}, directory.path());
  EXPECT_LT(fs::file_size(page), 5u << 20);
  EXPECT_NE(read_file(page).find("/data/measured/h200_sxm/chase.csv.gz\">"), std::string::npos);
  expect_passes(page);
}

TEST(ReportPageInABrowser, ThisComputerOnANarrowScreen) {
  test::TemporaryDirectory directory;
  expect_passes(page_of({stored("measured/host_example")}, directory.path()), "500");
}

TEST(ReportPageInABrowser, SimulatedChip) {
  test::TemporaryDirectory directory;
  const fs::path page = page_of({stored("modelled/950pr_9579")}, directory.path());
  EXPECT_NE(read_file(page).find("<strong>MODELLED</strong>"), std::string::npos);
  expect_passes(page);
}

TEST(ReportPageInABrowser, SeveralRunsTogether) {
  test::TemporaryDirectory directory;
  const fs::path page =
      page_of({stored("measured/host_example"), stored("modelled/950pr_9579")}, directory.path());
  const std::string text = read_file(page);
  const Json figures = figures_of(text);
  for (const char* id : {"roofline_runs", "copy_runs", "stream_runs"}) {
    ASSERT_TRUE(figures.contains(id)) << id;
    EXPECT_EQ(figures.at(std::string(id) + "_share").at("share_of"), id);
    EXPECT_EQ(figures.at(id).at("series")[0].at("points").size(),
              figures.at(std::string(id) + "_share").at("series")[0].at("points").size());
  }
  EXPECT_TRUE(figures.contains("chase_footprint_runs"));
  EXPECT_NE(text.find("<caption>Findings of the runs side by side</caption>"), std::string::npos);
  expect_passes(page);
}

TEST(ReportPageInABrowser, HostileTextAndALargeMap) {
  test::TemporaryDirectory directory;
  const std::string nasty = "</script><img src=x onerror=alert(1)><!-- \u2028 \"'`${1}";
  RunWriter run(directory / "run");
  run.manifest.device.product = nasty;
  for (int i = 0; i < 3; ++i) {
    const std::string me = "vector" + std::to_string(i);
    run.interfere(me, "none", "none", {100, 100});
    for (int j = 0; j < 3; ++j) {
      if (i != j) run.interfere(me, "vector" + std::to_string(j), nasty, {110, 110});
    }
  }
  for (double bytes : {4096.0, 8192.0}) {
    run.copy(nasty, "auto", bytes, {1e-6, 2e-6});
    run.copy("d2d", nasty, bytes, {2e-6, 1e-6});
  }
  run.gemm(8, 8, 8, {1e-6}, 0, 0, Status::failed, nasty, nasty);
  run.finish();
  RunReport report;
  report.run = load_run(directory / "run", {});
  report.analysis = analyse_run(report.run);
  report.findings = find_findings(report.analysis);
  report.figures = build_figures({report.analysis, report.findings});
  Figure large;
  large.id = "large";
  large.title = nasty;
  large.x.label = large.y.label = nasty;
  HeatMap map;
  for (int i = 0; i < 300; ++i) map.rows.push_back(nasty + std::to_string(i));
  map.columns = map.rows;
  for (int i = 0; i < 300 * 300; ++i) map.cells.emplace_back(i % 7 == 0 ? 3.0 : 1.0 + i * 1e-5);
  map.cells[77].reset();
  map.scale = nasty;
  large.heat = map;
  report.figures.push_back(large);
  report.figures.back().probe = "copy";
  const std::string text = page_html({&report}, directory.path(), {nasty}, {});
  EXPECT_EQ(text.find("<img"), std::string::npos);
  EXPECT_EQ(count_of(text, "</script>"), 2u);
  write_file_atomically(directory / "index.html", text);
  expect_passes(directory / "index.html");
}

}  // namespace
}  // namespace sonde
