// Text that leaves the report: for gnuplot, for the page, for people.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "report/figure.h"
#include "report/floor_plan.h"
#include "report/headlines.h"
#include "report/html.h"
#include "report/plot_script.h"
#include "report/show.h"
#include "report/tree_html.h"

namespace sonde {
namespace {

TEST(PlotText, QuotesAndCuts) {
  EXPECT_EQ(plot_text("it's"), "'it''s'");
  EXPECT_EQ(plot_text("a\nb\tc"), "'a b c'");
  EXPECT_EQ(plot_text("\xff\xc3"),
            "'?"
            "?'");
  EXPECT_EQ(plot_text("\u00b5s"), "'\u00b5s'");
  EXPECT_EQ(plot_text(std::string(130, 'x')), "'" + std::string(120, 'x') + "\u2026'");
  EXPECT_EQ(plot_text("\u00b5\u00b5\u00b5", 2), "'\u00b5\u00b5\u2026'");
}

TEST(HtmlText, EscapesEverything) {
  EXPECT_EQ(html_text("<a href=\"x\">&'"), "&lt;a href=&quot;x&quot;&gt;&amp;&#39;");
  EXPECT_EQ(html_text("a\x01\xff"), "a ?");
}

TEST(Base64, FollowsTheStandard) {
  EXPECT_EQ(base64(""), "");
  EXPECT_EQ(base64("f"), "Zg==");
  EXPECT_EQ(base64("fo"), "Zm8=");
  EXPECT_EQ(base64("foobar"), "Zm9vYmFy");
  EXPECT_EQ(base64("\xff\xff\xff"), "////");
}

TEST(Show, NumbersForPeople) {
  EXPECT_EQ(show_number(134.2), "134.2");
  EXPECT_EQ(show_number(0.05), "0.05");
  EXPECT_EQ(show_number(56), "56");
  EXPECT_EQ(show_number(0), "0");
  EXPECT_EQ(show_quantity(1.493e12, "B/s"), "1.493 TB/s");
  EXPECT_EQ(show_quantity(5e8, "B/s"), "500 MB/s");
  EXPECT_EQ(show_quantity(3.471e14, "FLOP/s"), "347.1 TFLOP/s");
  EXPECT_EQ(show_quantity(1.2e15, "FLOP/s"), "1.2 PFLOP/s");
  EXPECT_EQ(show_quantity(231, "FLOP/B"), "231 FLOP/B");
  EXPECT_EQ(show_quantity(32768, "B"), "32 KiB");
  EXPECT_EQ(show_quantity(400000, "B"), "400,000 B");
  EXPECT_EQ(show_quantity(112863232, "B"), "112,863,232 B");
  EXPECT_EQ(show_short_size(103496000), "98.7 MiB");
  EXPECT_EQ(show_estimate({}, "ns"), "unknown");
}

TEST(Show, ValuesOfFindingsByTheirUnit) {
  Finding finding;
  finding.unit = "1";
  EXPECT_EQ(show_value(finding, 0.6451), "64.5 %");
  finding.unit = "times";
  EXPECT_EQ(show_value(finding, 1.4521), "1.452 times");
  finding.unit = "groups";
  EXPECT_EQ(show_value(finding, 2), "2");
  finding.unit = "ns";
  finding.name = "copy.switch_cost_ns.2";
  EXPECT_EQ(show_value(finding, 400), "+400 ns");
}

TEST(Names, AreTheSameForFindingsAndCards) {
  EXPECT_EQ(ordinal_suffix(0), "");
  EXPECT_EQ(ordinal_suffix(1), ".2");
  EXPECT_EQ(series_suffix(0, "d2d"), "");
  EXPECT_EQ(series_suffix(2, "h2d"), ".h2d");
  EXPECT_EQ(file_word("nt_store"), "nt_store");
  EXPECT_EQ(file_word("../A'"), "_____");
}

TEST(TreeHtml, NestsGroupsAndSaysWhyThereAreNone) {
  CoreTree tree;
  tree.levels = {{"level_1",
                  {{{"cube", 0}, {"vector", 0}, {"vector", 1}}, {{"cube", 1}, {"vector", 2}}},
                  0.985,
                  "profile.csv <x>"},
                 {"level_2", {{{"vector", 0}, {"vector", 1}}, {{"cube", 0}}}, std::nullopt, ""}};
  const std::string html = tree_html(tree);
  const std::size_t coarse = html.find("<code>cube0+vector0-1</code> <span class=\"soft\">3 cores");
  const std::size_t fine = html.find("<code>vector0-1</code>");
  const std::size_t second = html.find("<code>cube1+vector2</code>");
  ASSERT_NE(coarse, std::string::npos);
  ASSERT_NE(second, std::string::npos);
  EXPECT_LT(coarse, fine);
  EXPECT_LT(fine, second);
  EXPECT_NE(html.find("98.5 %"), std::string::npos);
  EXPECT_NE(html.find("unknown"), std::string::npos);
  EXPECT_NE(html.find("profile.csv &lt;x&gt;"), std::string::npos);
  EXPECT_NE(html.find("<td>2 to 3</td>"), std::string::npos);
  tree = {};
  tree.none_found = true;
  tree.reason = "a <b>";
  EXPECT_EQ(tree_html(tree), "<p>None found: a &lt;b&gt;</p>\n");
  tree.none_found = false;
  tree.cannot_tell = true;
  EXPECT_EQ(tree_html(tree), "<p>Cannot tell: a &lt;b&gt;</p>\n");
}

Figure figure_of(std::vector<FigurePoint> points, bool log, TickStyle ticks) {
  Figure figure;
  figure.x = {"x", log, ticks, false};
  figure.y = {"y", log, TickStyle::plain, false};
  figure.series.push_back({"", SeriesStyle::points, false, std::move(points)});
  return figure;
}

TEST(AxisRange, HasWidthAndTicksForAnyData) {
  const std::vector<std::vector<FigurePoint>> sets = {
      {},
      {{5, 5, {}, {}, ""}},
      {{5, 5, {}, {}, ""}, {5, 5, {}, {}, ""}},
      {{1, 1e-9, {}, {}, ""}, {1e12, 1e9, {}, {}, ""}}};
  for (const auto& points : sets) {
    for (bool log : {false, true}) {
      for (TickStyle style : {TickStyle::plain, TickStyle::binary, TickStyle::whole}) {
        const Figure figure = figure_of(points, log, style);
        for (const AxisRange& range : {x_range(figure), y_range(figure)}) {
          EXPECT_LT(range.low, range.high);
          EXPECT_GE(range.ticks.size(), 1u);
          EXPECT_LE(range.ticks.size(), 200u);
          for (const FigurePoint& point : points) EXPECT_LE(x_range(figure).low, point.x);
        }
      }
    }
  }
}

/// Two groups of two and three cores, of which one is alone at the finer level.
CoreTree small_tree() {
  const std::vector<CoreName> cores = {{"sm", 0}, {"sm", 1}, {"sm", 2}, {"sm", 3}, {"sm", 5}};
  CoreTree tree;
  tree.order = cores;
  tree.levels = {
      {"level_1", {{cores[0], cores[1]}, {cores[2], cores[3], cores[4]}}, 1, "profile.csv"},
      {"level_2",
       {{cores[0], cores[1]}, {cores[2], cores[3]}, {cores[4]}},
       1,
       "interfere.csv load"}};
  return tree;
}

TEST(WaveText, IsHeldAgainstTheCoresFound) {
  RunAnalysis analysis;
  analysis.tree = small_tree();
  EXPECT_EQ(wave_html(analysis), "");
  analysis.chase.emplace();
  BlockSeries series;
  series.kind = "sm";
  analysis.chase->blocks = {series};
  EXPECT_EQ(wave_html(analysis), "");  // no wave found
  Wave& wave = analysis.chase->blocks[0].wave;
  wave.found = true;
  wave.last_in = 5;
  wave.first_beyond = 6;
  EXPECT_NE(wave_html(analysis).find("5 such cores were found: they agree"), std::string::npos);
  wave.first_beyond = 5;
  wave.last_in = 4;
  EXPECT_NE(wave_html(analysis).find("they disagree"), std::string::npos);
  analysis.chase->blocks[0].kind = "cube";
  EXPECT_EQ(wave_html(analysis), "");  // no such core in the rows
}

TEST(FloorPlan, EachCoreLiesOnceInsideItsGroupsAndGroupsApart) {
  const std::vector<FloorBox> boxes = floor_plan(small_tree());
  std::map<std::string, int> cores;
  for (const FloorBox& box : boxes) {
    EXPECT_LT(box.left, box.right);
    EXPECT_LT(box.bottom, box.top);
    cores[box.core ? box.text : ""] += 1;
  }
  EXPECT_EQ(cores.size(), 6U);
  for (const auto& [name, count] : cores) {
    if (!name.empty()) {
      EXPECT_EQ(count, 1) << name;
    }
  }
  const auto holds = [](const FloorBox& outer, const FloorBox& inner) {
    return outer.left < inner.left && inner.right < outer.right && outer.bottom < inner.bottom &&
           inner.top < outer.top;
  };
  const auto apart = [](const FloorBox& a, const FloorBox& b) {
    return a.right <= b.left || b.right <= a.left || a.top <= b.bottom || b.top <= a.bottom;
  };
  for (std::size_t i = 0; i < boxes.size(); ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      const FloorBox &a = boxes[i], &b = boxes[j];
      EXPECT_TRUE(apart(a, b) || holds(a, b) || holds(b, a)) << a.text << ' ' << b.text;
    }
  }
  const auto box_of = [&](const std::string& name) {
    return *std::find_if(boxes.begin(), boxes.end(),
                         [&](const FloorBox& box) { return box.core && box.text == name; });
  };
  const auto share = [&](const std::string& a, const std::string& b, int depth) {
    return std::any_of(boxes.begin(), boxes.end(), [&](const FloorBox& box) {
      return !box.core && box.depth == depth && holds(box, box_of(a)) && holds(box, box_of(b));
    });
  };
  EXPECT_TRUE(share("sm0", "sm1", 0));
  EXPECT_TRUE(share("sm2", "sm5", 0));
  EXPECT_FALSE(share("sm1", "sm2", 0));
  EXPECT_TRUE(share("sm2", "sm3", 1));
  EXPECT_FALSE(share("sm3", "sm5", 1));
}

}  // namespace
}  // namespace sonde
