#include "harness/model_rows.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <sstream>

#include "core/error.h"
#include "core/files.h"
#include "core/parse.h"
#include "harness/model_copies.h"
#include "harness/model_gemm.h"
#include "harness/model_tree.h"

namespace sonde {
namespace {

using Need = ModelRuns::Need;

/// Option of a device selector.
constexpr std::string_view kNoise = "noise=";

/// Cheapest run whose manifest says what the device says of itself.
const std::string kDescribe = "chase --blocks 1";

void ask_finding(const ModelMeasure& m, ModelRuns& runs) {
  if (!m.command.empty()) {
    runs.ask_command(m.device, m.command, Need::findings);
    return;
  }
  const std::string probe = m.words[1].substr(0, m.words[1].find('.'));
  // An idle reading is taken before any step. GEMM: copies show the clock of an idle core.
  runs.ask(m.device, probe == "idle" ? "copy" : probe, Need::findings);
  if (probe == "gemm") runs.ask(m.device, "copy", Need::findings);
}
ModelValue read_finding(const ModelMeasure& m, const ModelRuns& runs) {
  return runs.finding(m.device, m.command, m.words[1]);
}

void ask_median(const ModelMeasure& m, ModelRuns& runs) {
  runs.ask_command(m.device, m.command, Need::rows);
}
ModelValue read_median(const ModelMeasure& m, const ModelRuns& runs) {
  const std::string probe = m.command.substr(0, m.command.find(' '));
  const auto points = runs.medians(m.device, m.command, probe, m.words[1]);
  if (points.size() != 1)
    throw NoValue(m.command + ": " + std::to_string(points.size()) + " points");
  static const std::map<std::string, std::string> kUnits = {{"_ns", "ns"},
                                                            {"_s", "s"},
                                                            {"_w", "W"},
                                                            {"_mhz", "MHz"},
                                                            {"_bytes_per_s", "B/s"},
                                                            {"_flop_per_s", "FLOP/s"}};
  // The longest ending that fits: the unit is the last part of a column's name.
  std::string unit = "1";
  std::size_t longest = 0;
  for (const auto& [ending, name] : kUnits) {
    if (m.words[1].ends_with(ending) && ending.size() > longest) {
      unit = name;
      longest = ending.size();
    }
  }
  return {points.front().value, unit};
}

void ask_description(const ModelMeasure& m, ModelRuns& runs) {
  runs.ask_command(m.device, kDescribe, Need::rows);
}
ModelValue read_cores(const ModelMeasure& m, const ModelRuns& runs) {
  const DeviceDescription& device = runs.stored(m.device, kDescribe).manifest.device;
  return {static_cast<double>(device.cores_of(m.words[1]).size()), "count"};
}
ModelValue read_memory(const ModelMeasure& m, const ModelRuns& runs) {
  const auto bytes = runs.stored(m.device, kDescribe).manifest.device.memory_bytes;
  if (!bytes) throw NoValue(m.device + " does not say how much memory it has");
  return {static_cast<double>(*bytes), "B"};
}
ModelValue read_roof(const ModelMeasure& m, const ModelRuns& runs) {
  const std::string& name = m.words[1];
  return {roof_of(runs, m.device, kDescribe, name),
          name.ends_with("_flop_per_s") ? "FLOP/s" : "B/s"};
}

void ask_tree(const ModelMeasure& m, ModelRuns& runs) {
  runs.ask(m.device, "profile", Need::tree);
  runs.ask(m.device, "interfere", Need::tree);
}
void ask_interfere(const ModelMeasure& m, ModelRuns& runs) {
  runs.ask(m.device, "interfere", Need::rows);
}
void ask_copies(const ModelMeasure& m, ModelRuns& runs) {
  runs.ask(m.device, "copy", Need::rows);
  for (const std::string& peer : m.peers) runs.ask(peer, "copy", Need::rows);
}
void ask_gemms(const ModelMeasure& m, ModelRuns& runs) {
  runs.ask(m.device, "gemm", Need::rows);
  for (const std::string& peer : m.peers) runs.ask(peer, "gemm", Need::rows);
}

/// Smallest step of an order in absolute GEMM speed: first peer < the device < second peer.
double speed_order(const ModelRuns& runs, const ModelMeasure& m) {
  const double own = aggregate_rate(swept_shapes(runs, m.device));
  return std::min(own / aggregate_rate(swept_shapes(runs, m.peers.at(0))),
                  aggregate_rate(swept_shapes(runs, m.peers.at(1))) / own);
}

/// Figures of the chip files' own table that a description holds.
struct VariantFigure {
  std::string quantity, unit;
  double value = 0, tolerance = 0;  ///< in `unit`; a share
  std::string chip;
};

/// Of the chips whose name begins with one of the measure's words.
std::vector<VariantFigure> variant_figures(const ModelMeasure& m) {
  const PublishedTable table(
      data_directory() / "published" / "skus.csv",
      {"id", "quantity", "value", "unit", "tolerance", "tolerance_kind", "device", "source"});
  static const std::set<std::string> kDescribed = {"cube_cores", "vector_cores", "hbm_capacity",
                                                   "l2", "bf16_peak"};
  std::vector<VariantFigure> figures;
  for (std::size_t i = 0; i < table.size(); ++i) {
    const std::string& chip = table.filled(i, "device");
    const bool meant = std::any_of(m.words.begin() + 1, m.words.end(),
                                   [&](const auto& word) { return chip.starts_with(word); });
    if (!meant || !kDescribed.contains(table.text(i, "quantity"))) continue;
    const bool exact = table.text(i, "tolerance_kind") == "exact";
    figures.push_back({table.text(i, "quantity"), table.filled(i, "unit"), table.number(i, "value"),
                       exact ? 0 : table.number(i, "tolerance"), chip});
  }
  return figures;
}

/// What the device says of a quantity, in base units; nullopt: nothing.
std::optional<double> described(const DeviceDescription& device, const std::string& quantity) {
  const auto count = [&](const char* kind) {
    return static_cast<double>(device.cores_of(kind).size());
  };
  if (quantity == "cube_cores") return count("cube");
  if (quantity == "vector_cores") return count("vector");
  if (quantity == "bf16_peak") return device.roof("bf16_flop_per_s");
  if (quantity == "hbm_capacity") return device.memory_bytes;
  for (const MemoryLevel& level : device.memory) {
    if (level.name == "L2") return level.capacity_bytes;
  }
  return std::nullopt;
}

std::string variant_selector(const ModelMeasure& m, const std::string& chip) {
  const std::size_t mark = m.device.find('?');
  return "sim:" + chip + (mark == std::string::npos ? "" : m.device.substr(mark));
}

void ask_variants(const ModelMeasure& m, ModelRuns& runs) {
  for (const VariantFigure& figure : variant_figures(m)) {
    runs.ask_command(variant_selector(m, figure.chip), kDescribe, Need::rows);
  }
}

/// Share of the figures of all variants that the devices say of themselves; the note names the
/// first that is not so.
ModelValue read_variants(const ModelMeasure& m, const ModelRuns& runs) {
  double right = 0, all = 0;
  std::string note;
  for (const VariantFigure& figure : variant_figures(m)) {
    const DeviceDescription& device =
        runs.stored(variant_selector(m, figure.chip), kDescribe).manifest.device;
    const auto said = described(device, figure.quantity);
    const double value = said.value_or(0) / model_unit(figure.unit).value().factor;
    ++all;
    if (said && std::abs(value - figure.value) <= (figure.tolerance + 1e-9) * figure.value) {
      ++right;
    } else if (note.empty()) {
      note = figure.chip + ": " + figure.quantity + " is " +
             (said ? format_number(value) : "unknown") + ", published " +
             format_number(figure.value) + " " + figure.unit;
    }
  }
  if (all == 0) throw NoValue("skus.csv names no such chip");
  return {right / all, "1", note};
}

struct Kind {
  const char* name;
  std::size_t words, peers;  ///< that follow the name
  bool command;              ///< needs one after `of`
  void (*ask)(const ModelMeasure&, ModelRuns&);
  ModelValue (*value)(const ModelMeasure&, const ModelRuns&);
};

using M = const ModelMeasure&;
using R = const ModelRuns&;

constexpr Kind kKinds[] = {
    {"finding", 1, 0, false, ask_finding, read_finding},
    {"median", 1, 0, true, ask_median, read_median},
    {"cores", 1, 0, false, ask_description, read_cores},
    {"memory_total", 0, 0, false, ask_description, read_memory},
    {"roof", 1, 0, false, ask_description, read_roof},
    {"dies", 0, 0, false, ask_tree,
     [](M m, R runs) {
       return ModelValue{die_count(runs.tree(m.device)), "count"};
     }},
    {"die_cores", 0, 0, false, ask_tree,
     [](M m, R runs) {
       return ModelValue{die_cores(runs.tree(m.device)), "1"};
     }},
    {"group_pairs", 0, 0, false, ask_tree,
     [](M m, R runs) {
       return ModelValue{group_pairs(runs.tree(m.device)), "1"};
     }},
    {"subsystem_cores", 1, 0, false, ask_tree,
     [](M m, R runs) {
       return ModelValue{subsystem_cores(runs.tree(m.device), m.words[1]), "count"};
     }},
    {"register_cost", 0, 0, false, ask_interfere,
     [](M m, R runs) {
       return ModelValue{register_cost(runs, m.device), "ns"};
     }},
    {"small_copy_ratio", 1, 1, false, ask_copies,
     [](M m, R runs) {
       return ModelValue{small_copy_ratio(runs, m.device, m.peers[0], m.words[1]), "1"};
     }},
    {"large_copy_difference", 0, 1, false, ask_copies,
     [](M m, R runs) {
       return ModelValue{large_copy_difference(runs, m.device, m.peers[0]), "1"};
     }},
    {"copy_dip", 1, 0, false, ask_copies,
     [](M m, R runs) {
       return ModelValue{copy_dip(runs, m.device, m.words[1]), "1"};
     }},
    {"speed_ratio", 1, 1, false, ask_gemms,
     [](M m, R runs) {
       return ModelValue{
           speed_ratio(swept_shapes(runs, m.device), swept_shapes(runs, m.peers[0]), m.words[1]),
           "1"};
     }},
    {"below_ridge", 2, 0, false, ask_gemms,
     [](M m, R runs) {
       return ModelValue{below_ridge_fraction(runs, m.device, m.words[1], m.words[2]), "1"};
     }},
    {"busy_power", 0, 0, false, ask_gemms, [](M m, R runs) { return busy_power(runs, m.device); }},
    {"busy_clock", 0, 0, false, ask_gemms, [](M m, R runs) { return busy_clock(runs, m.device); }},
    {"variants", 2, 0, false, ask_variants, read_variants},
    {"speed_order", 0, 2, false, ask_gemms,
     [](M m, R runs) {
       return ModelValue{speed_order(runs, m), "1"};
     }},
};

const Kind* find_kind(const std::string& name) {
  for (const Kind& kind : kKinds) {
    if (name == kind.name) return &kind;
  }
  return nullptr;
}

}  // namespace

ChipNames::ChipNames(const std::string& asked) : asked_(asked) {
  const std::size_t mark = asked.find('?');
  if (mark == std::string::npos) return;
  asked_.resize(mark);
  std::istringstream options(asked.substr(mark + 1));
  for (std::string option; std::getline(options, option, '&');) {
    if (option.starts_with(kNoise)) {
      noise_ = option;
    } else {
      options_ += (options_.empty() ? "" : "&") + option;
    }
  }
}

std::string ChipNames::selector(const std::string& chip, const std::string& noise) const {
  std::string selector = chip == kStudyChip ? asked_ : "sim:" + chip;
  char mark = '?';
  for (const std::string& option : {options_, noise.empty() ? noise_ : noise}) {
    if (option.empty()) continue;
    selector += mark + option;
    mark = '&';
  }
  return selector;
}

ModelMeasure measure_of(const Comparison& comparison, const ChipNames& names) {
  const auto refuse = [&](const std::string& problem) {
    return UsageError(comparison.place + ": column measure: " + problem);
  };
  ModelMeasure measure;
  std::string text = comparison.measure;
  std::string noise;
  if (text.starts_with(kNoise)) {
    noise = text.substr(0, text.find(' '));
    text.erase(0, std::min(noise.size() + 1, text.size()));
  }
  measure.device = names.selector(comparison.figure.chip, noise);
  const std::size_t of = text.find(" of ");
  if (of != std::string::npos) {
    measure.command = text.substr(of + 4);
    text.resize(of);
  }
  std::istringstream words(text);
  constexpr std::string_view kChipMark = "sim:";
  for (std::string word; words >> word;) {
    if (word.starts_with(kChipMark)) {
      measure.peers.push_back(names.selector(word.substr(kChipMark.size()), noise));
    } else {
      measure.words.push_back(word);
    }
  }
  const Kind* kind = measure.words.empty() ? nullptr : find_kind(measure.words.front());
  if (kind == nullptr) {
    std::vector<std::string> known;
    for (const Kind& each : kKinds) known.emplace_back(each.name);
    throw refuse("'" + comparison.measure + "': there is " + join_names(known));
  }
  if (measure.words.size() != kind->words + 1 || measure.peers.size() != kind->peers ||
      (kind->command && measure.command.empty())) {
    throw refuse("'" + comparison.measure + "': " + kind->name + " takes " +
                 std::to_string(kind->words) + " words, " + std::to_string(kind->peers) + " chips" +
                 (kind->command ? " and `of` with a command" : ""));
  }
  return measure;
}

void ModelMeasure::ask(ModelRuns& runs) const { find_kind(words.front())->ask(*this, runs); }

ModelValue ModelMeasure::value(const ModelRuns& runs) const {
  return find_kind(words.front())->value(*this, runs);
}

}  // namespace sonde
