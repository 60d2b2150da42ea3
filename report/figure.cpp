#include "report/figure.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <set>

#include "core/parse.h"
#include "core/units.h"
#include "report/show.h"

namespace sonde {
namespace {

std::vector<FigureKind>& kinds() {
  static std::vector<FigureKind> all;
  return all;
}

struct Extent {
  double low = HUGE_VAL;
  double high = -HUGE_VAL;
  void take(double value) {
    low = std::min(low, value);
    high = std::max(high, value);
  }
  bool empty() const { return low > high; }
};

/// 1, 2 or 5 times a power of ten, near `width / count` and not below it.
double nice_step(double width, double count) {
  const double raw = width / count;
  const double power = std::pow(10.0, std::floor(std::log10(raw)));
  for (double factor : {1.0, 2.0, 5.0}) {
    if (factor * power >= raw * (1 - 1e-9)) return factor * power;
  }
  return 10 * power;
}

std::string tick_label(double value, TickStyle style) {
  if (style == TickStyle::binary && value >= 1 && value == std::floor(value)) {
    return show_quantity(value, "B");
  }
  return show_number(value, 6);
}

void linear_ticks(AxisRange& range, TickStyle style) {
  double step = nice_step(range.high - range.low, 8);
  if (style == TickStyle::whole) step = std::max(1.0, std::round(step));
  const double first = std::ceil(range.low / step - 1e-9);
  for (double i = first; i * step <= range.high + step * 1e-9 && range.ticks.size() < 40; ++i) {
    range.ticks.push_back({i * step == 0 ? 0.0 : i * step, tick_label(i * step, TickStyle::plain)});
  }
}

void binary_ticks(AxisRange& range) {
  const int first = static_cast<int>(std::ceil(std::log2(range.low) - 1e-9));
  const int last = static_cast<int>(std::floor(std::log2(range.high) + 1e-9));
  int every = 1;
  while ((last - first) / every > 10) ++every;
  if (every == 4) every = 5;  // 1, 32 KiB, 1 MiB, 32 MiB reads better than 1, 16, 256
  for (int power = first; power <= last; ++power) {
    const double at = std::exp2(power);
    const bool labelled = ((power % every) + every) % every == 0;
    range.ticks.push_back({at, labelled ? tick_label(at, TickStyle::binary) : ""});
  }
}

void decimal_ticks(AxisRange& range) {
  const double decades = std::log10(range.high / range.low);
  const int first = static_cast<int>(std::floor(std::log10(range.low) + 1e-9));
  const int last = static_cast<int>(std::ceil(std::log10(range.high) - 1e-9));
  const int every = std::max(1, static_cast<int>(std::ceil(decades / 9)));
  for (int power = first; power <= last; ++power) {
    for (int digit = 1; digit <= 9; ++digit) {
      const double at = digit * std::pow(10.0, power);
      if (at < range.low * (1 - 1e-9) || at > range.high * (1 + 1e-9)) continue;
      bool labelled = digit == 1 && ((power % every) + every) % every == 0;
      if (decades < 3) labelled = digit == 1 || digit == 2 || digit == 5;
      if (decades < 0.8) labelled = true;
      if (every > 1 && digit != 1) continue;
      range.ticks.push_back({at, labelled ? tick_label(at, TickStyle::plain) : ""});
    }
  }
}

AxisRange axis_range(Extent extent, const Axis& axis) {
  AxisRange range;
  if (extent.empty()) extent = axis.log ? Extent{1, 10} : Extent{0, 1};
  if (axis.log) {
    // A range of one value still needs a width: half an octave either way.
    const double pad = extent.high / extent.low < 1.05   ? std::sqrt(2.0)
                       : axis.ticks == TickStyle::binary ? std::exp2(0.25)
                                                         : std::pow(extent.high / extent.low, 0.06);
    range.low = extent.low / pad;
    range.high = extent.high * pad;
    if (axis.ticks == TickStyle::binary) {
      binary_ticks(range);
    } else {
      decimal_ticks(range);
    }
    const auto labelled = std::count_if(range.ticks.begin(), range.ticks.end(),
                                        [](const Tick& tick) { return !tick.label.empty(); });
    if (labelled < 2) {
      range.ticks.clear();
      linear_ticks(range, axis.ticks);
      std::erase_if(range.ticks, [](const Tick& tick) { return tick.at <= 0; });
    }
    return range;
  }
  if (axis.from_zero && extent.low >= 0) extent.low = 0;
  double width = extent.high - extent.low;
  const double size = std::max(std::abs(extent.low), std::abs(extent.high));
  if (!(width > size * 1e-9)) width = size > 0 ? 0.2 * size : 1;
  const double pad = axis.ticks == TickStyle::whole ? std::max(0.6, 0.04 * width) : 0.08 * width;
  range.low = axis.from_zero && extent.low == 0 ? 0 : extent.low - pad;
  range.high = extent.high + pad;
  linear_ticks(range, axis.ticks);
  return range;
}

}  // namespace

AxisRange x_range(const Figure& figure) {
  Extent extent;
  for (const Series& series : figure.series) {
    for (const FigurePoint& point : series.points) extent.take(point.x);
  }
  return axis_range(extent, figure.x);
}

AxisRange y_range(const Figure& figure) {
  Extent extent;
  for (const Series& series : figure.series) {
    for (const FigurePoint& point : series.points) {
      extent.take(point.y);
      if (point.low) extent.take(*point.low);
      if (point.high) extent.take(*point.high);
    }
  }
  return axis_range(extent, figure.y);
}

void drop_undrawable(Figure& figure) {
  if (figure.heat || !figure.boxes.empty()) return;  // an unknown cell is drawn as such
  const auto drawable = [](double value, const Axis& axis) {
    return std::isfinite(value) && (!axis.log || value > 0);
  };
  std::size_t dropped = 0;
  bool log_axis = false;
  for (Series& series : figure.series) {
    dropped += std::erase_if(series.points, [&](const FigurePoint& point) {
      const bool bad = !drawable(point.x, figure.x) || !drawable(point.y, figure.y);
      log_axis = log_axis || (bad && std::isfinite(point.x) && std::isfinite(point.y));
      return bad;
    });
    for (FigurePoint& point : series.points) {
      if ((point.low && !drawable(*point.low, figure.y)) ||
          (point.high && !drawable(*point.high, figure.y))) {
        point.low.reset();
        point.high.reset();
      }
    }
  }
  std::erase_if(figure.marks, [&](const Mark& mark) {
    const Axis& axis = mark.kind == Mark::Kind::vertical ? figure.x : figure.y;
    return !drawable(mark.at, axis) || (mark.to && !drawable(*mark.to, axis));
  });
  if (dropped > 0) {
    figure.caption +=
        " " + std::to_string(dropped) + (dropped == 1 ? " point is" : " points are") +
        " left out: " + (log_axis ? "zero or negative on a logarithmic axis." : "not a number.");
  }
}

bool register_figure(const FigureKind& kind) {
  kinds().push_back(kind);
  return true;
}

std::vector<Figure> build_figures(const FigureInput& input) {
  std::vector<FigureKind> ordered = kinds();
  std::sort(ordered.begin(), ordered.end(),
            [](const FigureKind& a, const FigureKind& b) { return a.rank < b.rank; });
  std::vector<Figure> figures;
  std::set<std::string> ids;
  for (const FigureKind& kind : ordered) {
    for (Figure& figure : kind.build(input)) {
      drop_undrawable(figure);
      if (figure.probe.empty()) figure.probe = kind.probe;
      const std::string id = figure.id;  // two odd names of works may make one id
      for (int i = 2; !ids.insert(figure.id).second; ++i) figure.id = id + "_" + std::to_string(i);
      figures.push_back(std::move(figure));
    }
  }
  return figures;
}

std::string closing_sentence(const RunAnalysis& analysis, const std::string& probe) {
  std::string text = describe(analysis.source());
  text[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(text[0])));
  text += ".";
  const auto found = analysis.counts.find(probe);
  if (found == analysis.counts.end()) return text;
  std::vector<std::string> parts;
  const auto add = [&](std::int64_t count, const char* what) {
    if (count > 0) parts.push_back(format_count(count) + " " + what);
  };
  add(found->second.throttled, "throttled");
  add(found->second.skipped, "skipped");
  add(found->second.failed, "failed");
  add(found->second.other_clock, "timed by another clock");
  if (!parts.empty()) text += " Rows left out: " + join_names(parts) + ".";
  return text;
}

std::string file_word(const std::string& text) {
  std::string word;
  for (const char c : text.substr(0, 40)) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
    word += plain ? c : '_';
  }
  return word;
}

FigurePoint figure_point(const CurvePoint& point, double scale, const std::string& label) {
  FigurePoint result{point.x, *point.y.value * scale, std::nullopt, std::nullopt, label};
  if (point.y.interval) {
    result.low = point.y.interval->low * scale;
    result.high = point.y.interval->high * scale;
  }
  return result;
}

const Finding* find_finding(const std::vector<Finding>& findings, const std::string& name) {
  const auto found = std::find_if(findings.begin(), findings.end(),
                                  [&](const Finding& finding) { return finding.name == name; });
  return found == findings.end() ? nullptr : &*found;
}

}  // namespace sonde
