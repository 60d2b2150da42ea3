#include "report/stream.h"

#include <algorithm>

#include "core/error.h"

namespace sonde {

std::string StreamPoint::core_kind() const {
  if (cores.empty()) return "unknown";
  const bool one = std::all_of(cores.begin(), cores.end(), [&](const CoreName& core) {
    return core.kind == cores.front().kind;
  });
  return one ? cores.front().kind : "mixed";
}

double StreamPoint::total_bytes() const {
  const double arrays = kind == "triad" ? 3 : kind == "copy" ? 2 : 1;
  return arrays * static_cast<double>(bytes) * (shared ? 1 : static_cast<double>(cores.size()));
}

namespace {

/// The fastest of the points that `take` accepts.
template <class Take>
std::optional<StreamPoint> fastest(const std::vector<StreamPoint>& points, const Take& take) {
  std::vector<Estimate> bandwidths;
  const StreamPoint* found = nullptr;
  for (const StreamPoint& point : points) {
    if (!take(point)) continue;
    bandwidths.push_back(point.bandwidth.y);
    if (found == nullptr || *point.bandwidth.y.value > *found->bandwidth.y.value) found = &point;
  }
  if (found == nullptr) return std::nullopt;
  StreamPoint best = *found;
  best.bandwidth.y = largest_of(bandwidths);
  return best;
}

}  // namespace

std::optional<StreamPoint> StreamAnalysis::best(const std::string& kind, bool memory) const {
  return fastest(points, [&](const StreamPoint& point) {
    return point.kind == kind && (point.memory || !memory);
  });
}

std::optional<StreamPoint> StreamAnalysis::best_of_one_core(const std::string& kind) const {
  return fastest(points, [&](const StreamPoint& point) {
    return point.kind == kind && point.memory && point.cores.size() == 1;
  });
}

std::vector<std::string> StreamAnalysis::kinds() const {
  std::vector<std::string> all;
  for (const StreamPoint& point : points) {
    if (std::find(all.begin(), all.end(), point.kind) == all.end()) all.push_back(point.kind);
  }
  return all;
}

namespace {

constexpr const char* kShapes[] = {"tile_bytes", "buffers", "reread", "alignment_bytes"};

}  // namespace

StreamAnalysis analyse_stream(const GroupedRows& rows, const Manifest& manifest) {
  const Schema& schema = *rows.schema;
  const Sampling sampling = sampling_of(manifest, rows);
  const std::optional<std::int64_t> memory_from = manifest.device.memory_from_bytes();
  StreamAnalysis result;
  for (const PointRows& group : rows.points) {
    const RowView& row = group.first;
    // Tiles, buffers, re-reads and alignments that were asked for are a question of their own.
    const bool shaped = std::any_of(std::begin(kShapes), std::end(kShapes), [&](const char* axis) {
      return row.integer(schema, axis).has_value();
    });
    if (shaped) continue;
    StreamPoint point;
    point.cores_text = row.text(schema, "cores");
    try {
      point.cores = parse_core_set(point.cores_text);
    } catch (const UsageError&) {
      continue;  // without its cores a bandwidth says nothing
    }
    auto at = curve_point(rows, group, static_cast<double>(point.cores.size()),
                          "bandwidth_bytes_per_s", sampling);
    if (!at) continue;
    point.bandwidth = std::move(*at);
    const auto whole = [&](const char* name) { return row.integer(schema, name).value_or(0); };
    point.kind = row.text(schema, "kind");
    point.store = row.text(schema, "store");
    point.bytes = whole("bytes");
    point.request_bytes = whole("request_bytes");
    point.requests = whole("requests");
    point.passes = whole("passes");
    point.shared = row.text(schema, "addresses") == "shared";
    // Cores that walk the same addresses answer each other from the cache, however long the walk.
    point.memory =
        memory_from && !point.shared && point.total_bytes() > static_cast<double>(*memory_from);
    result.points.push_back(std::move(point));
  }
  return result;
}

}  // namespace sonde
