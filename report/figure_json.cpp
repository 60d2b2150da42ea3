#include "report/figure_json.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "core/text.h"
#include "report/html.h"

namespace sonde {
namespace {

using Json = nlohmann::json;

Json number(const std::optional<double>& value) {
  return value && std::isfinite(*value) ? Json(*value) : Json();
}

std::vector<std::string> shown(std::vector<std::string> names) {
  for (std::string& name : names) name = shown_text(name);
  return names;
}

Json axis_json(const Axis& axis, const AxisRange& range) {
  Json ticks = Json::array();
  for (const Tick& tick : range.ticks) {
    if (tick.at < range.low || tick.at > range.high) continue;
    ticks.push_back(Json::array({tick.at, tick.label}));
  }
  return {{"label", shown_text(axis.label)},
          {"log", axis.log},
          {"binary", axis.ticks == TickStyle::binary},
          {"low", range.low},
          {"high", range.high},
          {"ticks", std::move(ticks)}};
}

Json series_json(const Series& series) {
  Json points = Json::array();
  for (const FigurePoint& point : series.points) {
    points.push_back(Json::array({number(point.x), number(point.y), number(point.low),
                                  number(point.high), shown_text(point.label)}));
  }
  const bool one = series.points.size() == 1;
  return {{"name", shown_text(series.name)},
          {"line", series.style != SeriesStyle::points && !one},
          {"dots", series.style != SeriesStyle::line || one},
          {"emphasis", series.emphasis},
          {"dashed", series.dashed},
          {"bars", series.bars},
          {"points", std::move(points)}};
}

Json mark_json(const Mark& mark) {
  return {{"vertical", mark.kind == Mark::Kind::vertical},
          {"at", mark.at},
          {"to", number(mark.to)},
          {"from", number(mark.span_from)},
          {"until", number(mark.span_to)},
          {"text", shown_text(mark.text)}};
}

void pack_cells(const HeatMap& map, Json& json) {
  double least = HUGE_VAL, most = -HUGE_VAL;
  for (const auto& cell : map.cells) {
    if (!cell || !std::isfinite(*cell)) continue;
    least = std::min(least, *cell);
    most = std::max(most, *cell);
  }
  std::string bytes;
  bytes.reserve(2 * map.cells.size());
  for (const auto& cell : map.cells) {
    unsigned code = 0;
    if (cell && std::isfinite(*cell)) {
      const double share = most > least ? (*cell - least) / (most - least) : 0;
      code = 1 + static_cast<unsigned>(std::lround(65534 * share));
    }
    bytes += static_cast<char>(code & 255);
    bytes += static_cast<char>(code >> 8);
  }
  json["packed"] = base64(bytes);
  json["least"] = number(least);
  json["most"] = number(most);
}

Json heat_json(const HeatMap& map) {
  const Interval range = map.range();
  Json json = {{"rows", shown(map.rows)},
               {"columns", shown(map.columns)},
               {"scale", shown_text(map.scale)},
               {"low", range.low},
               {"high", range.high},
               {"groups", Json::array()},
               {"cells", Json::array()}};
  for (const HeatGroup& group : map.groups) {
    json["groups"].push_back({{"row", group.first_row},
                              {"rows", group.rows},
                              {"column", group.first_column},
                              {"columns", group.columns},
                              {"name", shown_text(group.name)}});
  }
  if (map.cells.size() > kMostPlainCells) {
    pack_cells(map, json);
  } else {
    for (const auto& cell : map.cells) json["cells"].push_back(number(cell));
  }
  if (!map.details.empty()) {
    json["details"] = Json::array();
    for (const HeatDetail& one : map.details) {
      json["details"].push_back(
          one.n == 0 ? Json() : Json::array({number(one.low), number(one.high), one.n}));
    }
  }
  return json;
}

Json figure_json(const Figure& figure) {
  Json json = {{"title", shown_text(figure.title)},
               {"subtitle", shown_text(figure.subtitle)},
               {"share_of", figure.share_of},
               {"height", figure.height}};
  if (figure.heat) {
    json["heat"] = heat_json(*figure.heat);
    json["x"] = {{"label", shown_text(figure.x.label)}};
    json["y"] = {{"label", shown_text(figure.y.label)}};
    return json;
  }
  if (!figure.boxes.empty()) {
    json["boxes"] = Json::array();
    for (const FloorBox& box : figure.boxes) {
      json["boxes"].push_back(Json::array(
          {box.left, box.bottom, box.right, box.top, box.depth, box.core, shown_text(box.text)}));
    }
    return json;
  }
  json["x"] = axis_json(figure.x, x_range(figure));
  json["y"] = axis_json(figure.y, y_range(figure));
  json["series"] = Json::array();
  json["marks"] = Json::array();
  for (const Series& series : figure.series) json["series"].push_back(series_json(series));
  for (const Mark& mark : figure.marks) json["marks"].push_back(mark_json(mark));
  return json;
}

/// Every text of it as people may be shown it.
void show_texts(Json& json) {
  for (Json& part : json) {
    if (part.is_string()) {
      part = shown_text(part.get_ref<const std::string&>());
    } else if (part.is_structured()) {
      show_texts(part);
    }
  }
}

}  // namespace

std::string figures_json(const std::vector<const Figure*>& figures) {
  Json all = {{"figures", Json::object()}};
  for (const Figure* figure : figures) all["figures"][figure->id] = figure_json(*figure);
  show_texts(all);
  const std::string text = all.dump(-1, ' ', true, Json::error_handler_t::replace);
  std::string out;
  out.reserve(text.size());
  for (const char c : text) {
    if (c == '<') {
      out += "\\u003c";
    } else {
      out += c;
    }
  }
  return out;
}

}  // namespace sonde
