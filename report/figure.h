#pragma once

#include <optional>
#include <string>
#include <vector>

#include "report/analysis.h"
#include "report/findings.h"
#include "report/floor_plan.h"
#include "report/heat_map.h"

namespace sonde {

/// How tick labels of an axis are written.
enum class TickStyle {
  plain,   ///< 1-2-5 steps; powers of ten on a long log axis
  binary,  ///< powers of two as KiB, MiB, GiB
  whole,   ///< whole numbers only
};

struct Axis {
  std::string label;  ///< with the unit
  bool log = false;
  TickStyle ticks = TickStyle::plain;
  bool from_zero = false;  ///< a linear axis that starts at 0
};

struct FigurePoint {
  double x = 0;
  double y = 0;
  std::optional<double> low, high;  ///< interval of y
  std::string label;                ///< for a page that shows one point
};

enum class SeriesStyle { points, line, line_points };

struct Series {
  std::string name;  ///< empty: not in the legend
  SeriesStyle style = SeriesStyle::line_points;
  bool emphasis = false;  ///< outliers and the like
  std::vector<FigurePoint> points;
  bool dashed = false;  ///< a line that may lie on another
  bool bars = true;     ///< intervals are drawn; so many would hide the points otherwise
};

/// A line at `at`, or a band from `at` to `to`, across the plot or (horizontal only) along a part
/// of it, with a few words beside it.
struct Mark {
  enum class Kind { vertical, horizontal } kind = Kind::vertical;
  double at = 0;
  std::optional<double> to;
  std::optional<double> span_from, span_to;
  std::string text;
};

/// One picture, as data: gnuplot and the page draw it from the same object.
struct Figure {
  std::string id;  ///< lower case letters, digits and '_': the file name
  std::string probe;
  std::string title;
  std::string subtitle;  ///< device and source of time: a picture may be passed on alone
  Axis x, y;
  std::vector<Series> series;
  std::vector<Mark> marks;
  std::optional<HeatMap> heat;  ///< drawn instead of axes, series and marks, where it is there
  std::vector<FloorBox> boxes;  ///< the same, of a floor plan
  std::string caption;
  int height = 540;  ///< pixels; the width is 960
  /// Id of the figure of which this is the same points, each as a share of its own run's roof; the
  /// page shows both as one with a switch.
  std::string share_of = {};
};

/// Where an axis starts and ends, and its labelled and unlabelled ticks.
struct Tick {
  double at = 0;
  std::string label;  ///< empty: a minor tick
};
struct AxisRange {
  double low = 0, high = 1;
  std::vector<Tick> ticks;
};
AxisRange x_range(const Figure& figure);
AxisRange y_range(const Figure& figure);

/// Takes out what cannot be drawn (not finite, or not positive on a log axis) and says in the
/// caption how many points that were. Interval ends that cannot be drawn go alone.
void drop_undrawable(Figure& figure);

/// What a figure is made from.
struct FigureInput {
  const RunAnalysis& analysis;
  const std::vector<Finding>& findings;
};

/// Figures register themselves: one file, one call, no list elsewhere.
struct FigureKind {
  int rank = 0;       ///< order on the page; unique
  std::string probe;  ///< section of the page
  std::vector<Figure> (*build)(const FigureInput&) = nullptr;
};
bool register_figure(const FigureKind& kind);

/// Every figure that this run's rows can give, by rank, undrawable points already taken out.
std::vector<Figure> build_figures(const FigureInput& input);

/// The end of a caption: "Modelled, not measured.", and which rows of the probe were left out.
std::string closing_sentence(const RunAnalysis& analysis, const std::string& probe);
/// A work or kind as part of a figure's id: data may hold any text.
std::string file_word(const std::string& text);
FigurePoint figure_point(const CurvePoint& point, double scale, const std::string& label);
/// The finding of that name; nullptr when it was not found.
const Finding* find_finding(const std::vector<Finding>& findings, const std::string& name);

}  // namespace sonde
