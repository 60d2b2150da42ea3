#include "report/pair_details.h"

#include <map>

namespace sonde {
namespace {

using Pair = std::pair<std::string, std::string>;
using Estimates = std::map<Pair, Estimate>;

/// Latency by the cores of two axes, of the points that `fits` takes. A pair of two points (one
/// measured in two ways) is left out: its cell is not one median.
Estimates latencies(const RunAnalysis& analysis, const std::string& probe, const std::string& row,
                    const std::string& column, const auto& fits) {
  Estimates found;
  const ProbeRows* rows = analysis.run->probe(probe);
  if (rows == nullptr || !rows->table) return found;
  const GroupedRows grouped = group_rows(*rows, analysis.source());
  const Sampling sampling = sampling_of(analysis.run->manifest, grouped);
  std::map<Pair, int> seen;
  for (const PointRows& point : grouped.points) {
    if (!fits(*grouped.schema, *point.first)) continue;
    const Pair pair(point.first->text(*grouped.schema, row),
                    point.first->text(*grouped.schema, column));
    ++seen[pair];
    const auto one = curve_point(grouped, point, 0, "latency_ns", sampling);
    if (one) found[pair] = one->y;
  }
  for (const auto& [pair, count] : seen) {
    if (count > 1) found.erase(pair);
  }
  return found;
}

}  // namespace

std::vector<HeatDetail> handoff_details(const RunAnalysis& analysis, const std::string& kind,
                                        const HeatMap& map) {
  const Estimates found = latencies(
      analysis, "handoff", "from", "to",
      [&](const Schema& schema, const Row& row) { return row.text(schema, "kind") == kind; });
  std::vector<HeatDetail> details;
  if (found.empty()) return details;
  for (const std::string& row : map.rows) {
    for (const std::string& column : map.columns) {
      HeatDetail& one = details.emplace_back();
      const auto at = found.find({row, column});
      if (at == found.end()) continue;
      one.n = at->second.n;
      if (!at->second.interval) continue;
      one.low = at->second.interval->low;
      one.high = at->second.interval->high;
    }
  }
  return details;
}

std::vector<HeatDetail> interfere_details(const RunAnalysis& analysis, const Contention& kind,
                                          const HeatMap& map) {
  // The victim alone has aggressors "none" and no work of theirs.
  const Estimates found = latencies(analysis, "interfere", "victim", "aggressors",
                                    [&](const Schema& schema, const Row& row) {
                                      return row.text(schema, "victim_work") == kind.victim_work &&
                                             (row.text(schema, "aggressors") == "none" ||
                                              row.text(schema, "aggressor_work") == kind.work);
                                    });
  std::vector<HeatDetail> details;
  bool any = false;
  for (const std::string& row : map.rows) {
    const auto alone = found.find({row, "none"});
    for (const std::string& column : map.columns) {
      HeatDetail& one = details.emplace_back();
      const auto at = found.find({row, column});
      if (at == found.end() || alone == found.end()) continue;
      any = true;
      one.n = at->second.n;
      if (!at->second.interval || !alone->second.interval || alone->second.interval->low <= 0) {
        continue;
      }
      one.low = at->second.interval->low / alone->second.interval->high;
      one.high = at->second.interval->high / alone->second.interval->low;
    }
  }
  return any ? details : std::vector<HeatDetail>();
}

}  // namespace sonde
