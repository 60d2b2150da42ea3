// Pictures for papers: forms, sizes, styles, and the scripts that lie beside them.
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <sstream>

#include "core/error.h"
#include "core/files.h"
#include "report/child.h"
#include "report/gnuplot.h"
#include "report/heat_map.h"
#include "report/look.h"
#include "report/plot_script.h"
#include "tests/output/report_runs.h"

namespace sonde {
namespace {

using testing_runs::TempDir;
namespace fs = std::filesystem;

Figure curve() {
  Figure figure;
  figure.id = "curve";
  figure.title = "A title";
  figure.subtitle = "A device";
  figure.x = {"size (B)", true, TickStyle::binary, false};
  figure.y = {"time (ns)", false, TickStyle::plain, true};
  Series series;
  series.name = "measured";
  for (int i = 0; i < 12; ++i) {
    series.points.push_back({std::exp2(i), 10.0 + i, 9.0 + i, 11.0 + i, ""});
  }
  figure.series.push_back(series);
  series.name = "again";
  figure.series.push_back(series);
  return figure;
}

/// Width and height from the header of a PNG.
std::pair<std::size_t, std::size_t> png_size(const fs::path& path) {
  const std::string bytes = read_file(path);
  const auto number = [&](std::size_t at) {
    std::size_t value = 0;
    for (std::size_t i = 0; i < 4; ++i)
      value = value << 8 | static_cast<unsigned char>(bytes.at(at + i));
    return value;
  };
  return {number(16), number(20)};
}

DrawResult draw(const fs::path& dir, const Look& look) {
  DrawOptions options;
  options.look = look;
  return draw_figures({curve()}, dir, options);
}

TEST(Pictures, EveryFormHasTheSizeAskedFor) {
  TempDir temp;
  const DrawResult pixels =
      draw(temp.path(), {.forms = {"svg", "png", "pdf"}, .size = parse_picture_size("800x450")});
  EXPECT_TRUE(pixels.errors.empty()) << pixels.errors.front();
  ASSERT_EQ(pixels.pictures.size(), 3u);
  EXPECT_EQ(png_size(temp.path() / "curve.png"), (std::pair<std::size_t, std::size_t>(800, 450)));
  EXPECT_NE(read_file(temp.path() / "curve.svg").find("viewBox=\"0 0 800 450\""),
            std::string::npos);
  // 800 pixels of 1/96 inch are 600 points.
  const std::string pdf = read_file(temp.path() / "curve.pdf");
  EXPECT_NE(pdf.find("/MediaBox [ 0 0 600 337"), std::string::npos);
  EXPECT_NE(pdf.find("/FontFile"), std::string::npos) << "the font is not embedded";

  // 127 mm are 5 inches: 360 points, 1,500 dots of a PNG.
  const DrawResult paper =
      draw(temp.path(), {.forms = {"png", "pdf"}, .size = parse_picture_size("127x76.2mm")});
  EXPECT_TRUE(paper.errors.empty()) << paper.errors.front();
  EXPECT_EQ(png_size(temp.path() / "curve.png"), (std::pair<std::size_t, std::size_t>(1500, 900)));
  EXPECT_NE(read_file(temp.path() / "curve.pdf").find("/MediaBox [ 0 0 360 216"),
            std::string::npos);
  EXPECT_FALSE(fs::exists(temp.path() / "curve.svg")) << "a form not asked for is of older rows";
}

/// In a column of a paper: what does not fit is on two lines or left out, never over something else.
TEST(Pictures, ASmallHeatMapHasNoTextOverAnother) {
  Figure figure;
  figure.id = "map";
  figure.title = "Distance of cores";
  figure.heat.emplace();
  figure.heat->scale = "mean absolute difference (ns)";
  for (int i = 0; i < 24; ++i) figure.heat->rows.push_back("vector" + std::to_string(i));
  figure.heat->columns = figure.heat->rows;
  figure.heat->cells.assign(24 * 24, 1.0);
  figure.heat->groups = {{0, 12, 0, 12, "group 1"}, {12, 12, 12, 12, "group 2"}};
  const auto script = [&](const char* size) {
    Look look;
    look.size = parse_picture_size(size);
    std::ostringstream out;
    write_heat_map(out, figure, canvas_of(look, 540), colours_of("print"));
    return out.str();
  };
  const std::string small = script("85x60mm"), large = script("960x900");
  EXPECT_NE(small.find("'mean absolute'.\"\\n\".'difference (ns)'"), std::string::npos) << small;
  EXPECT_EQ(small.find("group 1"), std::string::npos);
  EXPECT_NE(large.find("'mean absolute difference (ns)'"), std::string::npos);
  EXPECT_NE(large.find("group 1"), std::string::npos);
}

TEST(Pictures, AnSvgNamesAFontThatEveryMachineHas) {
  TempDir temp;
  draw(temp.path(), {});
  const std::string svg = read_file(temp.path() / "curve.svg");
  std::size_t fonts = 0;
  for (std::size_t at = 0; (at = svg.find("font-family=\"", at)) != std::string::npos; ++at) {
    EXPECT_EQ(svg.substr(at, 24), "font-family=\"sans-serif\"");
    ++fonts;
  }
  EXPECT_GT(fonts, 5u);
}

TEST(Pictures, AScriptAloneDrawsThePictureAgain) {
  TempDir temp;
  for (const char* form : {"svg", "png", "pdf"}) {
    for (const char* style : {"light", "dark", "print"}) {
      draw(temp.path(), {.forms = {form}, .size = parse_picture_size("100x70mm"), .style = style});
      const fs::path picture = temp.path() / (std::string("curve.") + form);
      ASSERT_TRUE(complete_picture(picture, form)) << form << style;
      const std::string before = read_file(picture);
      fs::remove(picture);
      const PlotResult again =
          run_children({{find_on_path("gnuplot"), {"curve.gp"}, temp.path()}}, 1, 30).front();
      EXPECT_TRUE(again.ok() && again.error_text.empty()) << again.error_text;
      ASSERT_TRUE(complete_picture(picture, form)) << form << style;
      // A PDF holds the time it was made at.
      if (std::string(form) != "pdf") {
        EXPECT_EQ(read_file(picture), before) << form << style;
      }
    }
  }
}

TEST(Pictures, StylesDifferInWhatTheyPromise) {
  TempDir temp;
  const auto script = [&](const char* style) {
    write_plot_script(curve(), temp.path() / "s.gp",
                      {.forms = {"svg"}, .size = {}, .style = style});
    return read_file(temp.path() / "s.gp");
  };
  EXPECT_NE(script("dark").find("background '#14181d'"), std::string::npos);
  EXPECT_NE(script("light").find("background '#ffffff'"), std::string::npos);
  EXPECT_EQ(script("light").find("dashtype"), std::string::npos);
  const std::string print = script("print");
  EXPECT_NE(print.find("dashtype 2"), std::string::npos);
  // One ink: every colour is a grey.
  for (std::size_t at = 0; (at = print.find("rgb '#", at)) != std::string::npos; ++at) {
    const std::string rgb = print.substr(at + 6, 6);
    EXPECT_TRUE(rgb.substr(0, 2) == rgb.substr(2, 2) && rgb.substr(2, 2) == rgb.substr(4, 2))
        << rgb;
  }
}

TEST(Pictures, SizesThatAreNoneAreRefused) {
  EXPECT_EQ(parse_picture_size("960x540").width, 960);
  EXPECT_EQ(parse_picture_size("85.5x60mm").width, 85.5);
  EXPECT_TRUE(parse_picture_size("85.5x60mm").millimetres);
  for (const char* text : {"", "960", "x540", "960x", "960x540cm", "0x0", "-85x60mm", "1e9x540",
                           "85x60 mm", "nanx540", "20x20mm", "960x10"}) {
    try {
      parse_picture_size(text);
      ADD_FAILURE() << text;
    } catch (const UsageError& error) {
      EXPECT_NE(std::string(error.what()).find("--size"), std::string::npos);
    }
  }
}

TEST(Pictures, AMissingTerminalIsSaidOnce) {
  TempDir temp;
  const fs::path fake = temp.path() / "gnuplot-without";
  std::ofstream(fake) << "#!/bin/sh\n"
                      << "case \"$2\" in print*) echo ' canvas svg unknown ' >&2; exit 0;; esac\n"
                      << "exec " << find_on_path("gnuplot").string() << " \"$@\"\n";
  fs::permissions(fake, fs::perms::owner_all);
  DrawOptions options;
  options.program = "gnuplot-without";
  options.look.forms = {"svg", "png", "pdf"};
  const std::string path = std::getenv("PATH");
  ::setenv("PATH", (temp.path().string() + ":" + path).c_str(), 1);
  Figure second = curve();
  second.id = "second";
  const DrawResult drawn = draw_figures({curve(), second}, temp.path(), options);
  ::setenv("PATH", path.c_str(), 1);
  ASSERT_EQ(drawn.errors.size(), 2u);
  EXPECT_NE(drawn.errors[0].find("pngcairo"), std::string::npos);
  EXPECT_NE(drawn.errors[1].find("pdfcairo"), std::string::npos);
  EXPECT_EQ(drawn.pictures.size(), 2u);
  EXPECT_TRUE(complete_picture(temp.path() / "second.svg", "svg"));
}

}  // namespace
}  // namespace sonde
