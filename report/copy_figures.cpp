#include "report/copy_figures.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "report/show.h"

namespace sonde {
namespace {

std::string percent(double part) { return show_number(100 * part, 2) + " %"; }

/// "between A and B" of a bracket.
std::string between(double low, double high) {
  return "between " + show_quantity(low, "B") + " and " + show_quantity(high, "B");
}

std::string after_dip(double depth, const std::optional<double>& recovered) {
  if (depth <= 0.02) return "";  // as bandwidth scatters
  return "; bandwidth falls by " + percent(depth) +
         (recovered ? " and is back from " + show_quantity(*recovered, "B") + " on"
                    : " and does not come back");
}

void describe_switches(const CopyShape& shape, const std::string& prefix, CopyPicture& picture) {
  std::string& text = picture.sentence;
  if (shape.switches.empty()) text += "No method switch found.";
  for (std::size_t i = 0; i < shape.switches.size(); ++i) {
    const CopySwitch& found = shape.switches[i];
    picture.marks.push_back({Mark::Kind::vertical, found.last_old, found.first_new, std::nullopt,
                             std::nullopt,
                             prefix + "switch after " + show_short_size(found.last_old)});
    text += std::string(i > 0 ? " " : "") + "Method switch " +
            between(found.last_old, found.first_new) + ": " + (found.jump_s > 0 ? "+" : "\u2212") +
            show_quantity(std::abs(found.jump_s) * 1e9, "ns") +
            after_dip(found.dip_depth, found.recovered_bytes) + ".";
  }
}

void describe_rest(const CopyShape& shape, const std::string& prefix, CopyPicture& picture) {
  std::string& text = picture.sentence;
  for (const CopyEdge& edge : shape.edges) {
    Mark mark{Mark::Kind::vertical, edge.last_before,
              std::nullopt,         std::nullopt,
              std::nullopt,         prefix + "edge from " + show_short_size(edge.last_before)};
    if (edge.start) {
      mark.at = edge.start->low;
      mark.to = edge.start->high;
    }
    picture.marks.push_back(mark);
    text += " Edge (a rise in time per byte" +
            (edge.capacity ? ", where two buffers fill " + show_short_size(*edge.capacity)
                           : std::string(", without a jump")) +
            ") from " + show_quantity(edge.last_before, "B") +
            (edge.start ? ", its start " + between(edge.start->low, edge.start->high) : "") +
            after_dip(edge.rise > 0 ? 1 - 1 / edge.rise : 0, edge.recovered_bytes) + ".";
  }
  for (const CopyClass& one : shape.classes) {
    text += " Alignment class: " + class_name(one) + " from " + show_quantity(one.from, "B") +
            " to " + show_quantity(one.to, "B") + " take " + show_number(one.factor, 3) +
            " times the time of sizes beside them.";
  }
  for (const CopyUndecided& one : shape.undecided) {
    picture.marks.push_back({Mark::Kind::vertical, one.last_before, one.first_after, std::nullopt,
                             std::nullopt, prefix + "undecided"});
    text +=
        " Undecided " + between(one.last_before, one.first_after) + ": a switch or a steep edge.";
  }
}

}  // namespace

std::string class_name(const CopyClass& one) {
  return one.modulus == 0 ? "powers of two"
                          : "multiples of " + show_short_size(static_cast<double>(one.modulus));
}

CopyPicture copy_picture(const CopyAnalysis& copy) {
  CopyPicture picture;
  std::set<std::string> directions, states, alignments, cores;
  for (const CopySeries& series : copy.series) {
    if (!series.tunables.empty()) continue;
    picture.series.push_back(&series);
    directions.insert(series.direction);
    states.insert(series.state);
    alignments.insert(series.alignment);
    cores.insert(series.cores);
  }
  for (const CopySeries* series : picture.series) {
    if (picture.series.size() == 1) {
      picture.names.emplace_back();
      continue;
    }
    std::string name = series->direction + ", " + series->method;
    if (states.size() > 1) name += ", " + series->state;
    if (alignments.size() > 1) name += ", aligned to " + series->alignment + " B";
    if (cores.size() > 1 && !series->cores.empty()) name += ", by " + series->cores;
    picture.names.push_back(name);
  }
  for (const CopySeries* series : copy.main_series()) {
    const std::string prefix = directions.size() > 1 ? series->direction + ": " : "";
    if (!picture.sentence.empty()) picture.sentence += " ";
    picture.sentence += prefix;
    if (series->shape.cannot_tell) {
      picture.sentence += "too few sizes to look for a method switch.";
      continue;
    }
    describe_switches(series->shape, prefix, picture);
    describe_rest(series->shape, prefix, picture);
  }
  return picture;
}

std::vector<Series> copy_lines(const CopySeries& series, const std::string& name,
                               const CopyValue& value) {
  std::vector<Series> lines = {{name, SeriesStyle::line_points, false, {}}};
  for (const CopyClass& one : series.shape.classes) {
    lines.push_back(
        {(name.empty() ? "" : name + ", ") + class_name(one), SeriesStyle::points, false, {}});
  }
  for (const CurvePoint& point : series.time) {
    const double time = *point.y.value;
    FigurePoint drawn{point.x, time > 0 ? value(point.x, time) : std::nan(""), std::nullopt,
                      std::nullopt, show_quantity(point.x, "B")};
    if (point.y.interval && point.y.interval->low > 0) {
      const double a = value(point.x, point.y.interval->low);
      const double b = value(point.x, point.y.interval->high);
      drawn.low = std::min(a, b);
      drawn.high = std::max(a, b);
    }
    std::size_t line = 0;
    for (std::size_t i = 0; i < series.shape.classes.size() && line == 0; ++i) {
      const CopyClass& one = series.shape.classes[i];
      if (one.holds(point.x) && point.x >= one.from && point.x <= one.to) line = i + 1;
    }
    lines[line].points.push_back(drawn);
  }
  if (lines.size() > 1 && name.empty()) lines.front().name = "other sizes";
  return lines;
}

Series copy_pieces(const CopyShape& shape, const std::string& name, const CopyValue& value) {
  constexpr int kPoints = 8;  // a straight line is a curve on logarithmic axes
  Series line{name, SeriesStyle::line, false, {}};
  line.dashed = true;
  for (const CopyPiece& piece : shape.pieces) {
    for (int i = 0; i <= kPoints; ++i) {
      const double bytes =
          piece.from * std::pow(piece.to / piece.from, static_cast<double>(i) / kPoints);
      line.points.push_back({bytes, value(bytes, piece.at(bytes)), std::nullopt, std::nullopt, ""});
    }
  }
  return line;
}

std::string threshold_sentence(const ThresholdJudgement& judgement) {
  std::string text;
  for (const MovedSwitch& one : judgement.moved) {
    text += one.threshold + " set to " + show_quantity(one.bytes, "B") + ": ";
    text += one.found ? "switch " + between(one.found->last_old, one.found->first_new) +
                            (one.off > 0 ? ", " + percent(one.off) + " beside it" : "") + ". "
                      : "no switch found there. ";
  }
  for (const BreakpointCause& one : judgement.causes) {
    text += std::string(one.is_switch ? "The switch after " : "The edge from ") +
            show_quantity(one.last_before, "B") + " ";
    if (!one.moved_by.empty()) {
      text += "moves along with " + one.moved_by + ": a change of method. ";
    } else if (one.stays) {
      text += one.is_switch ? "stays whatever is moved: none of these thresholds is its cause. "
                            : "stays whatever is moved: the edge of a cache. ";
    } else {
      text += "cannot be told: it is neither found again everywhere nor seen to move. ";
    }
  }
  return text;
}

}  // namespace sonde
