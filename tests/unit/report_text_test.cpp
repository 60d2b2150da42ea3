// Text that leaves the report: for gnuplot, for the page, for people.
#include <gtest/gtest.h>

#include "report/figure.h"
#include "report/gnuplot.h"
#include "report/html.h"
#include "report/show.h"

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
  EXPECT_EQ(show_quantity(32768, "B"), "32 KiB");
  EXPECT_EQ(show_quantity(400000, "B"), "400,000 B");
  EXPECT_EQ(show_quantity(112863232, "B"), "112,863,232 B");
  EXPECT_EQ(show_short_size(103496000), "98.7 MiB");
  EXPECT_EQ(show_estimate({}, "ns"), "unknown");
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

}  // namespace
}  // namespace sonde
