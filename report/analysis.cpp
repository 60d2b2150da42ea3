#include "report/analysis.h"

#include <algorithm>
#include <future>
#include <new>
#include <set>

#include "core/error.h"
#include "report/conditions.h"
#include "report/pairs.h"

namespace sonde {
namespace {

/// A point of the chase with its axes taken apart.
struct ChasePoint {
  std::string core;
  std::optional<std::vector<CoreName>> set;  ///< nullopt: a kind, placed by the device
  std::int64_t blocks = 0;
  double footprint = 0;
  std::string state;
  const PointRows* rows = nullptr;
};

/// The (footprint, state) that most of `points` share; the earlier one on a tie.
template <class Key>
std::optional<Key> most_common(const std::vector<Key>& keys) {
  std::map<Key, int> count;
  std::optional<Key> best;
  for (const Key& key : keys) ++count[key];
  for (const Key& key : keys) {
    if (!best || count[key] > count[*best]) best = key;
  }
  return best;
}

using Place = std::pair<double, std::string>;  // footprint, state

ChaseAnalysis analyse_chase(const GroupedRows& rows, const Manifest& manifest) {
  const Schema& schema = *rows.schema;
  const Sampling sampling = sampling_of(manifest, rows);
  ChaseAnalysis result;

  std::vector<ChasePoint> points;
  const std::vector<std::string> kinds = manifest.device.kinds();
  for (const PointRows& point : rows.points) {
    const RowView& row = point.first;
    ChasePoint parsed{.core = row.text(schema, "core"),
                      .set = std::nullopt,
                      .blocks = row.integer(schema, "blocks").value_or(0),
                      .footprint = row.number(schema, "footprint_bytes").value_or(0),
                      .state = row.text(schema, "state"),
                      .rows = &point};
    if (std::find(kinds.begin(), kinds.end(), parsed.core) == kinds.end()) {
      try {
        parsed.set = parse_core_set(parsed.core);
      } catch (const UsageError&) {
        // Neither a kind nor a set: it can still be drawn over footprint by its name.
      }
    }
    points.push_back(std::move(parsed));
  }
  const auto curve_of = [&](const ChasePoint& point, double x) {
    return curve_point(rows, *point.rows, x, "latency_ns", sampling);
  };
  const auto alone = [](const ChasePoint& point) {
    return point.blocks == 1 && point.set && point.set->size() == 1;
  };

  // Single cores, at the footprint and state that most of them were measured at.
  std::vector<Place> places;
  std::set<std::pair<std::string, Place>> seen;
  for (const ChasePoint& point : points) {
    const Place place{point.footprint, point.state};
    if (alone(point) && seen.insert({point.core, place}).second) places.push_back(place);
  }
  // On a tie (one core, many footprints) the device's own default footprint is the core series.
  std::stable_sort(places.begin(), places.end(), [&](const Place& a, const Place& b) {
    const auto standard = static_cast<double>(manifest.device.chase_footprint_bytes);
    return (a.first == standard) > (b.first == standard);
  });
  if (const auto place = most_common(places)) {
    CoreSeries series{place->first, place->second, {}};
    std::vector<CoreLatency> cores;
    for (const ChasePoint& point : points) {
      if (!alone(point) || Place{point.footprint, point.state} != *place) continue;
      const CoreName name = point.set->front();
      if (auto at = curve_of(point, name.number)) cores.push_back({name, std::move(*at), false});
    }
    if (!cores.empty()) {
      series.latencies = judge_cores(std::move(cores));
      result.cores = std::move(series);
    }
  }

  // Blocks: by kind where the device places them, else sets of one core a block.
  for (const std::string& kind : kinds) {
    std::vector<const ChasePoint*> placed, named;
    for (const ChasePoint& point : points) {
      if (point.core == kind) placed.push_back(&point);
      if (point.set && !point.set->empty() &&
          static_cast<std::size_t>(point.blocks) == point.set->size() &&
          std::all_of(point.set->begin(), point.set->end(),
                      [&](const CoreName& core) { return core.kind == kind; })) {
        named.push_back(&point);
      }
    }
    const bool by_device = !placed.empty();
    const std::vector<const ChasePoint*>& candidates = by_device ? placed : named;
    std::vector<Place> block_places;
    for (const ChasePoint* point : candidates) {
      if (by_device || point->blocks > 1) block_places.emplace_back(point->footprint, point->state);
    }
    const auto place = most_common(block_places);
    if (!place) continue;
    BlockSeries series{kind, place->first, place->second, {}, by_device, {}};
    std::set<std::int64_t> counts;
    for (const ChasePoint* point : candidates) {
      if (Place{point->footprint, point->state} != *place) continue;
      if (!counts.insert(point->blocks).second) continue;  // the first set of that many cores
      if (auto at = curve_of(*point, static_cast<double>(point->blocks))) {
        series.latency.push_back(std::move(*at));
      }
    }
    sort_by_x(series.latency);
    if (series.latency.empty()) continue;
    if (by_device && manifest.device.places_blocks) series.wave = find_wave(series.latency);
    result.blocks.push_back(std::move(series));
  }

  // Footprints: the core (or kind, one block) with most footprints, warm where there is a choice.
  std::map<std::pair<std::string, std::string>, std::set<double>> footprints;
  for (const ChasePoint& point : points) {
    if (point.blocks == 1) footprints[{point.core, point.state}].insert(point.footprint);
  }
  const std::pair<const std::pair<std::string, std::string>, std::set<double>>* chosen = nullptr;
  for (const auto& entry : footprints) {
    if (entry.second.size() < 2) continue;
    const bool warm = entry.first.second == "warm";
    const bool chosen_warm = chosen != nullptr && chosen->first.second == "warm";
    if (chosen == nullptr || (warm && !chosen_warm) ||
        (warm == chosen_warm && entry.second.size() > chosen->second.size())) {
      chosen = &entry;
    }
  }
  if (chosen != nullptr) {
    FootprintSeries series{chosen->first.first, chosen->first.second, {}, {}};
    for (const ChasePoint& point : points) {
      if (point.blocks != 1 || point.core != series.core || point.state != series.state) continue;
      if (auto at = curve_of(point, point.footprint)) series.latency.push_back(std::move(*at));
    }
    sort_by_x(series.latency);
    if (!series.latency.empty()) {
      series.levels = find_levels(series.latency);
      result.footprints = std::move(series);
    }
  }
  return result;
}

/// Distinct values of a text column, in order of first appearance, those of `without` left out.
std::vector<std::string> values_of(const GroupedRows& rows, const char* column,
                                   const std::string& without) {
  std::vector<std::string> values;
  for (const PointRows& point : rows.points) {
    const std::string value = point.first.text(*rows.schema, column);
    if (value == without || point.ok.empty()) continue;
    if (std::find(values.begin(), values.end(), value) == values.end()) values.push_back(value);
  }
  return values;
}

}  // namespace

RunAnalysis analyse_run(const StoredRun& run) {
  RunAnalysis analysis;
  analysis.run = &run;
  const Manifest& manifest = run.manifest;
  const TimeSource source = manifest.device.time_source;
  const ProbeRows* profile = run.probe("profile");
  const ProbeRows* interfere = run.probe("interfere");
  const ProbeRows* handoff = run.probe("handoff");
  const auto has_rows = [](const ProbeRows* rows) { return rows != nullptr && rows->table; };
  // The tree takes about as long as all the rest and needs nothing of it. Without a launch policy a
  // machine that gives no thread infers it at the end.
  std::shared_future<ContentionSamples> slow_downs;
  if (has_rows(interfere)) {
    slow_downs = std::async([&] { return slow_downs_of(*interfere, source); });
  }
  std::future<CoreTree> tree;
  if (has_rows(profile) || has_rows(interfere) || has_rows(handoff)) {
    tree = std::async([&run, slow_downs] {
      return infer_core_tree(run, [&]() -> const ContentionSamples& { return slow_downs.get(); });
    });
  }
  for (const ProbeRows& probe : run.probes) {
    if (!probe.table) continue;
    const std::string& name = probe.schema->probe;
    if (probe.schema == &profile_schema()) {
      analysis.counts[name] = count_profile_rows(probe, source);
      add_profile_conditions(probe, source, analysis.conditions);
      continue;
    }
    const GroupedRows& rows = analysis.grouped[name] = group_rows(probe, source);
    analysis.counts[name] = rows.counts;
    add_conditions(rows, analysis.conditions);
  }
  const auto rows_of = [&](const Schema& schema) -> const GroupedRows* {
    const auto found = analysis.grouped.find(schema.probe);
    return found == analysis.grouped.end() ? nullptr : &found->second;
  };
  if (const GroupedRows* rows = rows_of(chase_schema())) {
    analysis.chase = analyse_chase(*rows, manifest);
  }
  if (const GroupedRows* rows = rows_of(copy_schema())) {
    analysis.copy = analyse_copies(*rows, manifest);
  }
  std::optional<Estimate> read_bandwidth;
  if (const GroupedRows* rows = rows_of(stream_schema())) {
    analysis.stream = analyse_stream(*rows, manifest);
    const auto best = analysis.stream->best("read", true);
    if (best) read_bandwidth = best->bandwidth.y;
  }
  if (const GroupedRows* rows = rows_of(gemm_schema())) {
    analysis.gemm = analyse_gemm(*rows, manifest, read_bandwidth);
  }
  if (has_rows(profile)) analysis.profile = profile_distance(*profile, source);
  if (slow_downs.valid()) {
    ContentionSamples again;
    const auto all = [&]() -> const ContentionSamples& {
      try {
        return slow_downs.get();
      } catch (const std::bad_alloc&) {
        return again = slow_downs_of(*interfere, source);  // beside the rest it was too much
      }
    };
    for (const auto& [kind, samples] : all()) {
      analysis.interfere.emplace_back(kind, medians(samples));
    }
    judge_slow_downs(analysis);
  }
  if (const GroupedRows* rows = rows_of(handoff_schema())) {
    for (const std::string& kind : values_of(*rows, "kind", "")) {
      if (auto matrix = handoff_latency(*handoff, source, kind)) {
        analysis.handoff.emplace_back(kind, std::move(*matrix));
      }
    }
  }
  if (tree.valid()) {
    try {
      analysis.tree = tree.get();
    } catch (const std::bad_alloc&) {
      analysis.tree = infer_core_tree(run);  // beside the rest it was too much
    }
  }
  return analysis;
}

}  // namespace sonde
