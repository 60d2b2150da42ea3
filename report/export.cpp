#include "report/export.h"

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>

#include "core/parse.h"
#include "core/text.h"

namespace sonde {
namespace {

using Json = nlohmann::ordered_json;

/// Nanoseconds for a tool that knows nothing but time. nullopt: the finding is none.
std::optional<double> as_nanoseconds(const Finding& finding) {
  if (!finding.value) return std::nullopt;
  if (finding.unit == "ns") return finding.value;
  const bool rate = finding.unit == "B/s" || finding.unit == "FLOP/s";
  if (rate && *finding.value > 0) return 1e18 / *finding.value;
  return std::nullopt;
}

struct MetricUnit {
  std::string name;        ///< suffix of the metric, by the rules of OpenMetrics
  std::int64_t times = 1;  ///< to base units
  std::int64_t divided = 1;
};

MetricUnit metric_unit(const std::string& unit) {
  static const std::map<std::string, MetricUnit> known = {{"ns", {"seconds", 1, 1'000'000'000}},
                                                          {"B", {"bytes"}},
                                                          {"B/s", {"bytes_per_second"}},
                                                          {"FLOP/s", {"flop_per_second"}},
                                                          {"FLOP/B", {"flop_per_byte"}},
                                                          {"1", {"ratio"}},
                                                          {"times", {"ratio"}},
                                                          {"MHz", {"hertz", 1'000'000}},
                                                          {"W", {"watts"}},
                                                          {"degC", {"celsius"}}};
  if (const auto found = known.find(unit); found != known.end()) return found->second;
  std::string name;
  for (char c : unit) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
    name += plain ? c : '_';
  }
  return {name};
}

std::string label_value(const std::string& text) {
  std::string quoted = "\"";
  for (const char c : shown_text(text)) {
    if (c == '\\' || c == '"') quoted += '\\';
    quoted += c;
  }
  return quoted + '"';
}

}  // namespace

std::string findings_gbench(const Manifest& manifest, const std::vector<Finding>& findings) {
  Json json;
  json["context"] = {{"date", manifest.started_utc},
                     {"host_name", manifest.device.product},
                     {"executable", "sonde"},
                     {"num_cpus", manifest.device.cores.size()},
                     {"mhz_per_cpu", 0},
                     {"cpu_scaling_enabled", false},
                     {"caches", Json::array()},
                     {"library_build_type", manifest.build_preset == "dev" ? "debug" : "release"},
                     {"json_schema_version", 1},
                     {"sonde_device", manifest.device.name},
                     {"sonde_time_source", to_string(manifest.device.time_source)},
                     {"sonde_version", manifest.version},
                     {"sonde_revision", manifest.revision}};
  if (const auto& clock = manifest.device.reference_clock_hz) {
    json["context"]["mhz_per_cpu"] = *clock / 1e6;
  }
  json["benchmarks"] = Json::array();
  std::int64_t family = 0;
  for (const Finding& finding : findings) {
    if (!finding.value) continue;
    Json entry = {{"name", finding.name},
                  {"family_index", family++},
                  {"per_family_instance_index", 0},
                  {"run_name", finding.name},
                  {"run_type", "iteration"},
                  {"repetitions", 1},
                  {"repetition_index", 0},
                  {"threads", 1},
                  {"iterations", finding.n.value_or(1)}};
    if (const auto time = as_nanoseconds(finding)) {
      entry["real_time"] = *time;
      entry["cpu_time"] = *time;
      entry["time_unit"] = "ns";
    } else {
      // compare.py takes a mean over the times of all but aggregates.
      entry["run_type"] = "aggregate";
      entry["aggregate_name"] = "value";
      entry["aggregate_unit"] = "none";
    }
    entry["value"] = *finding.value;
    if (finding.low) entry["low"] = *finding.low;
    if (finding.high) entry["high"] = *finding.high;
    if (finding.unit == "B/s") entry["bytes_per_second"] = *finding.value;
    if (finding.unit == "FLOP/s") entry["items_per_second"] = *finding.value;
    entry["label"] = finding.unit + ", " + to_string(finding.source) + ", " + finding.basis;
    json["benchmarks"].push_back(std::move(entry));
  }
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

std::string findings_openmetrics(const Manifest& manifest, const std::vector<Finding>& findings) {
  // All samples of a family stand together.
  std::map<std::string, std::string> families;
  for (const Finding& finding : findings) {
    const MetricUnit unit = metric_unit(finding.unit);
    const std::string labels = "{run=" + label_value(finding.run) +
                               ",device=" + label_value(manifest.device.name) +
                               ",product=" + label_value(manifest.device.product) +
                               ",time_source=" + label_value(to_string(finding.source)) +
                               ",finding=" + label_value(finding.name) + ",bound=\"";
    const auto add = [&](const char* bound, const std::optional<double>& value) {
      if (!value) return;
      families[unit.name] += "sonde_finding_" + unit.name + labels + bound + "\"} " +
                             format_number(*value * static_cast<double>(unit.times) /
                                           static_cast<double>(unit.divided)) +
                             "\n";
    };
    add("value", finding.value);
    add("low", finding.low);
    add("high", finding.high);
  }
  std::string text;
  for (const auto& [unit, samples] : families) {
    const std::string name = "sonde_finding_" + unit;
    text += "# TYPE " + name + " gauge\n# UNIT " + name + " " + unit + "\n# HELP " + name +
            " Findings of a run of sonde in " + unit + ", with their interval.\n" + samples;
  }
  return text + "# EOF\n";
}

}  // namespace sonde
