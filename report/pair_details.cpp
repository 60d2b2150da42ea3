#include "report/pair_details.h"

#include <map>

namespace sonde {
namespace {

using Pair = std::pair<std::string, std::string>;
using Estimates = std::map<Pair, Estimate>;

/// By code: whether a map shows that text.
std::vector<bool> shown(const TextColumn& column, const std::vector<std::string>& names) {
  std::vector<bool> codes(column.texts().size(), false);
  for (const std::string& name : names) {
    if (const auto code = column.find(name)) codes[*code] = true;
  }
  return codes;
}

/// Latency by the cores of two axes, of the points of a map that `fits` takes. A pair of two points
/// (one measured in two ways) is left out: its cell is not one median.
Estimates latencies(const RunAnalysis& analysis, const std::string& probe, const std::string& row,
                    const std::string& column, const HeatMap& map, const auto& fits) {
  Estimates found;
  const auto rows = analysis.grouped.find(probe);
  if (rows == analysis.grouped.end()) return found;
  const GroupedRows& grouped = rows->second;
  const Sampling sampling = sampling_of(analysis.run->manifest, grouped);
  const TextColumn &row_texts = grouped.rows->texts(grouped.schema->index(row)),
                   &column_texts = grouped.rows->texts(grouped.schema->index(column));
  const std::vector<bool> in_rows = shown(row_texts, map.rows);
  std::vector<std::string> names = map.columns;
  names.emplace_back("none");  // a victim alone
  const std::vector<bool> in_columns = shown(column_texts, names);
  std::map<Pair, int> seen;
  for (const PointRows& point : grouped.points) {
    const std::size_t at = point.first.index();
    if (!in_rows[row_texts.code(at)] || !in_columns[column_texts.code(at)]) continue;
    if (!fits(*grouped.schema, point.first)) continue;
    const Pair pair(point.first.text(*grouped.schema, row),
                    point.first.text(*grouped.schema, column));
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
      analysis, "handoff", "from", "to", map,
      [&](const Schema& schema, const RowView& row) { return row.text(schema, "kind") == kind; });
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
  const Estimates found = latencies(analysis, "interfere", "victim", "aggressors", map,
                                    [&](const Schema& schema, const RowView& row) {
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
