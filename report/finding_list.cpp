#include "report/finding_list.h"

#include <algorithm>
#include <cmath>

#include "core/parse.h"
#include "report/pairs.h"
#include "report/show.h"

namespace sonde {

std::string exact(double value) {
  if (value == std::floor(value) && std::abs(value) < 1e15) {
    return std::to_string(static_cast<std::int64_t>(value));
  }
  return format_number(value);
}

void FindingList::estimate(const std::string& name, const Estimate& value, const std::string& unit,
                           const std::string& basis) {
  if (!value.value || !std::isfinite(*value.value)) return;  // unknown: no finding
  Finding finding = make(name, unit, basis);
  finding.value = value.value;
  if (value.interval && std::isfinite(value.interval->low) && std::isfinite(value.interval->high)) {
    finding.low = value.interval->low;
    finding.high = value.interval->high;
  }
  finding.n = value.n;
  found_.push_back(std::move(finding));
}

void FindingList::position(const std::string& name, std::optional<double> value,
                           std::optional<double> low, std::optional<double> high,
                           const std::string& unit, const std::string& basis) {
  Finding finding = make(name, unit, basis);
  finding.value = value;
  finding.low = low;
  finding.high = high;
  finding.position = true;
  found_.push_back(std::move(finding));
}

std::string FindingList::file(const std::string& probe) const {
  const ProbeRows* rows = analysis_.run->probe(probe);
  return rows != nullptr && !rows->file.empty() ? rows->file : probe + ".csv";
}

Finding FindingList::make(const std::string& name, const std::string& unit,
                          const std::string& basis) const {
  Finding finding;
  finding.run = analysis_.run->name;
  finding.name = name;
  finding.unit = unit;
  finding.source = analysis_.source();
  finding.basis = basis;
  return finding;
}

void topology_findings(const RunAnalysis& analysis, FindingList& out) {
  if (!analysis.tree) return;
  for (std::size_t i = 0; i < analysis.tree->levels.size(); ++i) {
    const TreeLevel& level = analysis.tree->levels[i];
    const std::string name = "topology.level_" + std::to_string(i + 1);
    std::size_t cores = 0;
    for (const auto& group : level.groups) cores += group.size();
    const auto n = static_cast<std::int64_t>(cores);
    out.estimate(name + ".groups", {static_cast<double>(level.groups.size()), std::nullopt, n},
                 "groups", level.basis + "; n counts cores");
    out.estimate(name + ".stability", {level.stability, std::nullopt, n}, "1",
                 level.basis + ": bootstrap agreement of the partition");
  }
}

void pair_findings(const RunAnalysis& analysis, FindingList& out) {
  const std::string interfere = out.file("interfere");
  for (const SlowDowns& found : analysis.slow_downs) {
    out.estimate("interfere.slow_down." + found.kind.label() + ".max",
                 {found.largest, std::nullopt, found.pairs}, "times",
                 interfere + ": largest latency beside one aggressor over latency alone, victim " +
                     found.victim.str() + ", aggressor " + found.aggressor.str() +
                     "; n counts pairs");
    out.estimate("interfere.above_register." + found.kind.label(),
                 {found.above_control, std::nullopt, found.pairs}, "1",
                 interfere +
                     ": share of pairs above the slow-down that 99 % of the register "
                     "control stay below (" +
                     exact(found.control.value_or(0)) + "); n counts pairs");
  }
  const std::string handoff = out.file("handoff");
  for (const auto& [kind, matrix] : analysis.handoff) {
    const std::vector<double> values = pair_values(matrix);
    if (values.empty()) continue;
    const auto n = static_cast<std::int64_t>(values.size());
    const std::string name = "handoff.latency_ns." + kind;
    const std::string basis = handoff + ": one way, " + kind + " hand-off, ";
    out.estimate(name + ".median", {median(values), median_interval(values), n}, "ns",
                 basis + "median over the pairs of each pair's median; n counts pairs");
    out.estimate(name + ".min", {std::ranges::min(values), std::nullopt, n}, "ns",
                 basis + "fastest pair");
    out.estimate(name + ".max", {std::ranges::max(values), std::nullopt, n}, "ns",
                 basis + "slowest pair");
  }
}

void stream_findings(const StreamAnalysis& stream, FindingList& out) {
  const auto where = [&](const StreamPoint& point) {
    return out.file("stream") + ": best median over the points, " + point.kind + " by " +
           std::to_string(point.cores.size()) + (point.cores.size() == 1 ? " core (" : " cores (") +
           point.cores_text + "), " + exact(static_cast<double>(point.bytes)) +
           (point.shared ? " B shared by all" : " B a core and array") + ", " +
           std::to_string(point.passes) + (point.passes == 1 ? " pass" : " passes") +
           (point.store == "none" ? "" : ", store " + point.store) +
           "; each array counted once a pass";
  };
  for (const std::string& kind : stream.kinds()) {
    const auto best = stream.best(kind, false);
    out.estimate("stream.peak_bytes_per_s." + kind, best->bandwidth.y, "B/s", where(*best));
    if (const auto one = stream.best_of_one_core(kind)) {
      out.estimate("stream.core_bytes_per_s." + kind, one->bandwidth.y, "B/s",
                   where(*one) + "; beyond twice the last declared cache");
    }
    const auto memory = stream.best(kind, true);
    if (!memory) continue;
    out.estimate("stream.memory_bytes_per_s." + kind, memory->bandwidth.y, "B/s",
                 where(*memory) + "; all arrays together beyond twice the last declared cache");
  }
}

}  // namespace sonde
