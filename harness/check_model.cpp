#include "harness/check_model.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <iostream>
#include <nlohmann/json.hpp>
#include <set>

#include "core/command_line.h"
#include "core/csv_writer.h"
#include "core/files.h"
#include "core/parse.h"
#include "core/signals.h"
#include "core/terminal.h"
#include "device/registry.h"
#include "harness/model_rows.h"

namespace sonde {
namespace {

/// A comparison as it came out.
struct Outcome {
  Comparison comparison;
  std::string device;
  std::optional<double> simulated;   ///< in the figure's unit; of an ordering or text, a ratio
  std::optional<double> difference;  ///< relative: a share; else in the figure's unit
  std::string verdict;               ///< ok, outside, no value, shape set unknown, not modelled
  std::string reason;                ///< why there is no value, or a note to it
  bool failed() const { return verdict == "outside" || verdict == "no value"; }
};

bool inside(const PublishedFigure& figure, double simulated, double difference) {
  switch (figure.kind) {
    case ToleranceKind::relative:
    case ToleranceKind::absolute:
      return std::abs(difference) <= figure.tolerance;
    case ToleranceKind::exact:
      // Whole numbers and shares that went through a unit's factor.
      return std::abs(difference) <= 1e-9 * std::max(1.0, std::abs(simulated));
    case ToleranceKind::ordering:
      return simulated > 1;
  }
  return false;
}

/// Fills in value, difference and verdict.
void judge(Outcome& outcome, const ModelMeasure& measure, const ModelRuns& runs) {
  const PublishedFigure& figure = outcome.comparison.figure;
  try {
    const ModelValue value = measure.value(runs);
    const ModelUnit unit = model_unit(figure.unit).value();
    const auto from = model_unit(value.unit);
    if (!from || from->dimension != unit.dimension) {
      throw UsageError(outcome.comparison.place + ": column measure: is in " + value.unit +
                       ", the figure in " + figure.unit);
    }
    outcome.simulated = value.value * from->factor / unit.factor;
    outcome.reason = value.note;
  } catch (const NoValue& problem) {
    outcome.reason = problem.what();
  }
  const bool judged = outcome.comparison.judged == Judged::yes;
  if (!outcome.simulated) {
    outcome.verdict = judged ? "no value" : "shape set unknown";
    return;
  }
  // A figure that is a text ("a < b") is met by a ratio above 1 or a share of 1; a range by
  // anything inside, and its nearer end counts for the rest.
  double published = figure.value.value_or(1);
  if (figure.high) published = std::clamp(*outcome.simulated, published, *figure.high);
  double difference = *outcome.simulated - published;
  if (figure.kind == ToleranceKind::relative) difference /= published;
  if (figure.value) outcome.difference = difference;
  outcome.verdict = !judged                                          ? "shape set unknown"
                    : inside(figure, *outcome.simulated, difference) ? "ok"
                                                                     : "outside";
}

/// "3,7-9,m1" over the ids there are; nullopt: all.
std::set<std::string> chosen_rows(const std::optional<std::string>& text,
                                  const std::vector<Comparison>& all) {
  std::set<std::string> ids, chosen;
  std::vector<std::string> names;
  for (const Comparison& each : all) {
    if (ids.insert(each.figure.id).second) names.push_back(each.figure.id);
  }
  if (!text) return ids;
  std::size_t at = 0;
  while (at <= text->size()) {
    const std::size_t comma = std::min(text->find(',', at), text->size());
    const std::string piece = text->substr(at, comma - at);
    at = comma + 1;
    const std::size_t dash = piece.find('-');
    const auto first = parse_integer(piece.substr(0, dash));
    const auto last = dash == std::string::npos ? first : parse_integer(piece.substr(dash + 1));
    if (ids.contains(piece)) {
      chosen.insert(piece);
      continue;
    }
    if (dash != std::string::npos && first && last && *first <= *last &&
        ids.contains(std::to_string(*first)) && ids.contains(std::to_string(*last))) {
      for (std::int64_t id = *first; id <= *last; ++id) chosen.insert(std::to_string(id));
      continue;
    }
    throw UsageError("--row: '" + piece + "' is not a row: there is " + join_names(names) +
                     did_you_mean(piece, names));
  }
  return chosen;
}

/// Five digits, and every digit of a whole number.
std::string shown(double value) {
  const bool whole = std::abs(value) < 1e9 && value == std::round(value);
  return whole ? fmt::format("{:.0f}", value) : fmt::format("{:.5g}", value);
}

std::string published_of(const PublishedFigure& figure) {
  const bool named = figure.unit.empty() || figure.unit == "name" || figure.unit == "count";
  return named ? figure.text : figure.text + " " + figure.unit;
}

std::string simulated_of(const Outcome& outcome) {
  const std::string& unit = outcome.comparison.figure.unit;
  if (!outcome.simulated) return "-";
  if (unit == "name") return "x " + fmt::format("{:.3g}", *outcome.simulated);
  return shown(*outcome.simulated) + (unit == "count" ? "" : " " + unit);
}

std::string difference_of(const Outcome& outcome) {
  const PublishedFigure& figure = outcome.comparison.figure;
  if (!outcome.difference) return "-";
  if (figure.kind == ToleranceKind::relative) {
    return fmt::format("{:+.1f} %", 100 * *outcome.difference);
  }
  if (*outcome.difference == 0) return "0";
  return fmt::format("{:+.3g}{}", *outcome.difference,
                     figure.unit == "%"       ? " points"
                     : figure.unit == "count" ? ""
                                              : " " + figure.unit);
}

std::string tolerance_of(const PublishedFigure& figure) {
  if (figure.kind == ToleranceKind::relative)
    return fmt::format("{:.3g} %", 100 * figure.tolerance);
  if (figure.kind != ToleranceKind::absolute) return to_string(figure.kind);
  return fmt::format("{:.3g} {}", figure.tolerance, figure.unit == "%" ? "points" : figure.unit);
}

std::string name_of(const Outcome& outcome) {
  const Comparison& comparison = outcome.comparison;
  std::string name = comparison.figure.quantity;
  std::replace(name.begin(), name.end(), '_', ' ');
  return comparison.variant.empty() ? name : name + ", " + comparison.variant;
}

void print_table(const std::vector<Outcome>& outcomes) {
  std::vector<std::vector<std::string>> lines = {
      {"row", "quantity", "published", "simulated", "difference", "tolerance", "label", "verdict"}};
  for (const Outcome& outcome : outcomes) {
    const PublishedFigure& figure = outcome.comparison.figure;
    const std::string where = figure.chip == kStudyChip ? "" : " (" + figure.chip + ")";
    const bool modelled = outcome.comparison.judged != Judged::not_modelled;
    lines.push_back({figure.id, name_of(outcome) + where, published_of(figure),
                     simulated_of(outcome), difference_of(outcome),
                     modelled ? tolerance_of(figure) : "-",
                     modelled ? outcome.comparison.label : "-",
                     outcome.verdict + (outcome.reason.empty() ? "" : ": " + outcome.reason)});
  }
  std::vector<std::size_t> widths(lines.front().size());
  for (const auto& line : lines) {
    for (std::size_t i = 0; i < line.size(); ++i) widths[i] = std::max(widths[i], line[i].size());
  }
  for (const auto& line : lines) {
    for (std::size_t i = 0; i + 1 < line.size(); ++i) {
      std::cout << line[i] << std::string(widths[i] + 2 - line[i].size(), ' ');
    }
    std::cout << line.back() << '\n';
  }
}

/// Lines by label and verdict, counted over those that can fail.
void print_summary(const std::vector<Outcome>& outcomes) {
  std::int64_t given = 0, fitted = 0, predicted = 0, failed = 0, shapes = 0, not_modelled = 0;
  for (const Outcome& outcome : outcomes) {
    const Comparison& comparison = outcome.comparison;
    if (comparison.judged == Judged::shape_set_unknown) ++shapes;
    if (comparison.judged == Judged::not_modelled) ++not_modelled;
    if (comparison.judged != Judged::yes) continue;
    ++(comparison.label == "given" ? given : comparison.label == "fitted" ? fitted : predicted);
    if (outcome.failed()) ++failed;
  }
  std::cout << fmt::format(
      "\n{} comparisons that can fail: {} given, {} fitted, {} predicted; {} outside or without a "
      "value.\n{} depend on a shape set that was not published, {} are not modelled: neither "
      "fails.\n",
      given + fitted + predicted, given, fitted, predicted, failed, shapes, not_modelled);
}

void print_csv(const std::vector<Outcome>& outcomes) {
  std::cout << "row,quantity,variant,device,published,simulated,unit,difference,tolerance,"
               "tolerance_kind,label,verdict,reason,basis,source\n";
  const auto number = [](const std::optional<double>& value) {
    return value ? format_number(*value) : std::string();
  };
  for (const Outcome& outcome : outcomes) {
    const Comparison& comparison = outcome.comparison;
    const PublishedFigure& figure = comparison.figure;
    const bool has_tolerance =
        figure.kind == ToleranceKind::relative || figure.kind == ToleranceKind::absolute;
    const std::string cells[] = {figure.id,
                                 figure.quantity,
                                 comparison.variant,
                                 outcome.device,
                                 figure.text,
                                 number(outcome.simulated),
                                 figure.unit,
                                 number(outcome.difference),
                                 has_tolerance ? format_number(figure.tolerance) : "",
                                 to_string(figure.kind),
                                 comparison.label,
                                 outcome.verdict,
                                 outcome.reason,
                                 comparison.basis,
                                 figure.source};
    const char* comma = "";
    for (const std::string& cell : cells) {
      std::cout << comma << quote_cell(cell);
      comma = ",";
    }
    std::cout << '\n';
  }
}

void print_json(const std::vector<Outcome>& outcomes, const std::string& device, ExitCode code) {
  using Json = nlohmann::ordered_json;
  const auto number = [](const std::optional<double>& value) {
    return value ? Json(*value) : Json(nullptr);
  };
  Json json = {{"schema", "check_model.1"}, {"device", device}, {"rows", Json::array()}};
  for (const Outcome& outcome : outcomes) {
    const Comparison& comparison = outcome.comparison;
    const PublishedFigure& figure = comparison.figure;
    json["rows"].push_back({{"row", figure.id},
                            {"quantity", figure.quantity},
                            {"variant", comparison.variant},
                            {"device", outcome.device},
                            {"published", figure.text},
                            {"simulated", number(outcome.simulated)},
                            {"unit", figure.unit},
                            {"difference", number(outcome.difference)},
                            {"tolerance_kind", to_string(figure.kind)},
                            {"tolerance", figure.tolerance},
                            {"label", comparison.label},
                            {"verdict", outcome.verdict},
                            {"reason", outcome.reason},
                            {"basis", comparison.basis},
                            {"source", figure.source}});
  }
  json["exit"] = static_cast<int>(code);
  std::cout << json.dump(1, ' ', false, Json::error_handler_t::replace) << '\n';
}

void require_modelled(const std::string& device) {
  if (open_device(device)->description().time_source == TimeSource::modelled) return;
  throw UsageError("--device: " + device +
                   " is not simulated: check-model compares a model with published figures, e.g. "
                   "sim:" +
                   kStudyChip);
}

}  // namespace

ExitCode run_check_model(const std::vector<std::string>& arguments) {
  catch_signals();
  CommandLine line("sonde check-model",
                   "Published figures of the Ascend 950PR and its peers against what the probes "
                   "measure on the simulated chips.");
  std::string device = "host", seed = "1";
  std::optional<std::string> csv, rows;
  bool no_progress = false, json = false, verbose = false;
  line.text("--device", device, std::string("the simulated chip, e.g. sim:") + kStudyChip);
  line.text("--row", rows, "rows to run, e.g. 3,4 or 7-9,m1 (default: all)");
  line.text("--seed", seed, "seed of every random choice");
  line.text("--csv", csv, "'-': the table as CSV");
  line.flag("--json", json, "the table as JSON");
  line.flag("--no-progress,--quiet", no_progress, "no progress on standard error");
  line.flag("--verbose", verbose, "on standard error what each row is compared with, and why");
  if (!line.parse(arguments)) return ExitCode::ok;
  if (csv && json) throw UsageError("--csv - and --json exclude each other");
  if (csv && *csv != "-") throw UsageError("--csv: '" + *csv + "' is not '-'");
  const auto seed_value = parse_integer(seed);
  if (!seed_value || *seed_value < 0) {
    throw UsageError("--seed: '" + seed + "' is not a whole number from 0 to 2^63 - 1");
  }
  require_modelled(device);

  const std::vector<Comparison> all = read_comparisons(data_directory() / "published");
  const std::set<std::string> chosen = chosen_rows(rows, all);
  const ChipNames names(device);
  std::vector<Outcome> outcomes;
  std::vector<std::optional<ModelMeasure>> measures;
  std::set<std::string> devices;
  ModelRuns runs(seed);
  for (const Comparison& comparison : all) {
    if (!chosen.contains(comparison.figure.id)) continue;
    Outcome outcome;
    outcome.comparison = comparison;
    outcome.device = names.selector(comparison.figure.chip);
    measures.emplace_back();
    if (comparison.judged == Judged::not_modelled) {
      outcome.verdict = "not modelled";
      outcome.reason = comparison.basis;
    } else {
      measures.back() = measure_of(comparison, names);
      outcome.device = measures.back()->device;
      measures.back()->ask(runs);
      devices.insert(outcome.device);
      devices.insert(measures.back()->peers.begin(), measures.back()->peers.end());
    }
    if (verbose) {
      std::fprintf(stderr, "check-model: row %s on %s: %s\n", comparison.figure.id.c_str(),
                   outcome.device.c_str(), comparison.basis.c_str());
    }
    outcomes.push_back(std::move(outcome));
  }
  for (const std::string& each : devices) require_modelled(each);
  const auto announce = [](const std::string& message) { print_error("check-model: " + message); };
  if (!runs.run(no_progress ? [](const std::string&) {} : +announce)) return ExitCode::interrupted;

  ExitCode code = ExitCode::ok;
  for (std::size_t i = 0; i < outcomes.size(); ++i) {
    if (measures[i]) judge(outcomes[i], *measures[i], runs);
    if (outcomes[i].failed()) code = ExitCode::point_failed;
  }
  for (const std::string& problem : runs.problems()) {
    announce(problem);
    code = worse(code, ExitCode::point_failed);
  }
  if (json) {
    print_json(outcomes, device, code);
  } else if (csv) {
    print_csv(outcomes);
  } else {
    print_table(outcomes);
    print_summary(outcomes);
  }
  std::cout.flush();
  if (!std::cout) throw OutputError("standard output: cannot be written");
  return code;
}

}  // namespace sonde
