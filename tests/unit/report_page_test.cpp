// What the page is made of: the JSON of its figures, its links, sentences and grades.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "core/text.h"
#include "report/figure_json.h"
#include "report/grade.h"
#include "report/html.h"
#include "report/page_assets.h"
#include "report/plot_script.h"
#include "report/sentences.h"
#include "tests/support/programs.h"

namespace sonde {
namespace {

using Json = nlohmann::json;

Json parsed(const Figure& figure) {
  return Json::parse(figures_json({&figure})).at("figures").at(figure.id);
}

Figure curve() {
  Figure figure;
  figure.id = "curve";
  figure.title = "a curve";
  figure.x = {"bytes", true, TickStyle::binary, false};
  figure.y = {"time", false, TickStyle::plain, true};
  figure.series.push_back({"s", SeriesStyle::line_points, false, {}});
  figure.series[0].points = {{1024, 0.1 + 0.2, 0.25, 0.35, "1 KiB"}, {4096, 1.0 / 3, {}, {}, ""}};
  figure.marks.push_back({Mark::Kind::vertical, 2048, 3000, std::nullopt, std::nullopt, "here"});
  return figure;
}

TEST(FigureJson, HasEveryDigitAndWhatIsUnknownIsNull) {
  const Json json = parsed(curve());
  const Json& points = json.at("series")[0].at("points");
  ASSERT_EQ(points.size(), 2u);
  EXPECT_EQ(points[0], Json::array({1024.0, 0.1 + 0.2, 0.25, 0.35, "1 KiB"}));
  EXPECT_EQ(points[1][1].get<double>(), 1.0 / 3);
  EXPECT_TRUE(points[1][2].is_null() && points[1][3].is_null());
  EXPECT_TRUE(json.at("series")[0].at("line").get<bool>());
  EXPECT_TRUE(json.at("marks")[0].at("vertical").get<bool>());
  EXPECT_EQ(json.at("marks")[0].at("to").get<double>(), 3000);
  EXPECT_NE(figures_json({}).find("\"figures\":{}"), std::string::npos);
}

TEST(FigureJson, TicksAreThoseOfTheFilePictures) {
  const Figure figure = curve();
  const Json axis = parsed(figure).at("x");
  const AxisRange range = x_range(figure);
  EXPECT_EQ(axis.at("low").get<double>(), range.low);
  EXPECT_EQ(axis.at("high").get<double>(), range.high);
  std::size_t at = 0;
  for (const Tick& tick : range.ticks) {
    if (tick.at < range.low || tick.at > range.high) continue;
    ASSERT_LT(at, axis.at("ticks").size());
    EXPECT_EQ(axis.at("ticks")[at][0].get<double>(), tick.at);
    EXPECT_EQ(axis.at("ticks")[at++][1].get<std::string>(), tick.label);
  }
  EXPECT_EQ(at, axis.at("ticks").size());
  EXPECT_EQ(axis.at("ticks")[0][1], "1 KiB");
}

TEST(FigureJson, HostileTextStaysText) {
  Figure figure = curve();
  const std::string nasty = "</script><script>alert(1)</script>\u2028\u2029<!--\"\\";
  figure.title = nasty;
  figure.series[0].name = nasty + "\xff";
  figure.series[0].points[0].label = nasty;
  const std::string text = figures_json({&figure});
  EXPECT_EQ(text.find('<'), std::string::npos);
  for (const char c : text) EXPECT_LT(static_cast<unsigned char>(c), 0x7f);
  EXPECT_EQ(parsed(figure).at("title"), shown_text(nasty));
  EXPECT_EQ(parsed(figure).at("series")[0].at("points")[0][4], shown_text(nasty));
}

TEST(FigureJson, HeatMapsAreExactOrPackedTo16Bits) {
  Figure figure;
  figure.id = "heat";
  HeatMap map{{"a", "b"}, {"c", "d"}, {1.0 / 3, std::nullopt, 2.5, 4}, "ns", std::nullopt, {}};
  map.details = {{0.3, 0.4, 9}, {}, {{}, {}, 3}, {3.5, 4.5, 12}};
  figure.heat = map;
  Json heat = parsed(figure).at("heat");
  EXPECT_EQ(heat.at("cells"), Json::array({1.0 / 3, nullptr, 2.5, 4.0}));
  EXPECT_EQ(heat.at("details")[0], Json::array({0.3, 0.4, 9}));
  EXPECT_TRUE(heat.at("details")[1].is_null());
  EXPECT_EQ(heat.at("low").get<double>(), map.range().low);

  HeatMap large;
  large.rows.assign(1024, "r");
  large.columns.assign(1024, "c");
  for (int i = 0; i < 1024 * 1024; ++i) large.cells.emplace_back(100 + i * 1e-4);
  large.cells[5].reset();
  figure.heat = large;
  const std::string text = figures_json({&figure});
  EXPECT_LT(text.size(), 5u << 20);
  heat = Json::parse(text).at("figures").at("heat").at("heat");
  EXPECT_TRUE(heat.at("cells").empty());
  EXPECT_EQ(heat.at("least").get<double>(), 100);
  const std::string packed = heat.at("packed");
  EXPECT_EQ(packed.substr(0, 4), "AQAB");            // 01 00 01: the least twice
  EXPECT_EQ(packed.size(), (2u << 20) / 3 * 4 + 4);  // two bytes a cell
  EXPECT_EQ(packed.substr(12, 4), "AAAA");           // the sixth cell is unknown
}

TEST(PageStyle, HasTheColoursThatGnuplotDraws) {
  test::TemporaryDirectory directory;
  Figure figure = curve();
  for (int i = 0; i < 6; ++i) figure.series.push_back(figure.series[0]);
  figure.series.back().emphasis = true;
  write_plot_script(figure, directory / "s.gp");
  const std::string script = test::read_text(directory / "s.gp");
  const std::string style(kPageStyle);
  for (std::size_t i = 0; i < 7; ++i) {
    const std::string name = i < 6 ? "--c" + std::to_string(i) : "--ce";
    const std::size_t at = style.find(name + ": light-dark(");
    ASSERT_NE(at, std::string::npos) << name;
    const std::string colour = style.substr(at + name.size() + 13, 7);
    EXPECT_NE(script.find("'" + colour + "'"), std::string::npos) << name << ' ' << colour;
  }
}

TEST(PageScript, SetsNoMarkupFromData) {
  const std::string script(kPageScript);
  std::size_t count = 0;
  for (std::size_t at = 0; (at = script.find("innerHTML", at)) != std::string::npos; ++at) ++count;
  EXPECT_EQ(count, 1u);  // the constant that tells the namespace of SVG
  for (const char* word : {"eval(", "new Function", "document.write", "outerHTML",
                           "insertAdjacentHTML", "http:", "https:", "fetch(", "XMLHttp"}) {
    EXPECT_EQ(script.find(word), std::string::npos) << word;
  }
}

TEST(RelativeLink, ReachesTheFileFromThePage) {
  EXPECT_EQ(relative_link("/a/run/chase.csv", "/a/run/report"), "../chase.csv");
  EXPECT_EQ(relative_link("/a/run/chase.csv.gz", "/b/out"), "../../a/run/chase.csv.gz");
  EXPECT_EQ(relative_link("/a/x.svg", "/a"), "x.svg");
  EXPECT_EQ(relative_link("/a/b c\"<'#?:%/\xc3\xa9.csv", "/a/out"),
            "../b%20c%22%3C%27%23%3F%3A%25/%C3%A9.csv");
}

struct Told {
  StoredRun run;
  RunAnalysis analysis;
  std::vector<Finding> findings;
  explicit Told(TimeSource source) {
    run.manifest.device.time_source = source;
    analysis.run = &run;
  }
  void found(const std::string& name, double value, double low, double high,
             const std::string& unit, bool position = false) {
    Finding finding;
    finding.name = name;
    finding.value = value;
    finding.low = low;
    finding.high = high;
    finding.unit = unit;
    finding.position = position;
    findings.push_back(finding);
  }
  std::string of(const std::string& probe) const {
    return probe_sentence(probe, analysis, findings);
  }
};

TEST(Sentences, ChaseNamesLevelsWavesAndOutliers) {
  Told told(TimeSource::modelled);
  EXPECT_EQ(told.of("chase"), "");
  told.analysis.chase.emplace();
  ChaseAnalysis& chase = *told.analysis.chase;
  chase.footprints.emplace();
  chase.footprints->levels.plateaus.resize(2);
  told.found("chase.level_1.latency_ns", 4.84, 4.8, 4.9, "ns");
  told.found("chase.level_1.capacity_bytes", 32768, 32768, 49152, "B", true);
  told.found("chase.level_2.latency_ns", 134, 133, 135, "ns");
  EXPECT_EQ(told.of("chase"),
            "Modelled, not measured: 2 memory levels seen by a load: 4.84 ns (95 % interval 4.8 ns "
            "to 4.9 ns) up to 32 KiB (between 32 KiB and 48 KiB) and 134 ns (95 % interval 133 ns "
            "to 135 ns) beyond.");
  chase.footprints->levels.plateaus.clear();
  EXPECT_NE(told.of("chase").find("memory levels: none found"), std::string::npos);
  chase.footprints->levels.cannot_tell = true;
  EXPECT_NE(told.of("chase").find("memory levels: cannot tell"), std::string::npos);
  chase.blocks.resize(1);
  chase.blocks[0].kind = "vector";
  EXPECT_EQ(told.of("chase").find("one wave"), std::string::npos);  // sonde places the blocks
  chase.blocks[0].placed_by_device = true;
  EXPECT_NE(told.of("chase").find("blocks in one wave on vector cores: none found"),
            std::string::npos);
  told.found("chase.wave_blocks", 56, 56, 57, "blocks", true);
  EXPECT_NE(told.of("chase").find("vector cores: 56 blocks (between 56 blocks and 57 blocks)"),
            std::string::npos);
  chase.cores.emplace();
  chase.cores->latencies.cores.resize(5);
  EXPECT_NE(told.of("chase").find("outliers among 5 cores: none found"), std::string::npos);
  chase.cores->latencies.cores[2].outlier = true;
  EXPECT_NE(told.of("chase").find("1 of 5 cores stand out"), std::string::npos);
}

TEST(Sentences, CopySaysWhichAnswerItIs) {
  Told told(TimeSource::host_clock);
  told.analysis.copy.emplace();
  told.analysis.copy->series.push_back({"d2d", "auto", "4096", "warm", "", ""});
  CopyShape& shape = told.analysis.copy->series[0].shape;
  EXPECT_EQ(told.of("copy"), "Measured, host clock: d2d: method switch: none found.");
  shape.cannot_tell = true;
  EXPECT_EQ(told.of("copy"),
            "Measured, host clock: d2d: method switch: cannot tell from so few sizes.");
  shape.cannot_tell = false;
  shape.switches.resize(1);
  told.found("copy.switch_bytes", 370752, 370752, 404288, "B", true);
  told.found("copy.switch_cost_ns", 4716, 4700, 4800, "ns");
  told.found("copy.peak_bytes_per_s", 7.5e11, 7.4e11, 7.6e11, "B/s");
  EXPECT_EQ(told.of("copy"),
            "Measured, host clock: d2d: method switch after 362.1 KiB (between 362.1 KiB and 394.8 "
            "KiB) where time jumps by +4716 ns (95 % interval +4700 ns to +4800 ns), best 750 GB/s "
            "(95 % interval 740 GB/s to 760 GB/s).");
}

TEST(Sentences, OtherProbesKeepToTheirFindings) {
  Told told(TimeSource::device_event);
  told.analysis.gemm.emplace();
  told.analysis.gemm->dtype = "bf16";
  told.analysis.gemm->shapes.resize(1);
  EXPECT_EQ(told.of("gemm"),
            "Measured, device events: 1 shape of bf16; how much is attainable: cannot tell without "
            "roofs; pattern in what the roofs do not explain: none found.");
  told.analysis.gemm->rooflines.emplace_back().name = "measured";
  told.found("gemm.fraction.median", 0.808, 0.796, 0.818, "1");
  EXPECT_NE(told.of("gemm").find("1 shape of bf16 reach 80.8 % (95 % interval 79.6 % to 81.8 %) of "
                                 "what the measured roofs allow, in the median"),
            std::string::npos);
  told.analysis.handoff.push_back({"read", {{{"cpu", 0}, {"cpu", 1}}, {{}, 70.0, 72.0, {}}}});
  told.found("handoff.latency_ns.read.median", 71, 70, 72, "ns");
  told.found("handoff.latency_ns.read.min", 70, 70, 70, "ns");
  told.found("handoff.latency_ns.read.max", 72, 72, 72, "ns");
  EXPECT_NE(told.of("handoff").find("takes 71 ns (95 % interval 70 ns to 72 ns) one way, from 70 "
                                    "ns to 72 ns over 2 ordered pairs"),
            std::string::npos);
  told.analysis.slow_downs.push_back(
      {{"load", "load"}, 1.44, {"sm", 1}, {"sm", 2}, 10, std::nullopt, std::nullopt});
  EXPECT_NE(told.of("interfere").find("at most 1.44 times as long, cannot tell how many"),
            std::string::npos);
  told.found("interfere.above_register.load", 0.198, 0, 1, "1");
  EXPECT_NE(told.of("interfere").find("19.8 % of the pairs lie above"), std::string::npos);
  told.analysis.stream.emplace();
  told.analysis.stream->points.resize(1);
  told.analysis.stream->points[0].kind = "read";
  told.found("stream.peak_bytes_per_s.read", 2e12, 1e12, 3e12, "B/s");
  EXPECT_NE(told.of("stream").find("read at best 2 TB/s (95 % interval 1 TB/s to 3 TB/s) of any"),
            std::string::npos);
  told.found("stream.memory_bytes_per_s.read", 1e12, 9e11, 1.1e12, "B/s");
  EXPECT_NE(told.of("stream").find("read from memory at best 1 TB/s"), std::string::npos);
  EXPECT_EQ(told.of("nothing such"), "");
  EXPECT_EQ(probe_question("nothing such"), "");
  EXPECT_NE(probe_question("copy"), "");
}

TEST(Sentences, TopologySaysGroupsOrWhyNot) {
  Told told(TimeSource::modelled);
  EXPECT_EQ(topology_sentence(told.analysis, told.findings), "");
  told.analysis.tree.emplace();
  CoreTree& tree = *told.analysis.tree;
  tree.none_found = true;
  EXPECT_EQ(topology_sentence(told.analysis, told.findings),
            "Modelled, not measured: groups of cores: none found.");
  tree.none_found = false;
  tree.cannot_tell = true;
  EXPECT_EQ(topology_sentence(told.analysis, told.findings),
            "Modelled, not measured: groups of cores: cannot tell.");
  tree.order = {{"sm", 0}, {"sm", 1}, {"sm", 2}};
  tree.levels = {{"level_1", {{{"sm", 0}, {"sm", 1}}, {{"sm", 2}}}, 0.98, ""}};
  told.found("topology.level_1.stability", 0.98, 0, 1, "1");
  EXPECT_EQ(topology_sentence(told.analysis, told.findings),
            "Modelled, not measured: 3 cores fall into 2 groups, coarsest first (stability 98 %).");
}

TEST(Grade, OfARunIsThatOfItsWorstProbe) {
  EXPECT_FALSE(overall_grade({}));
  EXPECT_EQ(overall_grade({{"chase", 'A', {}}, {"gemm", 'C', {"C: x"}}, {"copy", 'B', {}}}), 'C');
}

}  // namespace
}  // namespace sonde
