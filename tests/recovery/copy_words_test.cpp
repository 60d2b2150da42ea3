// What is said and drawn of the shapes of copies that are given: each branch, both sides of each
// threshold.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "report/copy_figures.h"
#include "report/finding_list.h"
#include "report/overlay.h"
#include "report/report.h"

namespace sonde {
namespace {

CopySwitch switch_of(double last_old, double first_new, double jump_s) {
  CopySwitch one;
  one.last_old = last_old;
  one.first_new = first_new;
  one.jump_s = jump_s;
  one.jump_interval = Interval{jump_s - 1e-9, jump_s + 2e-9};
  one.n = 40;
  return one;
}

CopyEdge edge_of(double last_before, double rise) {
  CopyEdge one;
  one.last_before = last_before;
  one.first_in = 2 * last_before;
  one.top_bytes = 4 * last_before;
  one.rise = rise;
  return one;
}

CopySeries series_of(const std::string& direction) {
  CopySeries series{direction, "auto", "4096", "warm", "", ""};
  for (const double bytes : {1024.0, 4096.0, 16384.0}) {
    CurvePoint point;
    point.x = bytes;
    point.y = {bytes / 1e9, Interval{bytes / 2e9, bytes / 0.5e9}, 9};
    series.time.push_back(point);
  }
  return series;
}

TEST(CopyWords, OfASwitchSayWhereHowMuchAndWhetherBandwidthComesBack) {
  CopyAnalysis copy{{series_of("d2d")}};
  EXPECT_EQ(copy_picture(copy).sentence, "No method switch found.");
  EXPECT_EQ(copy_picture(copy).names, std::vector<std::string>{""});
  CopySwitch up = switch_of(4096, 8192, 2e-6), down = switch_of(65536, 131072, -5e-7);
  up.dip_depth = 0.25;
  up.recovered_bytes = 16384;
  down.dip_depth = 0.03;
  copy.series[0].shape.switches = {up, down};
  CopyPicture picture = copy_picture(copy);
  EXPECT_EQ(picture.sentence,
            "Method switch between 4 KiB and 8 KiB: +2000 ns; bandwidth falls by 25 % and is back "
            "from 16 KiB on. Method switch between 64 KiB and 128 KiB: \u2212500 ns; bandwidth "
            "falls by 3 % and does not come back.");
  ASSERT_EQ(picture.marks.size(), 2U);
  EXPECT_EQ(picture.marks[0].at, 4096);
  EXPECT_EQ(picture.marks[0].to, 8192);
  EXPECT_EQ(picture.marks[0].text, "switch after 4 KiB");
  // As bandwidth scatters anyway.
  copy.series[0].shape.switches[1].dip_depth = 0.019;
  copy.series[0].shape.switches.erase(copy.series[0].shape.switches.begin());
  EXPECT_EQ(copy_picture(copy).sentence, "Method switch between 64 KiB and 128 KiB: \u2212500 ns.");
}

TEST(CopyWords, OfEdgesClassesAndUndecidedPlaces) {
  CopyAnalysis copy{{series_of("d2d")}};
  CopyShape& shape = copy.series[0].shape;
  shape.edges = {edge_of(8192, 1.25), edge_of(1048576, 2)};
  shape.edges[0].capacity = 32768;
  shape.edges[0].recovered_bytes = 65536;
  shape.edges[1].start = Interval{524288, 2097152};
  CopyClass pages;
  pages.modulus = 4096;
  pages.from = 8192;
  pages.to = 1048576;
  pages.factor = 1.5;
  CopyClass powers = pages;
  powers.modulus = 0;
  shape.classes = {pages, powers};
  shape.undecided = {{2048, 4096, 1e-6}};
  const CopyPicture picture = copy_picture(copy);
  EXPECT_EQ(picture.sentence,
            "No method switch found. Edge (a rise in time per byte, where two buffers fill 32 KiB) "
            "from 8 KiB; bandwidth falls by 20 % and is back from 64 KiB on. Edge (a rise in time "
            "per byte, without a jump) from 1 MiB, its start between 512 KiB and 2 MiB; bandwidth "
            "falls by 50 % and does not come back. Alignment class: multiples of 4 KiB from 8 KiB "
            "to 1 MiB take 1.5 times the time of sizes beside them. Alignment class: powers of two "
            "from 8 KiB to 1 MiB take 1.5 times the time of sizes beside them. Undecided between 2 "
            "KiB and 4 KiB: a switch or a steep edge.");
  ASSERT_EQ(picture.marks.size(), 3U);
  EXPECT_EQ(picture.marks[0].at, 8192);
  EXPECT_FALSE(picture.marks[0].to);
  EXPECT_EQ(picture.marks[1].at, 524288);
  EXPECT_EQ(picture.marks[1].to, 2097152);
  EXPECT_EQ(picture.marks[1].text, "edge from 1 MiB");
  EXPECT_EQ(picture.marks[2].text, "undecided");
}

TEST(CopyWords, NamesTellSeriesApartByWhatDiffers) {
  CopyAnalysis copy{{series_of("h2d"), series_of("d2h"), series_of("d2h")}};
  copy.series[2].method = "sdma";
  copy.series[1].shape.cannot_tell = true;
  CopyPicture picture = copy_picture(copy);
  EXPECT_EQ(picture.names, (std::vector<std::string>{"h2d, auto", "d2h, auto", "d2h, sdma"}));
  EXPECT_EQ(picture.sentence,
            "h2d: No method switch found. d2h: too few sizes to look for a method switch.");
  copy.series[2].state = "cold";
  copy.series[1].alignment = "64";
  copy.series[0].cores = "cpu0-1";
  copy.series[1].tunables = "glibc.cpu.x=1";
  picture = copy_picture(copy);
  EXPECT_EQ(picture.names,
            (std::vector<std::string>{"h2d, auto, warm, by cpu0-1", "d2h, sdma, cold"}));
  copy.series[1].tunables.clear();
  EXPECT_EQ(copy_picture(copy).names[1], "d2h, auto, warm, aligned to 64 B");
}

TEST(CopyLines, SizesOfAClassAreTheirOwnPoints) {
  CopySeries series = series_of("d2d");
  const CopyValue rate = [](double bytes, double seconds) { return bytes / seconds; };
  EXPECT_EQ(copy_lines(series, "", rate).front().name, "");
  CopyClass pages;
  pages.modulus = 4096;
  pages.from = 4096;
  pages.to = 8192;
  series.shape.classes = {pages};
  series.time[0].y.value = 0;  // cannot be a rate
  series.time[2].y.interval->low = 0;
  const std::vector<Series> lines = copy_lines(series, "", rate);
  ASSERT_EQ(lines.size(), 2U);
  EXPECT_EQ(lines[0].name, "other sizes");
  EXPECT_EQ(lines[1].name, "multiples of 4 KiB");
  ASSERT_EQ(lines[0].points.size(), 2U);
  ASSERT_EQ(lines[1].points.size(), 1U);
  EXPECT_TRUE(std::isnan(lines[0].points[0].y));
  EXPECT_EQ(lines[0].points[1].x, 16384);  // beyond the class
  EXPECT_FALSE(lines[0].points[1].low);
  const FigurePoint& page = lines[1].points[0];
  EXPECT_NEAR(page.y, 1e9, 1);
  EXPECT_NEAR(*page.low, 0.5e9, 1);
  EXPECT_NEAR(*page.high, 2e9, 1);
  EXPECT_EQ(page.label, "4 KiB");
  EXPECT_EQ(copy_lines(series, "card", rate)[1].name, "card, multiples of 4 KiB");
  EXPECT_EQ(copy_lines(series, "card", rate)[0].name, "card");
}

TEST(CopyLines, APieceIsDrawnFromItsFirstSizeToItsLast) {
  CopyShape shape;
  shape.pieces = {{1024, 4096, 1e-6, 1e-9}, {8192, 8192 * 256, 2e-6, 1e-10}};
  const Series line =
      copy_pieces(shape, "fit", [](double bytes, double seconds) { return seconds + bytes; });
  ASSERT_EQ(line.points.size(), 18U);
  EXPECT_TRUE(line.dashed);
  EXPECT_EQ(line.points[0].x, 1024);
  EXPECT_NEAR(line.points[8].x, 4096, 1e-6);
  EXPECT_NEAR(line.points[4].x, 2048, 1e-6);
  EXPECT_NEAR(line.points[13].x, 8192 * 16, 1e-6);
  EXPECT_NEAR(line.points[0].y, 1024 + 1e-6 + 1024e-9, 1e-9);
}

TEST(ThresholdWords, SayWhatMovedWhatStaysAndWhatCannotBeTold) {
  ThresholdJudgement judgement;
  EXPECT_EQ(threshold_sentence(judgement), "");
  MovedSwitch exact{"non_temporal", 1048576, switch_of(786432, 1310720, 1e-6), 0};
  MovedSwitch beside{"non_temporal", 2097152, switch_of(2228224, 2359296, 1e-6), 0.0625};
  MovedSwitch none{"rep_movsb", 2048, std::nullopt, 0};
  judgement.moved = {exact, beside, none};
  judgement.causes = {{4096, 8192, true, false, "rep_movsb"},
                      {8192, 16384, false, false, "rep_movsb"},
                      {16384, 32768, true, true, ""},
                      {32768, 65536, false, true, ""},
                      {65536, 131072, true, false, ""}};
  EXPECT_EQ(
      threshold_sentence(judgement),
      "non_temporal set to 1 MiB: switch between 768 KiB and 1.25 MiB. non_temporal set to 2 "
      "MiB: switch between 2176 KiB and 2.25 MiB, 6.2 % beside it. rep_movsb set to 2 KiB: "
      "no switch found there. The switch after 4 KiB moves along with rep_movsb: a change of "
      "method. The edge from 8 KiB moves along with rep_movsb: a change of method. The switch "
      "after 16 KiB stays whatever is moved: none of these thresholds is its cause. The edge "
      "from 32 KiB stays whatever is moved: the edge of a cache. The switch after 64 KiB "
      "cannot be told: it is neither found again everywhere nor seen to move. ");
}

/// One setting of a threshold and the switches (with a jump up) seen with it.
ThresholdJudgement judged(const CopyShape& usual, double threshold,
                          const std::vector<CopySwitch>& switches, double from = 64,
                          double to = 1 << 30) {
  CopyShape shape;
  shape.switches = switches;
  const std::string setting = "glibc.cpu.x86_rep_movsb_threshold=";
  return judge_thresholds(
      usual, {{setting + std::to_string(static_cast<std::int64_t>(threshold)), from, to, &shape}});
}

TEST(Thresholds, ASwitchIsTheSettingsWithinAStepOfTheLadder) {
  const ThresholdJudgement inside = judged({}, 1e6, {switch_of(0.9e6, 1.1e6, 1e-6)});
  ASSERT_EQ(inside.moved.size(), 1U);
  EXPECT_EQ(inside.moved[0].threshold, "x86_rep_movsb_threshold");
  EXPECT_EQ(inside.moved[0].bytes, 1e6);
  ASSERT_TRUE(inside.moved[0].found);
  EXPECT_EQ(inside.moved[0].off, 0);
  EXPECT_NEAR(judged({}, 1e6, {switch_of(1.15e6, 1.3e6, 1e-6)}).moved[0].off, 0.15, 1e-12);
  EXPECT_NEAR(judged({}, 1e6, {switch_of(0.8e6, 0.9e6, 1e-6)}).moved[0].off, 0.1, 1e-12);
  EXPECT_TRUE(judged({}, 1e6, {switch_of(1.18e6, 1.3e6, 1e-6)}).moved[0].found);
  EXPECT_FALSE(judged({}, 1e6, {switch_of(1.20e6, 1.3e6, 1e-6)}).moved[0].found);
  // Of several the nearest.
  const auto nearest =
      judged({}, 1e6, {switch_of(1.1e6, 1.2e6, 1), switch_of(1.05e6, 1.1e6, 2)}).moved[0];
  EXPECT_EQ(nearest.found->jump_s, 2);
  CopyShape shape;
  for (const char* other : {"glibc.cpu.a=5:glibc.cpu.b=6", "nothing", "glibc.cpu.a=0",
                            "glibc.cpu.a=-4", "glibc.cpu.a=4K"}) {
    EXPECT_TRUE(judge_thresholds({}, {{other, 64, 1e9, &shape}}).moved.empty()) << other;
  }
  EXPECT_EQ(judge_thresholds({}, {{"glibc.cpu.a=1", 64, 1e9, &shape}}).moved.size(), 1U);
}

TEST(Thresholds, ASwitchThatGoesAwayMovesOnlyWhereItCouldHaveBeenSeen) {
  CopyShape usual;
  usual.switches = {switch_of(1e6, 1.1e6, 1e-6)};
  const CopySwitch elsewhere = switch_of(1e4, 1.1e4, 1e-6);
  const auto cause = [&](const std::vector<CopySwitch>& all, double from = 64, double to = 1e9) {
    return judged(usual, 1.05e4, all, from, to).causes.at(0);
  };
  EXPECT_EQ(cause({elsewhere}).moved_by, "x86_rep_movsb_threshold");
  EXPECT_TRUE(cause({elsewhere}).decided());
  EXPECT_TRUE(cause({elsewhere, switch_of(1e6, 1.1e6, 1e-6)}).stays);
  EXPECT_EQ(cause({elsewhere, switch_of(1e6, 1.1e6, 1e-6)}).moved_by, "");
  EXPECT_FALSE(cause({}).decided());  // gone, but not seen to come up elsewhere
  EXPECT_TRUE(cause({switch_of(1.3e6, 1.4e6, 1e-6)}).stays);  // the same place still
  EXPECT_FALSE(cause({switch_of(1.32e6, 1.4e6, 1e-6)}).stays);
  // A curve that ends within an octave of it says nothing.
  EXPECT_FALSE(cause({elsewhere}, 64, 2.19e6).decided());
  EXPECT_TRUE(cause({elsewhere}, 64, 2.2e6).decided());
  EXPECT_FALSE(cause({elsewhere}, 0.51e6).decided());
  EXPECT_TRUE(cause({elsewhere}, 0.5e6).decided());
}

TEST(Thresholds, AnEdgeStaysWithinAnOctaveAndNonTemporalStoresNeedNotSeeIt) {
  CopyShape usual;
  usual.edges = {edge_of(262144, 2)};
  const auto stays = [&](const char* name, double threshold, const CopyShape& shape,
                         double to = 1e9) {
    const std::string setting = std::string("glibc.cpu.") + name + "=" +
                                std::to_string(static_cast<std::int64_t>(threshold));
    const BreakpointCause cause = judge_thresholds(usual, {{setting, 64, to, &shape}}).causes.at(0);
    EXPECT_FALSE(cause.is_switch);
    return cause.stays;
  };
  CopyShape same, far, jump, fall;
  same.edges = {edge_of(524288, 2)};
  far.edges = {edge_of(524352, 2)};
  jump.switches = {switch_of(131072, 140000, 1e-6)};
  fall.switches = {switch_of(131072, 140000, -1e-6)};
  EXPECT_TRUE(stays("a", 4096, same));
  EXPECT_FALSE(stays("a", 4096, far));
  EXPECT_TRUE(stays("a", 4096, jump));
  EXPECT_FALSE(stays("a", 4096, fall));
  EXPECT_FALSE(stays("a", 4096, same, 4 * 524288 - 1));
  EXPECT_TRUE(stays("a", 4096, same, 4 * 524288));
  // The rise ends at 1 MiB; a threshold up to twice that replaces what copies there.
  EXPECT_FALSE(stays("x86_non_temporal_threshold", 2097152, same));
  EXPECT_TRUE(stays("x86_non_temporal_threshold", 2097153, same));
}

/// A run of one simulated device with the copies given.
RunReport report_of(const std::string& name, StoredRun& run, CopyAnalysis copy) {
  run.name = name;
  run.manifest.device.name = "sim:x";
  run.manifest.device.product = "Chip " + name;
  run.manifest.device.time_source = TimeSource::modelled;
  run.manifest.device.roofs = {{"memory_bytes_per_s", 4e9, "made up"}};
  RunReport report;
  report.run = run;
  report.analysis.copy = std::move(copy);
  return report;
}

TEST(CopyWords, SeveralRunsShareTheirAxesAndAreSharesOfTheirOwnPeaks) {
  StoredRun first, second;
  CopyAnalysis to_host{{series_of("d2h")}}, inside{{series_of("d2d")}}, unknown{{series_of("d2h")}};
  to_host.series[0].shape.peak = to_host.series[0].time[1];
  to_host.series[0].shape.peak->y.value = 4e-6;
  RunReport a = report_of("a", first, to_host), b = report_of("b", second, inside),
            c = report_of("c", second, unknown);
  for (RunReport* report : {&a, &b, &c}) report->analysis.run = &report->run;
  EXPECT_TRUE(overlay_copies({&a}).empty());
  EXPECT_TRUE(overlay_copies({&a, &c}).empty());  // without a peak there is nothing to hold it to
  const std::vector<Figure> both = overlay_copies({&a, &b});
  ASSERT_EQ(both.size(), 2U);
  ASSERT_EQ(both[0].series.size(), 2U);
  EXPECT_EQ(both[0].series[0].name, "a, d2h");
  EXPECT_EQ(both[0].series[1].name, "b, d2d");
  EXPECT_NEAR(both[0].series[0].points[0].y, 1, 1e-9);               // GB/s
  EXPECT_NEAR(both[1].series[0].points[0].y, 1e11 / 1.024e9, 1e-9);  // of its own best
  EXPECT_NEAR(both[1].series[1].points[0].y, 50, 1e-9);              // of 4 GB/s, read and written
  EXPECT_EQ(both[1].share_of, both[0].id);
  EXPECT_NE(
      both[1].caption.find("a, d2h: peak 1.024 GB/s copied (its own best copy). b, d2d: peak 2 "
                           "GB/s copied (datasheet memory, read plus write). "),
      std::string::npos)
      << both[1].caption;
}

TEST(CopyFindings, SpeakOfCostsInNanosecondsAndOfTheMemoryReadAndWritten) {
  StoredRun run;
  CopyAnalysis copy{{series_of("d2d")}};
  CopyShape& shape = copy.series[0].shape;
  shape.switches = {switch_of(4096, 8192, 2e-6)};
  shape.switches[0].dip_depth = 0.25;
  shape.switches[0].recovered_bytes = 16384;
  shape.edges = {edge_of(65536, 1.25)};
  shape.undecided = {{2048, 4096, 1e-6}};
  shape.peak = copy.series[0].time[1];
  shape.peak_rate = {1e9, Interval{0.5e9, 2e9}, 9};
  RunReport report = report_of("a", run, copy);
  report.analysis.run = &report.run;
  FindingList list(report.analysis);
  copy_findings(report.analysis, list);
  std::map<std::string, Finding> found;
  for (const Finding& finding : list.take()) found[finding.name] = finding;
  const auto expect = [&](const std::string& name, double value, std::optional<double> low,
                          std::optional<double> high) {
    ASSERT_TRUE(found.contains(name)) << name;
    EXPECT_DOUBLE_EQ(*found[name].value, value) << name;
    ASSERT_EQ(found[name].low.has_value(), low.has_value()) << name;
    if (low) EXPECT_NEAR(*found[name].low, *low, 1e-6) << name;
    if (high) EXPECT_NEAR(*found[name].high, *high, 1e-6) << name;
  };
  expect("copy.switch_bytes", 4096, 4096, 8192);
  expect("copy.switch_cost_ns", 2000, 1999, 2002);
  expect("copy.switch_dip_depth", 0.25, std::nullopt, std::nullopt);
  expect("copy.switch_dip_end_bytes", 16384, std::nullopt, std::nullopt);
  expect("copy.edge_bytes", 65536, 65536, 131072);
  expect("copy.edge_dip_depth", 0.2, std::nullopt, std::nullopt);
  EXPECT_FALSE(found.contains("copy.edge_dip_end_bytes"));
  expect("copy.undecided_bytes", 2048, 2048, 4096);
  expect("copy.peak_bytes_per_s", 1e9, 0.5e9, 2e9);
  expect("copy.utilisation", 0.5, 0.25, 1);
  EXPECT_NE(found["copy.edge_bytes"].basis.find("rises by 25 % without a jump"), std::string::npos);
  // Not of a copy that leaves the device.
  report.analysis.copy->series[0].direction = "d2h";
  FindingList other(report.analysis);
  copy_findings(report.analysis, other);
  for (const Finding& finding : other.take()) EXPECT_NE(finding.name, "copy.utilisation");
}

}  // namespace
}  // namespace sonde
