// Streaming bandwidth against the number of cores, the bytes a request and the bytes walked.
#include <algorithm>
#include <functional>
#include <map>
#include <set>

#include "core/parse.h"
#include "report/figure.h"
#include "report/show.h"

namespace sonde {
namespace {

constexpr std::size_t kMostSeries = 6;  // colours that are told apart

using Points = std::vector<const StreamPoint*>;
using Text = std::function<std::string(const StreamPoint&)>;

std::string request_of(const StreamPoint& point) {
  return show_quantity(static_cast<double>(point.request_bytes), "B") + " a request" +
         (point.requests == 1 ? "" : ", " + std::to_string(point.requests) + " a command");
}

std::string kind_of(const StreamPoint& point) {
  return point.kind + (point.store == "none" ? "" : ", " + point.store + " stores");
}

/// One curve for each value of `name`, over `x`; of several points at one x the fastest. Curves of
/// fewer than `least` points are left out. Returns how many curves were left out for want of
/// colours.
std::size_t add_series(Figure& figure, const Points& points, const Text& name,
                       const std::function<double(const StreamPoint&)>& x, std::size_t least,
                       const Text& label) {
  std::vector<std::string> names;
  std::map<std::string, std::map<double, const StreamPoint*>> curves;
  for (const StreamPoint* point : points) {
    const std::string key = name(*point);
    auto& curve = curves[key];
    if (curve.empty()) names.push_back(key);
    const auto [at, fresh] = curve.emplace(x(*point), point);
    if (!fresh && *point->bandwidth.y.value > *at->second->bandwidth.y.value) at->second = point;
  }
  std::erase_if(names, [&](const std::string& one) { return curves[one].size() < least; });
  std::stable_sort(names.begin(), names.end(), [&](const std::string& a, const std::string& b) {
    return curves[a].size() > curves[b].size();
  });
  const std::size_t left_out = names.size() > kMostSeries ? names.size() - kMostSeries : 0;
  names.resize(names.size() - left_out);
  for (const std::string& one : names) {
    Series series{names.size() > 1 ? one : "", SeriesStyle::line_points, false, {}};
    for (const auto& [at, point] : curves[one]) {
      FigurePoint drawn = figure_point(point->bandwidth, 1e-9, label(*point));
      drawn.x = at;
      series.points.push_back(drawn);
    }
    figure.series.push_back(std::move(series));
  }
  return left_out;
}

std::string ending(const FigureInput& input, std::size_t left_out) {
  const std::string more = left_out == 0 ? ""
                                         : std::to_string(left_out) +
                                               (left_out == 1 ? " curve is" : " curves are") +
                                               " left out for want of colours; the CSV has all. ";
  return more + "Each array is counted once a pass. " + closing_sentence(input.analysis, "stream");
}

std::string cores_of(const StreamPoint& point) {
  const std::size_t n = point.cores.size();
  return std::to_string(n) + " " + point.core_kind() + (n == 1 ? " core" : " cores");
}

std::optional<Figure> by_cores(const FigureInput& input, const StreamAnalysis& stream) {
  const DeviceDescription& device = input.analysis.run->manifest.device;
  const bool known = device.memory_from_bytes().has_value();
  std::map<std::string, std::size_t> requests;
  Points candidates;
  for (const StreamPoint& point : stream.points) {
    if (point.shared || (known ? !point.memory : point.passes != 1)) continue;
    candidates.push_back(&point);
    ++requests[request_of(point)];
  }
  if (candidates.empty()) return std::nullopt;
  const std::string usual =
      std::max_element(requests.begin(), requests.end(), [](const auto& a, const auto& b) {
        return a.second < b.second;
      })->first;
  std::erase_if(candidates, [&](const StreamPoint* point) { return request_of(*point) != usual; });
  if (candidates.size() < 2) return std::nullopt;
  Figure figure;
  figure.id = "stream_bandwidth";
  figure.title = "Streaming bandwidth against cores";
  figure.x = {"cores", false, TickStyle::whole, false};
  figure.y = {"bandwidth of all cores (GB/s)", false, TickStyle::plain, true};
  std::set<std::string> core_kinds;
  for (const StreamPoint* point : candidates) core_kinds.insert(point->core_kind());
  const std::size_t left_out = add_series(
      figure, candidates,
      [&](const StreamPoint& point) {
        return kind_of(point) + (core_kinds.size() > 1 ? ", " + point.core_kind() : "");
      },
      [](const StreamPoint& point) { return static_cast<double>(point.cores.size()); }, 1,
      cores_of);
  figure.caption = "Arrays of each core's own, " + usual + ", ";
  figure.caption += known ? "all together beyond twice the last declared cache. "
                          : "read or written once; no cache is declared to stay beyond. ";
  if (const auto best = stream.best("read", known)) {
    figure.caption +=
        "Best read: " + show_quantity(*best->bandwidth.y.value, "B/s") + " by " + cores_of(*best);
    const std::optional<double> roof = device.roof("memory_bytes_per_s");
    if (roof && *roof > 0) {
      figure.caption +=
          ", " + show_number(100 * *best->bandwidth.y.value / *roof, 3) + " % of the datasheet";
      const auto [first, last] = std::ranges::minmax(
          candidates, {}, [](const StreamPoint* point) { return point->cores.size(); });
      const double low = static_cast<double>(first->cores.size());
      const double high = static_cast<double>(last->cores.size());
      figure.series.push_back(
          {"datasheet memory",
           SeriesStyle::line,
           false,
           {{low, *roof * 1e-9, {}, {}, ""}, {high, *roof * 1e-9, {}, {}, ""}}});
    }
    figure.caption += ". ";
  }
  figure.caption += ending(input, left_out);
  return figure;
}

/// What each core gets: the picture above divided by its x.
std::optional<Figure> per_core(const FigureInput& input, const StreamAnalysis& stream) {
  std::optional<Figure> figure = by_cores(input, stream);
  if (!figure) return std::nullopt;
  figure->id = "stream_per_core";
  figure->title = "Streaming bandwidth of each core against cores";
  figure->y.label = "bandwidth a core (GB/s)";
  figure->marks.clear();
  // The datasheet's share of a core is no straight line between its ends, and says nothing here.
  std::erase_if(figure->series,
                [](const Series& series) { return series.style == SeriesStyle::line; });
  for (Series& series : figure->series) {
    for (FigurePoint& point : series.points) {
      point.y /= point.x;
      if (point.low) point.low = *point.low / point.x;
      if (point.high) point.high = *point.high / point.x;
    }
  }
  figure->caption = "The same points as above, each divided by its number of cores. " +
                    closing_sentence(input.analysis, "stream");
  return figure;
}

std::optional<Figure> by_request(const FigureInput& input, const StreamAnalysis& stream) {
  Figure figure;
  figure.id = "stream_request";
  figure.title = "Streaming bandwidth against bytes a request";
  figure.x = {"bytes a request", true, TickStyle::binary, false};
  figure.y = {"bandwidth of all cores (GB/s)", true, TickStyle::plain, false};
  Points points;
  for (const StreamPoint& point : stream.points) points.push_back(&point);
  const std::size_t left_out = add_series(
      figure, points,
      [](const StreamPoint& point) {
        return kind_of(point) + ", " + cores_of(point) + ", " + std::to_string(point.requests) +
               (point.requests == 1 ? " request" : " requests") + " a command, " +
               show_short_size(point.total_bytes()) + (point.shared ? " shared" : "") +
               (point.passes == 1 ? "" : ", " + std::to_string(point.passes) + " passes");
      },
      [](const StreamPoint& point) { return static_cast<double>(point.request_bytes); }, 2,
      request_of);
  if (figure.series.empty()) return std::nullopt;
  figure.caption = "The same bytes in larger or smaller requests. ";
  for (const Series& series : figure.series) {
    if (figure.series.size() > 2) break;
    const FigurePoint& first = series.points.front();
    const FigurePoint& last = series.points.back();
    figure.caption += (series.name.empty() ? "" : series.name + ": ") +
                      show_quantity(first.y * 1e9, "B/s") + " at " + show_quantity(first.x, "B") +
                      ", " + show_quantity(last.y * 1e9, "B/s") + " at " +
                      show_quantity(last.x, "B") + ". ";
  }
  figure.caption += ending(input, left_out);
  return figure;
}

std::optional<Figure> by_size(const FigureInput& input, const StreamAnalysis& stream) {
  Figure figure;
  figure.id = "stream_size";
  figure.title = "Streaming bandwidth against bytes walked";
  figure.x = {"bytes of all arrays together", true, TickStyle::binary, false};
  figure.y = {"bandwidth of all cores (GB/s)", true, TickStyle::plain, false};
  Points points;
  for (const StreamPoint& point : stream.points) points.push_back(&point);
  const std::size_t left_out = add_series(
      figure, points,
      [](const StreamPoint& point) {
        return kind_of(point) + ", " + cores_of(point) + ", " + request_of(point) +
               (point.shared ? ", shared" : "");
      },
      [](const StreamPoint& point) { return point.total_bytes(); }, 2,
      [](const StreamPoint& point) { return show_short_size(point.total_bytes()); });
  if (figure.series.empty()) return std::nullopt;
  figure.caption =
      "The same cores over arrays of several sizes: what fits a cache and is read again is faster "
      "than memory. ";
  const std::optional<std::int64_t> memory_from =
      input.analysis.run->manifest.device.memory_from_bytes();
  if (memory_from) {
    figure.marks.push_back({Mark::Kind::vertical, static_cast<double>(*memory_from), std::nullopt,
                            std::nullopt, std::nullopt, "twice the last cache"});
    figure.caption += "Beyond twice the last declared cache (dashed) it is memory. ";
  }
  figure.caption += ending(input, left_out);
  return figure;
}

std::vector<Figure> build(const FigureInput& input) {
  std::vector<Figure> figures;
  if (!input.analysis.stream) return figures;
  for (const auto make : {by_cores, per_core, by_request, by_size}) {
    if (auto figure = make(input, *input.analysis.stream)) figures.push_back(std::move(*figure));
  }
  return figures;
}

[[maybe_unused]] const bool registered = register_figure({40, "stream", build});

}  // namespace
}  // namespace sonde
