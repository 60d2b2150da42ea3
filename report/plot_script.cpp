#include "report/plot_script.h"

#include <gnuplot-iostream.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <sstream>
#include <tuple>

#include "core/error.h"
#include "core/files.h"
#include "core/parse.h"
#include "core/text.h"
#include "report/heat_map.h"

namespace sonde {
namespace {

/// gnuplot 5.4 writes letters into a PDF at two thirds of the points asked for and lines at half a
/// point a width (read from its output): with these a PDF has the proportions of the PNG.
constexpr double kPdfTimes = 1.5;
constexpr std::size_t kDashes = 5;                    // kinds that gnuplot has
constexpr int kPointTypes[] = {7, 5, 9, 11, 13, 15};  // filled shapes

std::string number(double value) { return format_number(value); }

/// A number already written: gnuplot-iostream would take a bare std::string for a column of
/// characters, and its own way of writing a double is long and rounds nothing off.
struct Digits {
  std::string text;
};
std::ostream& operator<<(std::ostream& out, const Digits& digits) { return out << digits.text; }

/// Labels are thinned to every k-th where there are more than fit.
std::string ticks(const AxisRange& range, double fit) {
  std::string text;
  const auto labelled = std::count_if(range.ticks.begin(), range.ticks.end(),
                                      [](const Tick& tick) { return !tick.label.empty(); });
  const auto every =
      static_cast<std::int64_t>(std::ceil(static_cast<double>(labelled) / std::max(1.0, fit)));
  std::int64_t seen = 0;
  for (const Tick& tick : range.ticks) {
    if (tick.at < range.low || tick.at > range.high) continue;
    if (!text.empty()) text += ", ";
    const bool shown = !tick.label.empty() && seen++ % std::max<std::int64_t>(1, every) == 0;
    text += !shown ? "'' " + number(tick.at) + " 1" : tick_text(tick.label) + " " + number(tick.at);
  }
  return text;
}

/// Where a value lies along an axis, 0 to 1.
double fraction(double value, const AxisRange& range, bool log) {
  if (log) return std::log(value / range.low) / std::log(range.high / range.low);
  return (value - range.low) / (range.high - range.low);
}

void write_marks(std::ostream& out, const Figure& figure, const Colours& colours,
                 const AxisRange& x, const AxisRange& y) {
  int object = 1;
  int lane = 0;
  for (const Mark& mark : figure.marks) {
    const bool vertical = mark.kind == Mark::Kind::vertical;
    const std::string from = number(mark.at);
    const auto in = [](double value, const AxisRange& range) {
      return value >= range.low && value <= range.high;
    };
    if (!in(mark.at, vertical ? x : y)) continue;
    if (mark.to) {
      const std::string to = number(*mark.to);
      out << "set object " << object << " rectangle from "
          << (vertical ? from + ", graph 0 to " + to + ", graph 1"
                       : "graph 0, first " + from + " to graph 1, first " + to)
          << " behind fillcolor rgb '" << colours.emphasis
          << "' fillstyle transparent solid 0.18 noborder\n";
    }
    std::string begin = vertical ? from + ", graph 0" : "graph 0, first " + from;
    std::string end = vertical ? from + ", graph 1" : "graph 1, first " + from;
    double text_x = vertical ? fraction(mark.at, x, figure.x.log) : 0.02;
    if (!vertical && mark.span_from && mark.span_to && in(*mark.span_from, x) &&
        in(*mark.span_to, x)) {
      begin = number(*mark.span_from) + ", " + from;
      end = number(*mark.span_to) + ", " + from;
      text_x = fraction(*mark.span_from, x, figure.x.log);
    }
    out << "set arrow " << object << " from " << begin << " to " << end << " nohead "
        << (vertical ? "back" : "front") << " linewidth 1.5 dashtype 2 linecolor rgb '"
        << (vertical ? colours.emphasis : colours.mark) << "'\n";
    if (!mark.text.empty()) {
      double text_y = 0;
      bool right = false;
      if (vertical) {
        text_y = 0.96 - 0.055 * (lane++ % 6);
        right = text_x > 0.55;
      } else {
        text_y = fraction(mark.at, y, figure.y.log) + 0.035;
        right = text_x > 0.75;
        if (right && mark.span_to && in(*mark.span_to, x))
          text_x = fraction(*mark.span_to, x, figure.x.log);
      }
      out << "set label " << object << ' ' << plot_text(mark.text) << " at graph " << number(text_x)
          << ", graph " << number(text_y) << (right ? " right" : " left") << " offset character "
          << (vertical ? (right ? "-0.8" : "0.8") : "0")
          << ", 0 front boxed noenhanced textcolor rgb '"
          << (vertical ? colours.emphasis : colours.faint_text) << "'\n";
    }
    ++object;
  }
}

/// Terminal and output, chosen by the variables that the command line sets.
void write_preamble(std::ostream& out, const Figure& figure, const Look& look) {
  const Canvas canvas = canvas_of(look, figure.height);
  const std::string background = colours_of(look.style).background;
  const bool paper = look.size && look.size->millimetres;
  // Letters and lines of a form are so many times those of its terminal's own.
  const auto scaled = [](double times) {
    return times == 1 ? std::string()
                      : " fontscale " + number(times) + " linewidth " + number(times);
  };
  const auto size = [&](double pixels_a_unit) {
    return " size " + number(std::round(canvas.width * pixels_a_unit)) + "," +
           number(std::round(canvas.height * pixels_a_unit));
  };
  const auto inches = [&](double units) { return number(units * canvas.scale / 96) + "in"; };
  // Dots for 300 an inch on paper; a screen's pixel is a unit.
  const double dots = paper ? canvas.scale * 300 / 96 : 1;
  const std::string dot_size = dots == 1 ? "" : " pointscale " + number(dots);
  const std::string first = look.forms.empty() ? "svg" : look.forms.front();
  out << "# gnuplot " << figure.id << ".gp    draws " << figure.id << "." << first << "\n";
  for (const std::string& form : picture_forms()) {
    if (form == first) continue;
    out << "# gnuplot -e \"form='" << form << "'\" " << figure.id << ".gp    draws " << figure.id
        << "." << form << "\n";
  }
  out << "set encoding utf8\n"
      << "if (!exists('form')) form = '" << first << "'\n"
      << "if (!exists('target')) target = '" << figure.id << ".' . form\n"
      << "# 1: the older PNG terminal, where gnuplot was built without cairo\n"
      << "if (!exists('plain')) plain = !strstrt(GPVAL_TERMINALS, ' pngcairo ')\n"
      << "if (form eq 'svg') {\n"
      << "  set terminal svg noenhanced" << size(1) << " dynamic background '" << background
      << "' font 'sans-serif,14'\n"
      << "}\n"
      << "if (form eq 'png') {\n"
      << "  if (plain) {\n"
      << "    set terminal png noenhanced" << size(dots) << " font 'sans,11'" << scaled(dots)
      << "\n"
      << "  } else {\n"
      << "    set terminal pngcairo noenhanced" << size(dots) << " background '" << background
      << "' font 'sans,11'" << scaled(dots) << dot_size << "\n"
      << "  }\n"
      << "}\n"
      << "if (form eq 'pdf') {\n"
      << "  set terminal pdfcairo noenhanced size " << inches(canvas.width) << ","
      << inches(canvas.height) << " background '" << background << "' font 'sans,11'"
      << scaled(kPdfTimes * canvas.scale) << " pointscale " << number(canvas.scale) << "\n"
      << "}\n"
      << "set output target\n\n";
}

/// A text cut into lines of at most so many letters, as one gnuplot string.
std::string lines_of(const std::string& text, std::size_t most) {
  std::string line, all;
  const auto end_line = [&] {
    all += (all.empty() ? "" : ".\"\\n\".") + plot_text(line);
    line.clear();
  };
  std::istringstream words(text);
  for (std::string word; words >> word;) {
    if (!line.empty() && line.size() + 1 + word.size() > most) end_line();
    line += (line.empty() ? "" : " ") + word;
  }
  end_line();
  return all;
}

void write_style(std::ostream& out, const Figure& figure, const Colours& colours, double units) {
  // A title is centred over the plot, which is not in the middle: it takes less than the width.
  const bool narrow = units < kNarrow;
  const auto most = static_cast<std::size_t>(0.88 * units / (narrow ? 9 : 10));
  const std::string text = std::string("textcolor rgb '") + colours.text + "'";
  out << "set title " << lines_of(figure.title, most)
      << (figure.subtitle.empty() ? "" : ".\"\\n\"." + lines_of(figure.subtitle, most))
      << " noenhanced font '," << (narrow ? 12 : 15) << "' " << text << "\n"
      << "set xlabel " << plot_text(figure.x.label) << " noenhanced " << text << "\n"
      << "set ylabel " << plot_text(figure.y.label) << " noenhanced " << text << "\n"
      << "set key " << text << "\n"
      << "set grid xtics ytics back linetype 1 linecolor rgb '" << colours.grid << "' linewidth 1\n"
      << "set border 3 linecolor rgb '" << colours.border << "'\n"
      << "set tics nomirror textcolor rgb '" << colours.faint_text << "'\n"
      << "set style textbox opaque fillcolor rgb '" << colours.background
      << "' noborder margins 0.4, 0.2\n"
      << "set errorbars small\n"
      << "set rmargin 4\n";
}

/// Series with their intervals, marks and axes: every figure but a heat map.
void write_series(Gnuplot& gp, const Figure& figure, const Colours& colours, const Canvas& canvas) {
  constexpr double kLabel = 58, kLine = 18;  // units that a label of an axis takes
  const AxisRange x = x_range(figure);
  const AxisRange y = y_range(figure);
  gp << "# Columns: x, y, and the ends of the 95 % interval of y where it is known.\n";
  for (std::size_t i = 0; i < figure.series.size(); ++i) {
    std::vector<std::tuple<Digits, Digits, Digits, Digits>> rows;
    for (const FigurePoint& point : figure.series[i].points) {
      rows.emplace_back(Digits{number(point.x)}, Digits{number(point.y)},
                        Digits{point.low ? number(*point.low) : "NaN"},
                        Digits{point.high ? number(*point.high) : "NaN"});
    }
    if (rows.empty()) continue;
    gp << "$series" << i << " << e\n";  // send1d ends its data with a line `e`
    gp.send1d(rows);
  }
  gp << (figure.x.log ? "set logscale x\n" : "") << (figure.y.log ? "set logscale y\n" : "")
     << "set xrange [" << number(x.low) << ':' << number(x.high) << "] noextend\n"
     << "set yrange [" << number(y.low) << ':' << number(y.high) << "] noextend\n"
     << "set xtics noenhanced (" << ticks(x, 0.85 * canvas.width / kLabel) << ")\n"
     << "set ytics noenhanced (" << ticks(y, 0.7 * canvas.height / kLine) << ")\n";
  write_marks(gp, figure, colours, x, y);

  std::vector<std::string> plots;
  bool named = false;
  std::size_t colour = 0;
  for (std::size_t i = 0; i < figure.series.size(); ++i) {
    const Series& series = figure.series[i];
    if (series.points.empty()) continue;
    const std::string data = "$series" + std::to_string(i);
    const std::string rgb =
        series.emphasis ? colours.emphasis : colours.series[colour % colours.series.size()];
    const std::string shape = std::to_string(kPointTypes[colour % std::size(kPointTypes)]);
    const std::string dash =
        series.dashed ? "2" : std::to_string(colours.dashes ? 1 + colour % kDashes : 1);
    if (!series.emphasis) ++colour;
    const bool intervals =
        series.bars && std::any_of(series.points.begin(), series.points.end(),
                                   [](const FigurePoint& point) { return point.low.has_value(); });
    const std::string size = series.points.size() > 200  ? "0.4"
                             : series.points.size() > 60 ? "0.6"
                                                         : "0.9";
    if (intervals) {
      plots.push_back(data +
                      " using 1:2:3:4 with yerrorbars pointtype 0 linewidth 1.2 linecolor rgb '" +
                      rgb + "' notitle");
    }
    const bool line = series.style != SeriesStyle::points && series.points.size() > 1;
    const bool dots = series.style != SeriesStyle::line || series.points.size() == 1;
    std::string plot =
        data + " using 1:2 with " + (line ? (dots ? "linespoints" : "lines") : "points");
    if (line) plot += series.dashed ? " linewidth 2" : " linewidth 1.5";
    if (line && dash != "1") plot += " dashtype " + dash;
    if (dots) plot += " pointtype " + shape + " pointsize " + size;
    // Many points lie on each other: where they are dense they are dark.
    const bool many = !line && series.points.size() > 200;
    plot += " linecolor rgb '" + (many ? "#80" + rgb.substr(1) : rgb) + "' ";
    plot += series.name.empty() ? "notitle" : "title " + plot_text(series.name, 60) + " noenhanced";
    named = named || !series.name.empty();
    plots.push_back(plot);
  }
  if (plots.empty()) {
    gp << "set label 1000 'no point to draw' at graph 0.5, graph 0.5 center noenhanced textcolor "
          "rgb '"
       << colours.text << "'\n"
       << "$nothing << e\n"
       << number(x.low) << ' ' << number(y.low) << "\ne\n";
    plots.push_back("$nothing using 1:2 with dots linecolor rgb '" +
                    std::string(colours.background) + "' notitle");
  }
  gp << (named ? "set key below horizontal noenhanced height 0.7\n" : "unset key\n") << "plot ";
  for (std::size_t i = 0; i < plots.size(); ++i) gp << (i > 0 ? ", \\\n     " : "") << plots[i];
  gp << "\n";
}

}  // namespace

std::string plot_text(std::string_view text, std::size_t most) {
  std::string out = "'";
  for (const char c : shown_text(text, most)) {
    if (c == '\'') out += '\'';  // the only character that means something between single quotes
    out += c;
  }
  return out + "'";
}

std::string tick_text(std::string_view text, std::size_t most) {
  std::string out;
  for (const char c : plot_text(text, most)) out += c == '%' ? "%%" : std::string(1, c);
  return out;
}

void write_plot_script(const Figure& figure, const std::filesystem::path& path, const Look& look) {
  // The library writes to descriptors only, and gives up on a short or interrupted write: the text
  // is put together in memory.
  const int memory = ::memfd_create("plot script", MFD_CLOEXEC);
  std::FILE* file = memory < 0 ? nullptr : ::fdopen(memory, "w");
  if (file == nullptr) {
    const std::string reason = std::strerror(errno);
    if (memory >= 0) ::close(memory);
    throw OutputError(path.string() + ": cannot be put together: " + reason);
  }
  Gnuplot gp(file);  // closes it
  const Colours& colours = colours_of(look.style);
  const Canvas canvas = canvas_of(look, figure.height);
  write_preamble(gp, figure, look);
  write_style(gp, figure, colours, canvas.width);
  if (figure.heat) {
    write_heat_map(gp, figure, canvas, colours);
  } else if (!figure.boxes.empty()) {
    write_floor_plan(gp, figure.boxes, canvas.width);
  } else {
    write_series(gp, figure, colours, canvas);
  }
  gp.flush();
  std::string text(static_cast<std::size_t>(std::max<off_t>(0, ::lseek(memory, 0, SEEK_END))), ' ');
  const bool good = gp.good() && std::ferror(file) == 0 &&
                    ::pread(memory, text.data(), text.size(), 0) == std::ssize(text);
  if (!good) throw OutputError(path.string() + ": cannot be put together");
  write_file_atomically(path, text);
}

}  // namespace sonde
