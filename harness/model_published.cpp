#include "harness/model_published.h"

#include <algorithm>
#include <map>
#include <sstream>

#include "core/csv_reader.h"
#include "core/error.h"
#include "core/files.h"
#include "core/parse.h"

namespace sonde {
namespace {

/// In the order of the printed table.
constexpr const char* kFigureFiles[] = {"study.csv", "maker.csv", "community.csv"};

struct KindName {
  const char* name;
  ToleranceKind kind;
};
constexpr KindName kKinds[] = {{"relative", ToleranceKind::relative},
                               {"absolute", ToleranceKind::absolute},
                               {"exact", ToleranceKind::exact},
                               {"ordering", ToleranceKind::ordering}};

PublishedFigure figure_of(const PublishedTable& table, std::size_t row) {
  PublishedFigure figure;
  figure.place = table.place(row);
  figure.id = table.filled(row, "id");
  figure.quantity = table.filled(row, "quantity");
  figure.text = table.filled(row, "value");
  constexpr std::string_view kTo = " to ";
  if (const std::size_t to = figure.text.find(kTo); to != std::string::npos) {
    figure.value = parse_number(figure.text.substr(0, to));
    figure.high = parse_number(figure.text.substr(to + kTo.size()));
    if (!figure.value || !figure.high || !(*figure.value < *figure.high)) {
      table.refuse(row, "value", "'" + figure.text + "' is not a range");
    }
  } else {
    figure.value = parse_number(figure.text);
  }
  figure.unit = table.text(row, "unit");
  figure.chip = table.filled(row, "device");
  figure.source = table.filled(row, "source");
  if (!model_unit(figure.unit))
    table.refuse(row, "unit", "'" + figure.unit + "' is not a known unit");
  const std::string& kind = table.filled(row, "tolerance_kind");
  const auto* found = std::find_if(std::begin(kKinds), std::end(kKinds),
                                   [&](const KindName& k) { return kind == k.name; });
  if (found == std::end(kKinds)) {
    table.refuse(row, "tolerance_kind",
                 "'" + kind + "' is none of relative, absolute, exact and ordering");
  }
  figure.kind = found->kind;
  if (figure.kind == ToleranceKind::relative || figure.kind == ToleranceKind::absolute) {
    figure.tolerance = table.number(row, "tolerance");
    if (figure.tolerance <= 0) table.refuse(row, "tolerance", "must be above 0");
    if (!figure.value) table.number(row, "value");  // says what is wrong with it
  }
  return figure;
}

Comparison comparison_of(const PublishedTable& table, std::size_t row,
                         const PublishedFigure& figure) {
  Comparison comparison;
  comparison.figure = figure;
  comparison.place = table.place(row);
  comparison.variant = table.text(row, "variant");
  comparison.basis = table.text(row, "basis");
  const std::string& judged = table.filled(row, "judged");
  if (judged == "not modelled") {
    comparison.judged = Judged::not_modelled;
    table.filled(row, "basis");  // the reason
    return comparison;
  }
  if (judged == "shape set unknown") {
    comparison.judged = Judged::shape_set_unknown;
  } else if (judged != "yes") {
    table.refuse(row, "judged",
                 "'" + judged + "' is none of yes, shape set unknown and not modelled");
  }
  comparison.label = table.filled(row, "label");
  if (comparison.label != "given" && comparison.label != "fitted" &&
      comparison.label != "predicted") {
    table.refuse(row, "label", "'" + comparison.label + "' is none of given, fitted and predicted");
  }
  if (comparison.label != "predicted") table.filled(row, "basis");
  comparison.measure = table.filled(row, "measure");
  return comparison;
}

}  // namespace

PublishedTable::PublishedTable(const std::filesystem::path& path,
                               const std::vector<std::string>& columns)
    : name_(path.filename().string()) {
  std::istringstream text(read_file(path));
  std::string record;
  for (int number = 1; std::getline(text, record); ++number) {
    if (!record.empty() && record.back() == '\r') record.pop_back();
    if (record.empty()) continue;
    std::string problem;
    auto cells = split_record(record, &problem);
    const std::string place = name_ + ":" + std::to_string(number) + ": ";
    if (!cells) throw UsageError(place + problem);
    if (columns_.empty()) {
      columns_ = std::move(*cells);
      for (const std::string& column : columns) {
        if (std::find(columns_.begin(), columns_.end(), column) == columns_.end()) {
          throw UsageError(place + "column " + column + " is missing");
        }
      }
      continue;
    }
    if (cells->size() != columns_.size()) {
      throw UsageError(place + std::to_string(cells->size()) + " cells, expected " +
                       std::to_string(columns_.size()));
    }
    rows_.push_back(std::move(*cells));
    lines_.push_back(number);
  }
  if (rows_.empty()) throw UsageError(path.string() + ": holds no figure");
}

const std::string& PublishedTable::text(std::size_t row, const std::string& column) const {
  const auto at = std::find(columns_.begin(), columns_.end(), column) - columns_.begin();
  return rows_[row].at(static_cast<std::size_t>(at));
}

const std::string& PublishedTable::filled(std::size_t row, const std::string& column) const {
  if (text(row, column).empty()) refuse(row, column, "is empty");
  return text(row, column);
}

double PublishedTable::number(std::size_t row, const std::string& column) const {
  const auto value = parse_number(filled(row, column));
  if (!value) refuse(row, column, "'" + text(row, column) + "' is not a number");
  return *value;
}

std::string PublishedTable::place(std::size_t row) const {
  return name_ + ":" + std::to_string(lines_[row]);
}

void PublishedTable::refuse(std::size_t row, const std::string& column,
                            const std::string& problem) const {
  throw UsageError(place(row) + ": column " + column + ": " + problem);
}

const char* to_string(ToleranceKind kind) {
  return std::find_if(std::begin(kKinds), std::end(kKinds),
                      [&](const KindName& k) { return k.kind == kind; })
      ->name;
}

std::optional<ModelUnit> model_unit(const std::string& unit) {
  static const std::map<std::string, ModelUnit> kUnits = {
      {"ns", {"time", 1e-9}},
      {"us", {"time", 1e-6}},
      {"s", {"time", 1}},
      {"B", {"bytes", 1}},
      {"MiB", {"bytes", 1024.0 * 1024.0}},
      {"GiB", {"bytes", 1024.0 * 1024.0 * 1024.0}},
      {"B/s", {"byte rate", 1}},
      {"GB/s", {"byte rate", 1e9}},
      {"TB/s", {"byte rate", 1e12}},
      {"FLOP/s", {"operation rate", 1}},
      {"TFLOP/s", {"operation rate", 1e12}},
      {"W", {"power", 1}},
      {"MHz", {"frequency", 1e6}},
      {"C", {"temperature", 1}},
      {"degC", {"temperature", 1}},
      {"%", {"number", 0.01}},
      {"1", {"number", 1}},
      {"count", {"number", 1}},
      {"blocks", {"number", 1}},
      {"groups", {"number", 1}},
      {"name", {"number", 1}},  // of a figure that is a text: a ratio or share stands for it
  };
  const auto found = kUnits.find(unit);
  if (found == kUnits.end()) return std::nullopt;
  return found->second;
}

std::vector<Comparison> read_comparisons(const std::filesystem::path& dir) {
  const PublishedTable comparisons(
      dir / "comparisons.csv",
      {"id", "quantity", "device", "variant", "label", "judged", "measure", "basis"});
  std::vector<bool> used(comparisons.size());
  std::vector<Comparison> all;
  for (const char* file : kFigureFiles) {
    const PublishedTable figures(dir / file, {"id", "quantity", "value", "unit", "tolerance",
                                              "tolerance_kind", "device", "source"});
    for (std::size_t i = 0; i < figures.size(); ++i) {
      const PublishedFigure figure = figure_of(figures, i);
      bool found = false;
      for (std::size_t c = 0; c < comparisons.size(); ++c) {
        if (comparisons.text(c, "id") != figure.id ||
            comparisons.text(c, "quantity") != figure.quantity ||
            comparisons.text(c, "device") != figure.chip) {
          continue;
        }
        if (used[c]) comparisons.refuse(c, "id", "fits two figures, the second " + figure.place);
        found = used[c] = true;
        all.push_back(comparison_of(comparisons, c, figure));
      }
      if (!found) figures.refuse(i, "quantity", "comparisons.csv has no line for it");
    }
  }
  const auto unused = std::find(used.begin(), used.end(), false);
  if (unused != used.end()) {
    comparisons.refuse(static_cast<std::size_t>(unused - used.begin()), "quantity",
                       "no such published figure");
  }
  return all;
}

}  // namespace sonde
