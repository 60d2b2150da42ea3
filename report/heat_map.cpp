#include "report/heat_map.h"

#include <algorithm>
#include <cmath>
#include <ostream>

#include "core/parse.h"
#include "report/figure.h"
#include "report/look.h"
#include "report/plot_script.h"
#include "report/show.h"

namespace sonde {
namespace {

constexpr double kBright = 0.55;  ///< of the palette, from where dark text reads better
constexpr std::size_t kMostPrinted = 12;
// Pixels, for labels of the size that both terminals draw.
constexpr double kLetter = 9, kLine = 15;

/// Labels thinned to every k-th, so that neighbours do not touch.
std::string labels(const std::vector<std::string>& names, double pixels, double pitch) {
  const double fit = std::max(1.0, std::floor(pixels / pitch));
  const auto every = static_cast<std::size_t>(std::ceil(static_cast<double>(names.size()) / fit));
  std::string text;
  for (std::size_t i = 0; i < names.size(); i += std::max<std::size_t>(1, every)) {
    text += text.empty() ? "" : ", ";
    text += tick_text(names[i], 40) + " " + std::to_string(i);
  }
  return text;
}

std::size_t longest(const std::vector<std::string>& names) {
  std::size_t most = 0;
  for (const std::string& name : names) most = std::max(most, name.size());
  return most;
}

std::string palette(const Colours& colours) {
  std::string text;
  for (std::size_t i = 0; i < colours.palette.size(); ++i) {
    text += (i > 0 ? ", " : "") + std::to_string(i) + " '" + colours.palette[i] + "'";
  }
  return "set palette defined (" + text + ")\n";
}

std::string edge(std::size_t index) { return format_number(static_cast<double>(index) - 0.5); }

/// Along a side of `length`, on two lines where it would be longer than that.
std::string fitted(const std::string& text, double length) {
  if (static_cast<double>(text.size()) * kLetter <= length) return plot_text(text);
  std::size_t best = std::string::npos;  // the blank nearest to the middle
  const auto off = [&](std::size_t at) {
    return at > text.size() / 2 ? at - text.size() / 2 : text.size() / 2 - at;
  };
  for (std::size_t at = text.find(' '); at != std::string::npos; at = text.find(' ', at + 1)) {
    if (best == std::string::npos || off(at) < off(best)) best = at;
  }
  if (best == std::string::npos) return plot_text(text);
  return plot_text(text.substr(0, best)) + ".\"\\n\"." + plot_text(text.substr(best + 1));
}

/// `width`: of the whole map.
void write_groups(std::ostream& out, const HeatMap& map, double width, const Colours& colours) {
  for (std::size_t i = 0; i < map.groups.size(); ++i) {
    const HeatGroup& group = map.groups[i];
    const std::string box = " rectangle from " + edge(group.first_column) + "," +
                            edge(group.first_row) + " to " +
                            edge(group.first_column + group.columns) + "," +
                            edge(group.first_row + group.rows) + " front fillstyle empty border ";
    // A dark line inside a light one is seen on every colour.
    out << "set object " << 10 + 2 * i << box << "linecolor rgb '#ffffff' linewidth 3.5\n"
        << "set object " << 11 + 2 * i << box << "linecolor rgb '#000000' linewidth 1.5\n";
    const double room = width * static_cast<double>(group.columns) /
                        static_cast<double>(std::max<std::size_t>(1, map.columns.size()));
    if (group.name.empty() || static_cast<double>(group.name.size()) * kLetter > room) continue;
    out << "set label " << 10 + i << ' ' << plot_text(group.name, 30) << " at "
        << format_number(static_cast<double>(group.first_column) - 0.5 +
                         static_cast<double>(group.columns) / 2)
        << ", graph 1 center offset character 0, 0.7 front noenhanced textcolor rgb '"
        << colours.faint_text << "'\n";
  }
}

void write_values(std::ostream& out, const HeatMap& map, const Interval& range) {
  if (map.rows.size() > kMostPrinted || map.columns.size() > kMostPrinted) return;
  int label = 1000;
  for (std::size_t i = 0; i < map.rows.size(); ++i) {
    for (std::size_t j = 0; j < map.columns.size(); ++j) {
      if (!map.at(i, j)) continue;
      const double value = *map.at(i, j);
      const bool bright = (value - range.low) / range.width() > kBright;
      out << "set label " << label++ << ' ' << plot_text(show_number(value, 3)) << " at " << j
          << ',' << i << " center front noenhanced font ',"
          << (map.columns.size() > 8 ? "10" : "12") << "' textcolor rgb '"
          << (bright ? "#000000" : "#ffffff") << "'\n";
    }
  }
}

}  // namespace

Interval HeatMap::range() const {
  std::vector<double> values;
  for (const auto& cell : cells) {
    if (cell && std::isfinite(*cell)) values.push_back(*cell);
  }
  Interval range{0, 1};
  if (!values.empty()) {
    std::sort(values.begin(), values.end());
    const std::size_t outside = values.size() / 200;
    range = {values[outside], values[values.size() - 1 - outside]};
    if (at_least) {
      range = {std::min(range.low, at_least->low), std::max(range.high, at_least->high)};
    }
  }
  // One value still needs a width.
  if (!(range.width() > 1e-9 * std::abs(range.high))) {
    const double half = range.high != 0 ? 0.05 * std::abs(range.high) : 0.5;
    range = {range.low - half, range.high + half};
  }
  return range;
}

std::string HeatMap::sentence() const {
  const Interval span = range();
  std::int64_t pairs = 0, empty = 0, beyond = 0;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    for (std::size_t j = 0; j < columns.size(); ++j) {
      const std::optional<double>& cell = at(i, j);
      if (cell && !span.contains(*cell)) ++beyond;
      if (rows[i] == columns[j]) continue;
      ++pairs;
      if (!cell) ++empty;
    }
  }
  std::string text;
  if (empty > 0) {
    text = format_count(empty) + " of " + format_count(pairs) + " cells (" +
           show_number(100 * static_cast<double>(empty) / static_cast<double>(pairs), 2) +
           " %) have no value and are grey.";
  }
  if (beyond > 0) {
    text += (text.empty() ? "" : " ") + format_count(beyond) +
            (beyond == 1 ? " cell lies" : " cells lie") +
            " beyond the colour bar and share the colour of its end.";
  }
  return text;
}

