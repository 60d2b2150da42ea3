#include "report/copy_thresholds.h"

#include <algorithm>
#include <cmath>

#include "core/parse.h"

namespace sonde {
namespace {

/// Sizes closer than this are the same place: a step of the coarse ladder that is used here.
constexpr double kSamePlace = 1.19;
/// Edges are wide: within so much it is the same one.
constexpr double kSameEdge = 2.0;

/// Threshold and value of "glibc.cpu.NAME=VALUE"; nullopt for anything else, several at once among
/// it.
std::optional<MovedSwitch> parse_setting(const std::string& tunables) {
  const std::size_t equals = tunables.find('=');
  if (equals == std::string::npos || tunables.find(':') != std::string::npos) return std::nullopt;
  const std::string name = tunables.substr(0, equals);
  const std::optional<std::int64_t> value = parse_integer(tunables.substr(equals + 1));
  if (!value || *value <= 0) return std::nullopt;
  MovedSwitch setting;
  setting.threshold = name.substr(name.rfind('.') + 1);
  setting.bytes = static_cast<double>(*value);
  return setting;
}

/// Distance of a size from a bracket, as a part of the size; 0 inside.
double off_bracket(double bytes, double low, double high) {
  if (bytes < low) return low / bytes - 1;
  return bytes < high ? 0 : 1 - high / bytes;
}

const CopySwitch* switch_at(const CopyShape& shape, double low, double high) {
  for (const CopySwitch& one : shape.switches) {
    if (one.last_old <= high * kSamePlace && one.first_new >= low / kSamePlace) return &one;
  }
  return nullptr;
}

bool edge_at(const CopyShape& shape, double bytes) {
  const auto near = [&](double other) {
    return other <= bytes * kSameEdge && other >= bytes / kSameEdge;
  };
  // A steep edge may be taken for a jump in one curve and not in the next: it is there all the
  // same.
  return std::any_of(shape.edges.begin(), shape.edges.end(),
                     [&](const CopyEdge& edge) { return near(edge.last_before); }) ||
         std::any_of(shape.switches.begin(), shape.switches.end(),
                     [&](const CopySwitch& one) { return one.jump_s > 0 && near(one.last_old); });
}

}  // namespace

ThresholdJudgement judge_thresholds(const CopyShape& usual, const std::vector<TunedShape>& tuned) {
  ThresholdJudgement result;
  std::vector<std::pair<MovedSwitch, const TunedShape*>> settings;
  for (const TunedShape& one : tuned) {
    std::optional<MovedSwitch> setting = parse_setting(one.tunables);
    if (!setting) continue;
    double best = kSamePlace - 1;
    for (const CopySwitch& found : one.shape->switches) {
      const double off = off_bracket(setting->bytes, found.last_old, found.first_new);
      if (off > best) continue;
      best = off;
      setting->found = found;
      setting->off = off;
    }
    settings.emplace_back(*setting, &one);
    result.moved.push_back(*setting);
  }
  for (const CopySwitch& one : usual.switches) {
    BreakpointCause cause{one.last_old, one.first_new, true, false, ""};
    int seen = 0, there = 0;
    for (const auto& [setting, curve] : settings) {
      if (curve->to < 2 * one.first_new || curve->from > one.last_old / 2) continue;
      ++seen;
      // Where the setting itself is that place, both are one.
      const bool still = switch_at(*curve->shape, one.last_old, one.first_new) != nullptr;
      there += still ? 1 : 0;
      if (!still && setting.found) cause.moved_by = setting.threshold;
    }
    cause.stays = seen > 0 && there == seen;
    result.causes.push_back(cause);
  }
  for (const CopyEdge& edge : usual.edges) {
    BreakpointCause cause{edge.last_before, edge.first_in, false, false, ""};
    int seen = 0, there = 0;
    for (const auto& [setting, curve] : settings) {
      // Beyond the threshold that was lowered other instructions copy: they need not see the cache.
      const bool other_method = setting.bytes <= edge.top_bytes * kSameEdge &&
                                setting.threshold.find("non_temporal") != std::string::npos;
      if (curve->to < 4 * edge.first_in || other_method) continue;
      ++seen;
      there += edge_at(*curve->shape, edge.last_before) ? 1 : 0;
    }
    cause.stays = seen > 0 && there == seen;
    result.causes.push_back(cause);
  }
  std::sort(result.causes.begin(), result.causes.end(),
            [](const BreakpointCause& a, const BreakpointCause& b) {
              return a.last_before < b.last_before;
            });
  return result;
}

}  // namespace sonde
