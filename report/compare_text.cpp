#include "report/compare_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "core/parse.h"
#include "core/terminal.h"
#include "core/text.h"
#include "report/show.h"

namespace sonde {
namespace {

using Json = nlohmann::ordered_json;

constexpr Verdict kVerdicts[] = {Verdict::slower, Verdict::faster, Verdict::same,
                                 Verdict::cannot_tell};
/// Points named when some lie in one run alone.
constexpr std::size_t kNamed = 3;

std::string show_time(double seconds) {
  if (seconds < 1e-3) return show_quantity(seconds * 1e9, "ns");
  return show_quantity(seconds < 1 ? seconds * 1e3 : seconds, seconds < 1 ? "ms" : "s");
}

double percent(double ratio) { return (ratio - 1) * 100; }

std::string show_ratio(const Ratio& ratio) {
  std::string text = fmt::format("{:+.2f} %", percent(ratio.value));
  if (ratio.interval && ratio.interval->width() > 0) {
    text += fmt::format(" ({:+.2f} to {:+.2f})", percent(ratio.interval->low),
                        percent(ratio.interval->high));
  }
  return text;
}

std::int64_t count_of(const ProbeComparison& probe, Verdict verdict) {
  const auto found = probe.verdicts.find(verdict);
  return found == probe.verdicts.end() ? 0 : found->second;
}

std::string side_line(const char* letter, const RunSide& side) {
  return fmt::format("{}: {} ({}, {}, {}, revision {})\n", letter, shown_text(side.dir),
                     shown_text(side.device), shown_text(side.product), shown_text(side.started),
                     shown_text(side.revision));
}

std::string list(const std::string& title, const std::vector<std::string>& lines) {
  if (lines.empty()) return "";
  std::string text = title + "\n";
  for (const std::string& line : lines) text += "  " + shown_text(line) + "\n";
  return text;
}

std::string verdict_cell(Verdict verdict, bool colours) {
  std::string cell = fmt::format("{:<11}", to_string(verdict));
  const bool slower = verdict == Verdict::slower;
  if (!slower && verdict != Verdict::faster) return cell;
  return paint(cell, slower ? Colour::red : Colour::green, colours);
}

std::string point_line(const PointComparison& point, bool colours) {
  std::string line =
      fmt::format("  {} {:<28} {} {}: {} -> {}, n {} and {}", verdict_cell(point.verdict, colours),
                  point.time ? show_ratio(*point.time) : "", point.probe, shown_text(point.label),
                  show_time(point.time_a), show_time(point.time_b), point.n_a, point.n_b);
  if (point.clock_explains) {
    line += fmt::format("; the clock explains it ({} -> {} MHz, in cycles {})",
                        show_number(*point.clock_a), show_number(*point.clock_b),
                        show_ratio(*point.cycles));
  } else if (point.cycles && point.clock_a != point.clock_b) {
    line += "; in cycles " + show_ratio(*point.cycles);
  }
  if (!point.reason.empty()) line += "; " + shown_text(point.reason);
  if (point.fails) line += "; FAILS";
  return line + "\n";
}

std::string missing_lines(const ProbeComparison& probe) {
  std::string text;
  for (const auto& [side, names] : {std::pair{"A", &probe.only_a}, {"B", &probe.only_b}}) {
    if (names->empty()) continue;
    text += fmt::format("  {}: {} with good rows in {} alone: ", probe.probe,
                        format_count(static_cast<std::int64_t>(names->size())), side);
    for (std::size_t i = 0; i < std::min(kNamed, names->size()); ++i) {
      text += (i > 0 ? "; " : "") + shown_text((*names)[i]);
    }
    text += names->size() > kNamed ? "; ...\n" : "\n";
  }
  return text;
}

std::string summary(const Comparison& comparison) {
  std::string text = fmt::format("{:<10} {:>7} {:>7} {:>7} {:>7} {:>12} {:>11}\n", "probe",
                                 "points", "slower", "faster", "same", "cannot tell", "median B/A");
  for (const ProbeComparison& probe : comparison.probes) {
    std::int64_t points = 0;
    for (const auto& [verdict, count] : probe.verdicts) points += count;
    text += fmt::format("{:<10} {:>7} {:>7} {:>7} {:>7} {:>12} {:>11}\n", probe.probe, points,
                        count_of(probe, Verdict::slower), count_of(probe, Verdict::faster),
                        count_of(probe, Verdict::same), count_of(probe, Verdict::cannot_tell),
                        probe.middle ? fmt::format("{:.4f}", *probe.middle) : "");
  }
  return text;
}

Json ratio_json(const std::optional<Ratio>& ratio) {
  if (!ratio) return nullptr;
  Json json = {{"ratio", ratio->value}, {"low", nullptr}, {"high", nullptr}};
  if (ratio->interval) {
    json["low"] = ratio->interval->low;
    json["high"] = ratio->interval->high;
  }
  return json;
}

Json number(const std::optional<double>& value) { return value ? Json(*value) : Json(nullptr); }

Json side_json(const RunSide& side) {
  return {{"run", side.dir},
          {"device", side.device},
          {"product", side.product},
          {"started_utc", side.started},
          {"revision", side.revision}};
}

}  // namespace

std::string comparison_text(const Comparison& comparison, bool all, bool colours,
                            std::size_t limit) {
  std::string text = side_line("A", comparison.a) + side_line("B", comparison.b);
  text += list("The runs differ (A, then B):", comparison.differences);
  text += list("Note:", comparison.notes);
  text += "\n" + summary(comparison);
  std::string missing;
  for (const ProbeComparison& probe : comparison.probes) missing += missing_lines(probe);
  if (!missing.empty()) text += "Not compared:\n" + missing;
  std::vector<const PointComparison*> shown;
  for (const PointComparison& point : comparison.points) {
    if (all || point.verdict == Verdict::slower || point.verdict == Verdict::faster) {
      shown.push_back(&point);
    }
  }
  if (shown.empty()) {
    text += "\nNo point is slower or faster beyond chance.\n";
    return text;
  }
  const std::size_t lines = all ? shown.size() : std::min(limit, shown.size());
  text += fmt::format("\nTime of B over A with its 95 % interval, largest effect first{}:\n",
                      lines < shown.size()
                          ? fmt::format(" ({} of {}; --all lists every point)", lines, shown.size())
                          : "");
  for (std::size_t i = 0; i < lines; ++i) text += point_line(*shown[i], colours);
  text +=
      fmt::format("slower, faster: at most {:g} % of those named are false; same: within {:g} %.\n",
                  kFalseDiscoveries * 100, comparison.margin * 100);
  return text;
}

std::string halves_text(const Comparison& comparison) {
  std::string text = side_line("run", comparison.a) + list("Note:", comparison.notes);
  text += "\n" + summary(comparison) + "\n";
  if (const auto rate = comparison.alarm_rate()) {
    text += fmt::format("false-alarm rate: {:.3g} % ({} of {} judged points)\n", *rate * 100,
                        comparison.count(Verdict::slower) + comparison.count(Verdict::faster),
                        comparison.judged());
  } else {
    text += fmt::format("false-alarm rate: cannot tell (no point has {} samples in each half)\n",
                        kFewestInHalf);
  }
  return text;
}

std::string comparison_json(const Comparison& comparison, bool halves) {
  Json json;
  json["schema"] = "compare.1";
  json["a"] = side_json(comparison.a);
  json["b"] = halves ? Json(nullptr) : side_json(comparison.b);
  json["differences"] = comparison.differences;
  json["notes"] = comparison.notes;
  json["margin"] = comparison.margin;
  json["false_discovery_rate"] = kFalseDiscoveries;
  json["judged"] = comparison.judged();
  if (halves) json["false_alarm_rate"] = number(comparison.alarm_rate());
  json["fails"] = comparison.fails();
  json["probes"] = Json::array();
  for (const ProbeComparison& probe : comparison.probes) {
    Json entry = {{"probe", probe.probe}};
    for (Verdict verdict : kVerdicts) entry[to_string(verdict)] = count_of(probe, verdict);
    entry["median_ratio"] = number(probe.middle);
    entry["only_a"] = probe.only_a;
    entry["only_b"] = probe.only_b;
    json["probes"].push_back(std::move(entry));
  }
  json["points"] = Json::array();
  for (const PointComparison& point : comparison.points) {
    json["points"].push_back({{"probe", point.probe},
                              {"point", point.label},
                              {"verdict", to_string(point.verdict)},
                              {"time", ratio_json(point.time)},
                              {"cycles", ratio_json(point.cycles)},
                              {"p", number(point.p)},
                              {"time_a_s", point.time_a},
                              {"time_b_s", point.time_b},
                              {"clock_a_mhz", number(point.clock_a)},
                              {"clock_b_mhz", number(point.clock_b)},
                              {"clock_explains", point.clock_explains},
                              {"n_a", point.n_a},
                              {"n_b", point.n_b},
                              {"fails", point.fails},
                              {"reason", point.reason}});
  }
  return json.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace sonde
