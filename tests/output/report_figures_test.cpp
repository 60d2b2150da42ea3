// Pictures of the chip's structure and of its roofs: scripts, partial data, odd names.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <sstream>

#include "core/error.h"
#include "core/files.h"
#include "report/plot_script.h"
#include "report/report.h"
#include "tests/output/report_runs.h"
#include "tests/support/programs.h"

namespace sonde {
namespace {

using testing_runs::noisy;
using testing_runs::RunWriter;
using testing_runs::TempDir;
namespace fs = std::filesystem;

/// The lines of `$name` in a script, up to its end mark.
std::vector<std::string> block(const std::string& script, const std::string& name) {
  std::istringstream lines(script);
  std::vector<std::string> found;
  bool inside = false;
  for (std::string line; std::getline(lines, line);) {
    if (inside && line == "e") break;
    if (inside) found.push_back(line);
    if (line == "$" + name + " << e") inside = true;
  }
  return found;
}

Figure heat_figure(HeatMap map) {
  Figure figure;
  figure.id = "heat";
  figure.title = "heat";
  figure.height = heat_map_height(map);
  figure.heat = std::move(map);
  return figure;
}

std::string script_of(const Figure& figure, const fs::path& dir) {
  write_plot_script(figure, dir / "script.gp");
  return read_file(dir / "script.gp");
}

/// Drawn by the real gnuplot, which has nothing to say about it.
void expect_draws(const Figure& figure, const fs::path& dir) {
  const DrawResult drawn = draw_figures({figure}, dir);
  EXPECT_TRUE(drawn.errors.empty()) << drawn.errors.front();
  EXPECT_TRUE(drawn.warnings.empty()) << drawn.warnings.front();
  EXPECT_TRUE(complete_picture(dir / (figure.id + ".svg"), "svg"));
  EXPECT_TRUE(complete_picture(dir / (figure.id + ".png"), "png"));
}

/// Cells that the picture fills with colour: gnuplot draws each as one polygon.
std::size_t filled_cells(const fs::path& svg) {
  const std::string text = read_file(svg);
  const std::size_t begin = text.find("<g id=\"gnuplot_plot_1\"");
  const std::size_t end = text.find("</g>", begin);  // behind it comes the colour bar
  std::size_t count = 0;
  for (std::size_t at = text.find("<polygon", begin); at < end; at = text.find("<polygon", at + 1))
    ++count;
  return count;
}

TEST(HeatMaps, HaveEveryCellOnceAndTheHighOneAtItsPlace) {
  TempDir temp;
  HeatMap map;
  for (int i = 0; i < 14; ++i) map.rows.push_back("row" + std::to_string(i));
  for (int j = 0; j < 20; ++j) map.columns.push_back("column" + std::to_string(j));
  for (int i = 0; i < 14; ++i) {
    for (int j = 0; j < 20; ++j) map.cells.emplace_back(i == 3 && j == 17 ? 9.5 : 1.25);
  }
  map.cells[2 * 20 + 5].reset();
  map.scale = "unit (ns)";
  const Figure figure = heat_figure(map);
  const std::vector<std::string> cells = block(script_of(figure, temp.path()), "cells");
  ASSERT_EQ(cells.size(), 14u * 20);
  std::vector<std::string> sorted = cells;
  std::sort(sorted.begin(), sorted.end());
  EXPECT_EQ(std::unique(sorted.begin(), sorted.end()), sorted.end());
  EXPECT_EQ(cells[3 * 20 + 17], "17 3 9.5");
  EXPECT_EQ(cells[2 * 20 + 5], "5 2 NaN");
  EXPECT_EQ(std::count_if(cells.begin(), cells.end(),
                          [](const std::string& line) { return line.ends_with(" 9.5"); }),
            1);
  EXPECT_EQ(map.sentence(),
            "1 of 280 cells (0.36 %) have no value and are grey. 1 cell lies beyond the colour bar "
            "and share the colour of its end.");
  expect_draws(figure, temp.path());
  EXPECT_EQ(filled_cells(temp.path() / "heat.svg"), 279u);
}

TEST(HeatMaps, OneRowOneCellAndNoValueDraw) {
  TempDir temp;
  HeatMap row{{"a"}, {"b", "c", "d"}, {1.0, std::nullopt, 3.0}, "x", std::nullopt, {}};
  expect_draws(heat_figure(row), temp.path());
  EXPECT_EQ(filled_cells(temp.path() / "heat.svg"), 2u);
  HeatMap cell{{"a"}, {"b"}, {5.0}, "x", std::nullopt, {}};
  EXPECT_LT(cell.range().low, 5);
  EXPECT_GT(cell.range().high, 5);
  expect_draws(heat_figure(cell), temp.path());
  EXPECT_EQ(filled_cells(temp.path() / "heat.svg"), 1u);
  HeatMap none{{"a"}, {"b"}, {std::nullopt}, "x", std::nullopt, {}};
  expect_draws(heat_figure(none), temp.path());
}

TEST(HeatMaps, SmallOnesPrintTheirValuesAndLargeOnesThinTheirLabels) {
  TempDir temp;
  HeatMap map{{"a", "b"}, {"c", "d"}, {1.234, 2.0, std::nullopt, 4.5678}, "x", std::nullopt, {}};
  std::string script = script_of(heat_figure(map), temp.path());
  EXPECT_NE(script.find("'1.23' at 0,0 center"), std::string::npos);
  EXPECT_NE(script.find("'4.57' at 1,1 center"), std::string::npos);
  EXPECT_EQ(script.find("at 0,1 center"), std::string::npos);  // no value, no text
  HeatMap large;
  for (int i = 0; i < 132; ++i) large.rows.push_back("sm" + std::to_string(i));
  large.columns = large.rows;
  large.cells.assign(std::size_t{132} * 132, 1.0);
  script = script_of(heat_figure(large), temp.path());
  EXPECT_EQ(block(script, "cells").size(), 132u * 132);
  EXPECT_NE(script.find("'sm0' 0"), std::string::npos);
  EXPECT_EQ(script.find("'sm1' 1"), std::string::npos);
}

TEST(HeatMaps, TheScaleHoldsWhatItMust) {
  HeatMap map{{"a", "b"}, {"c", "d"}, {0.999, 1.0, 1.001, 1.002}, "x", Interval{1.0, 1.1}, {}};
  EXPECT_DOUBLE_EQ(map.range().low, 0.999);
  EXPECT_DOUBLE_EQ(map.range().high, 1.1);
  map.cells[3] = 1.8;
  EXPECT_DOUBLE_EQ(map.range().high, 1.8);
}

/// A device of `cores` cores in two halves: profile, interference, hand-off; every second pair.
void structure_rows(RunWriter& run, int cores) {
  std::uint64_t key = 1;
  const auto name = [](int i) { return "vector" + std::to_string(i); };
  const auto half = [&](int i) { return i < cores / 2 ? 0 : 1; };
  for (int i = 0; i < cores; ++i) {
    Rng homes(99);
    std::vector<double> latency;
    latency.reserve(64);
    for (int a = 0; a < 64; ++a)
      latency.push_back((static_cast<int>(homes.below(2)) == half(i) ? 118 : 150) +
                        noisy(1, 0.3, 1, ++key)[0]);
    run.profile(name(i), latency);
    run.interfere(name(i), "none", "none", noisy(100, 0.01, 8, ++key));
    for (int j = 0; j < cores; ++j) {
      if (i == j || (i + j) % 2 == 0) continue;
      const double slow = half(i) == half(j) ? 150 : 100;
      run.interfere(name(i), name(j), "register", noisy(100, 0.01, 8, ++key));
      run.interfere(name(i), name(j), "load", noisy(slow, 0.01, 8, ++key));
      run.handoff(name(i), name(j), "read", noisy(half(i) == half(j) ? 60 : 120, 0.01, 8, ++key));
    }
  }
}

TEST(ReportFigures, HalfOfThePairsDrawAndTheRestIsNamed) {
  TempDir temp;
  RunWriter run(temp.path() / "r");
  structure_rows(run, 12);
  run.finish();
  const ReportOutcome outcome =
      make_report({.runs = {temp.path() / "r"}, .out = {}, .read = {}, .draw = {}});
  EXPECT_EQ(outcome.code, ExitCode::ok);
  const fs::path out = temp.path() / "r" / "report";
  for (const char* id :
       {"profile_distance", "interfere_load", "interfere_register", "handoff_read"}) {
    EXPECT_TRUE(complete_picture(out / (std::string(id) + ".svg"), "svg")) << id;
    EXPECT_TRUE(complete_picture(out / (std::string(id) + ".png"), "png")) << id;
    EXPECT_EQ(block(read_file(out / (std::string(id) + ".gp")), "cells").size(), 144u) << id;
  }
  const std::string page = read_file(outcome.page);
  EXPECT_NE(page.find("60 of 132 cells (45 %) have no value and are grey."), std::string::npos);
  EXPECT_NE(page.find("<h3>topology</h3>"), std::string::npos);
  EXPECT_NE(page.find("Largest slow-down by one load aggressor"), std::string::npos);
  // Cells of the hand-off: 60 inside a half, 120 across.
  const std::string handoff = read_file(out / "handoff_read.gp");
  EXPECT_NE(handoff.find("latency one way (ns)"), std::string::npos);
}

TEST(ReportFigures, CellsOfPairsKnowTheirIntervalAndSamples) {
  TempDir temp;
  RunWriter run(temp.path() / "r");
  structure_rows(run, 12);
  run.interfere("vector0", "vector2", "load", {150});  // not enough for an interval
  run.finish();
  const StoredRun stored = load_run(temp.path() / "r", {});
  const RunAnalysis analysis = analyse_run(stored);
  const std::vector<Finding> findings = find_findings(analysis);
  std::size_t seen = 0;
  for (const Figure& figure : build_figures({analysis, findings})) {
    if (figure.id != "interfere_load" && figure.id != "handoff_read") continue;
    ++seen;
    const HeatMap& map = *figure.heat;
    ASSERT_EQ(map.details.size(), map.cells.size()) << figure.id;
    for (std::size_t i = 0; i < map.cells.size(); ++i) {
      const HeatDetail& one = map.details[i];
      EXPECT_EQ(one.n > 0, map.cells[i].has_value()) << i;
      if (one.n == 0) continue;
      const bool few = figure.id == "interfere_load" && one.n == 1;
      EXPECT_EQ(one.n, few ? 1 : 8);
      ASSERT_EQ(one.low.has_value(), !few);
      if (few) continue;
      EXPECT_LT(*one.low, *map.cells[i]);
      EXPECT_GT(*one.high, *map.cells[i]);
      EXPECT_LT(*one.high / *one.low, 1.1);  // two medians of eight samples at 1 % noise
    }
  }
  EXPECT_EQ(seen, 2u);
}

TEST(ReportFigures, OneCoreAndOneShapeAreEnoughToStayHonest) {
  TempDir temp;
  RunWriter run(temp.path() / "r");
  run.manifest.device.cores = {{"vector", 0}};
  run.manifest.device.roofs = {{"memory_bytes_per_s", 1e12, "x"}, {"bf16_flop_per_s", 1e14, "x"}};
  run.profile("vector0", {100, 110, 120});
  run.interfere("vector0", "none", "none", {100, 101});
  run.stream("vector0", "read", 4096, {1e9});
  run.gemm(64, 64, 64, {1e-6});
  run.finish();
  const ReportOutcome outcome =
      make_report({.runs = {temp.path() / "r"}, .out = {}, .read = {}, .draw = {}});
  EXPECT_EQ(outcome.code, ExitCode::ok);
  const fs::path out = temp.path() / "r" / "report";
  for (const char* id : {"profile_distance", "interfere_load", "stream_bandwidth", "gemm_weights"})
    EXPECT_FALSE(fs::exists(out / (std::string(id) + ".gp"))) << id;
  for (const char* id : {"roofline", "gemm_fraction"})
    EXPECT_TRUE(complete_picture(out / (std::string(id) + ".png"), "png")) << id;
  const std::string page = read_file(outcome.page);
  EXPECT_NE(page.find("Cannot tell"), std::string::npos);
  EXPECT_NE(page.find("no modelled roofline"), std::string::npos);
}

/// 12 weights at 3 values of M, the memory read by 1, 2 and 4 cores in two request sizes.
void roof_rows(RunWriter& run) {
  run.manifest.device.memory = {{"L2", 1 << 20, 64}, {"HBM", 1 << 30, std::nullopt}};
  run.manifest.device.roofs = {{"memory_bytes_per_s", 1e12, "x"}, {"bf16_flop_per_s", 1e14, "x"}};
  std::uint64_t key = 1;
  for (int cores : {1, 2, 4}) {
    const std::string set = cores == 1 ? "vector0" : "vector0-" + std::to_string(cores - 1);
    for (std::int64_t request : {512, 4096})
      run.stream(set, "read", (4 << 20) / cores, noisy(2e11 * cores, 0.01, 8, ++key), request);
  }
  run.stream("vector0-3", "read", 1 << 16, noisy(3e12, 0.01, 8, ++key), 512, 8);
  for (int w = 1; w <= 12; ++w) {
    for (std::int64_t m : {1, 64, 4096}) {
      const auto k = std::int64_t{512};
      const std::int64_t n = std::int64_t{256} * w;
      const auto a = static_cast<double>(m), b = static_cast<double>(n), c = 512.0;
      const double attainable = std::min(9e13, a * b * c / (a * c + c * b + a * b) * 8e11);
      // One shape reads its operands from a cache, faster than the memory allows.
      const double fraction = w == 12 && m == 1 ? 1.5 : 0.3 + 0.05 * w;
      run.gemm(m, n, k, noisy(2 * a * b * c / (fraction * attainable), 0.005, 8, ++key), 1650,
               300 + w);
    }
  }
}

TEST(ReportFigures, RooflineHasBothRoofsOverAllPointsAndFlagsWhatIsAbove) {
  TempDir temp;
  RunWriter run(temp.path() / "r");
  roof_rows(run);
  run.finish();
  const StoredRun stored = load_run(temp.path() / "r", {});
  const RunAnalysis analysis = analyse_run(stored);
  const std::vector<Finding> findings = find_findings(analysis);
  const std::vector<Figure> figures = build_figures({analysis, findings});
  const auto named = [&](const std::string& id) {
    const auto found = std::find_if(figures.begin(), figures.end(),
                                    [&](const Figure& figure) { return figure.id == id; });
    return found == figures.end() ? nullptr : &*found;
  };
  const Figure* roofline = named("roofline");
  ASSERT_NE(roofline, nullptr);
  EXPECT_TRUE(roofline->x.log && roofline->y.log);
  double least = HUGE_VAL, most = 0;
  std::size_t points = 0;
  const auto series = [&](const std::string& name) {
    return std::find_if(roofline->series.begin(), roofline->series.end(),
                        [&](const Series& one) { return one.name.starts_with(name); });
  };
  for (const Series& one : roofline->series) {
    if (one.style == SeriesStyle::line) continue;
    points += one.points.size();
    for (const FigurePoint& point : one.points) {
      least = std::min(least, point.x);
      most = std::max(most, point.x);
    }
  }
  EXPECT_EQ(points, 36u);
  ASSERT_NE(series("faster than its roof"), roofline->series.end());
  EXPECT_EQ(series("faster than its roof")->points.size(), 1u);
  EXPECT_TRUE(series("faster than its roof")->emphasis);
  for (const char* name : {"modelled roofs", "datasheet roofs"}) {
    const auto roof = series(name);
    ASSERT_NE(roof, roofline->series.end()) << name;
    EXPECT_DOUBLE_EQ(roof->points.front().x, least);
    EXPECT_DOUBLE_EQ(roof->points.back().x, most);
    EXPECT_EQ(roof->points.size(), 3u);
  }
  // 100 FLOP/B at 1 TB/s is the datasheet's 100 TFLOP/s.
  EXPECT_NEAR(series("datasheet")->points[1].x, 100, 1e-9);
  EXPECT_NEAR(series("datasheet")->points[1].y, 100, 1e-9);
  const std::string script = script_of(*roofline, temp.path());
  EXPECT_NE(script.find("set logscale x"), std::string::npos);
  EXPECT_NE(script.find("set logscale y"), std::string::npos);

  ASSERT_NE(named("gemm_weights"), nullptr);
  const HeatMap& weights = *named("gemm_weights")->heat;
  EXPECT_EQ(weights.rows.size(), 12u);
  EXPECT_EQ(weights.columns, (std::vector<std::string>{"1", "64", "4096"}));
  EXPECT_EQ(weights.rows.front(), "256x512");
  EXPECT_EQ(weights.rows.back(), "3072x512");
  const double measured = *find_finding(findings, "stream.memory_bytes_per_s.read")->value;
  EXPECT_NEAR(*weights.at(0, 0), 35 * 8e11 / measured, 0.5);
  EXPECT_NEAR(*weights.at(9, 1), 80 * 8e11 / measured, 1);
  for (const char* id : {"gemm_fraction", "gemm_clock", "gemm_power", "stream_bandwidth",
                         "stream_request", "stream_size"}) {
    ASSERT_NE(named(id), nullptr) << id;
    expect_draws(*named(id), temp.path());
  }
  const Figure* stream = named("stream_bandwidth");
  ASSERT_FALSE(stream->series.empty());
  ASSERT_EQ(stream->series[0].points.size(), 3u);
  EXPECT_EQ(stream->series[0].points[2].x, 4);
  EXPECT_NEAR(stream->series[0].points[2].y, 800, 10);  // GB/s
  EXPECT_NEAR(named("gemm_power")->series[0].points[0].y, 301, 1e-9);
}

TEST(ReportFigures, OddNamesOfWorksAndLabelsAreText) {
  TempDir temp;
  const fs::path canary = temp.path() / "canary";
  const std::string nasty =
      "it's `touch " + canary.string() + "` {/=99 x} <b> $(touch " + canary.string() + ")/../x";
  RunWriter run(temp.path() / "r");
  for (int i = 0; i < 3; ++i) {
    const std::string me = "vector" + std::to_string(i);
    run.interfere(me, "none", "none", {100, 100});
    for (int j = 0; j < 3; ++j) {
      if (i == j) continue;
      const std::string other = "vector" + std::to_string(j);
      run.interfere(me, other, nasty, {110, 110});
      run.handoff(me, other, nasty, {60, 60});
    }
  }
  run.stream("vector0", nasty, 4096, {1e9});
  run.stream("vector0-1", nasty, 4096, {2e9});
  run.gemm(8, 8, 8, {1e-6}, 0, 0, Status::ok, "", nasty);
  run.finish();
  const ReportOutcome outcome =
      make_report({.runs = {temp.path() / "r"}, .out = {}, .read = {}, .draw = {}});
  EXPECT_EQ(outcome.code, ExitCode::ok);
  EXPECT_FALSE(fs::exists(canary));
  EXPECT_EQ(read_file(outcome.page).find("<b>"), std::string::npos);
  std::size_t maps = 0;
  for (const auto& entry : fs::directory_iterator(temp.path() / "r" / "report")) {
    const std::string name = entry.path().filename().string();
    if (name.starts_with("interfere_") && name.ends_with(".png")) ++maps;
    if (name.starts_with("handoff_") && name.ends_with(".png")) ++maps;
  }
  EXPECT_EQ(maps, 2u);
}

TEST(ReportPage, SaysThatTheMachineWasBusyWhenCoresWaited) {
  TempDir temp;
  for (const double waited : {0.001, 0.05}) {  // of samples that took a second
    const fs::path dir = temp.path() / (waited > 0.01 ? "busy" : "idle");
    RunWriter run(dir);
    for (std::size_t i = 0; i < 8; ++i) {
      run.row(handoff_schema(), {"vector0", "vector1", "read"},
              {{"address_index", std::int64_t{0}},
               {"exchanges", std::int64_t{1000}},
               {"elapsed_s", 2e-4},
               {"latency_ns", 100.0},
               {"counting", "one_way"},
               {"waited_s", waited},
               {"end_s", static_cast<double>(i) + 1}},
              i);
    }
    run.finish();
    const ReportOutcome outcome = make_report({.runs = {dir}, .out = {}, .read = {}, .draw = {}});
    const bool said = read_file(outcome.page).find("The machine was busy") != std::string::npos;
    EXPECT_EQ(said, waited > 0.01);
  }
}

/// Median of a metric over the ok rows that fit, straight from the file.
double median_of_rows(const std::filesystem::path& csv, const Schema& schema,
                      const std::string& metric, const std::function<bool(const Row&)>& fits) {
  std::vector<double> values;
  for (const Row& row : read_table(csv, schema).rows.whole()) {
    if (row.status == Status::ok && fits(row)) values.push_back(*row.number(schema, metric));
  }
  return median(values).value();
}

TEST(Figures, PointsAreTheRowsInTheUnitOfTheAxis) {
  test::TemporaryDirectory directory;
  testing_runs::write_npu_run(directory / "run");
  const StoredRun run = load_run(directory / "run", {});
  const RunAnalysis analysis = analyse_run(run);
  const std::vector<Finding> findings = find_findings(analysis);
  const Schema& chase = chase_schema();
  const Schema& copy = copy_schema();
  int seen = 0;
  for (const Figure& figure : build_figures({analysis, findings})) {
    ASSERT_FALSE(figure.series.empty()) << figure.id;
    for (const FigurePoint& point : figure.series[0].points) {
      if (figure.id == "chase_blocks") {
        EXPECT_EQ(figure.y.label, "latency (ns a load)");
        EXPECT_DOUBLE_EQ(
            point.y,
            median_of_rows(directory / "run/chase.csv", chase, "latency_ns", [&](const Row& row) {
              return row.text(chase, "core") == "vector" && row.number(chase, "blocks") == point.x;
            }));
        ++seen;
      } else if (figure.id == "copy_time") {
        EXPECT_EQ(figure.y.label, "time (\u00b5s)");
        EXPECT_NEAR(point.y,
                    1e6 * median_of_rows(
                              directory / "run/copy.csv", copy, "elapsed_s",
                              [&](const Row& row) { return row.number(copy, "bytes") == point.x; }),
                    1e-9 * point.y);
        ++seen;
      } else if (figure.id == "copy_bandwidth") {
        EXPECT_EQ(figure.y.label, "bandwidth (GB/s, bytes counted once)");
        EXPECT_NEAR(point.y,
                    point.x * 1e-9 /
                        median_of_rows(
                            directory / "run/copy.csv", copy, "elapsed_s",
                            [&](const Row& row) { return row.number(copy, "bytes") == point.x; }),
                    1e-9 * point.y);
        ++seen;
      }
    }
  }
  EXPECT_GT(seen, 100);
}

}  // namespace
}  // namespace sonde