int heat_map_height(const HeatMap& map) {
  return static_cast<int>(std::clamp<std::size_t>(240 + 48 * map.rows.size(), 340, 900));
}

void write_heat_map(std::ostream& out, const Figure& figure, const Canvas& canvas,
                    const Colours& colours) {
  const HeatMap& map = *figure.heat;
  const Interval range = map.range();
  const auto rows = static_cast<double>(map.rows.size());
  const auto columns = static_cast<double>(map.columns.size());
  out << "# Columns: column, row (both from 0, rows from the top), value; NaN: no value.\n"
      << "$cells << e\n";
  for (std::size_t i = 0; i < map.rows.size(); ++i) {
    for (std::size_t j = 0; j < map.columns.size(); ++j) {
      const std::optional<double>& cell = map.at(i, j);
      out << j << ' ' << i << ' ' << (cell && std::isfinite(*cell) ? format_number(*cell) : "NaN")
          << '\n';
    }
  }
  const double name_width = static_cast<double>(longest(map.columns)) * kLetter;
  // Beside the map stand names and colour bar; in a narrow picture they come closer.
  const double left = std::clamp(0.16 * canvas.width, 105.0, 150.0);
  const double right = std::clamp(0.15 * canvas.width, 110.0, 140.0);
  const double above = canvas.width < kNarrow ? 104 : 90;  // two lines of title, or four
  const double plot_width = canvas.width - left - right;
  const bool rotated = name_width * columns > plot_width;
  const double below = rotated ? std::min(name_width, 20 * kLetter) + 48 : 70;
  double width = plot_width;
  double height = canvas.height - above - below;
  if (map.rows.size() == map.columns.size()) width = height = std::min(width, height);
  const double middle = (canvas.width + left - right) / 2;
  const auto across = [&](double pixels) { return format_number(pixels / canvas.width); };
  const auto up = [&](double pixels) { return format_number(pixels / canvas.height); };
  out << "e\n\nset datafile missing 'NaN'\n"
      << palette(colours) << "set cbrange [" << format_number(range.low) << ':'
      << format_number(range.high) << "]\n"
      << "set cblabel " << fitted(map.scale, height + 40) << " noenhanced textcolor rgb '"
      << colours.text << "' offset character 0.5, 0\n"
      << "set lmargin at screen " << across(middle - width / 2) << "\nset rmargin at screen "
      << across(middle + width / 2) << "\nset tmargin at screen " << up(canvas.height - above)
      << "\nset bmargin at screen " << up(canvas.height - above - height) << '\n'
      << "set xrange [-0.5:" << edge(map.columns.size()) << "] noextend\n"
      << "set yrange [" << edge(map.rows.size()) << ":-0.5] noextend\n"
      << "set xtics out noenhanced " << (rotated ? "rotate by 90 right " : "") << "("
      << labels(map.columns, width, rotated ? kLine : name_width) << ")\n"
      << "set ytics out noenhanced (" << labels(map.rows, height, kLine) << ")\n"
      << "unset grid\nset border 15 linecolor rgb '" << colours.border << "'\nunset key\n"
      << "set object 1 rectangle from graph 0,0 to graph 1,1 behind fillcolor rgb '"
      << colours.empty << "' fillstyle solid noborder\n";
  write_groups(out, map, width, colours);
  write_values(out, map, range);
  const bool any = std::any_of(map.cells.begin(), map.cells.end(),
                               [](const auto& cell) { return cell && std::isfinite(*cell); });
  if (!any) {
    out << "set label 1 'no value to draw' at graph 0.5, graph 0.5 center noenhanced textcolor rgb "
           "'"
        << colours.text << "'\n"
        << "unset colorbox\nplot NaN with lines\n";
    return;
  }
  // A cell reaches a pixel under its right and lower neighbours, which are drawn later: smoothed
  // edges would else show the grey between two cells.
  out << "plot $cells using 1:2:($1-0.5):($1+" << format_number(0.5 + columns / width)
      << "):($2-0.5):($2+" << format_number(0.5 + rows / height)
      << "):3 with boxxyerror fillcolor palette fillstyle solid noborder\n";
}

}  // namespace sonde
