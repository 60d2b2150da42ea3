#include "report/compare_context.h"

#include <algorithm>
#include <map>
#include <set>

#include "core/parse.h"
#include "report/inputs.h"

namespace sonde {
namespace {

using Lines = std::vector<std::string>;

std::string told(const std::string& text) { return text.empty() ? "not stated" : text; }

void differ(Lines& lines, const std::string& what, const std::string& a, const std::string& b) {
  if (a != b) lines.push_back(what + ": " + told(a) + ", then " + told(b));
}

/// Every name of either side, in order.
void differ_all(Lines& lines, const std::string& what, const std::map<std::string, std::string>& a,
                const std::map<std::string, std::string>& b) {
  std::set<std::string> names;
  for (const auto& [name, value] : a) names.insert(name);
  for (const auto& [name, value] : b) names.insert(name);
  const auto value = [](const auto& side, const std::string& name) {
    const auto found = side.find(name);
    return found == side.end() ? std::string() : found->second;
  };
  for (const std::string& name : names) differ(lines, what + name, value(a, name), value(b, name));
}

std::map<std::string, std::string> conditions(const StoredRun& run) {
  const auto& all = run.manifest.device.conditions;
  return {all.begin(), all.end()};
}

void add_stale(const StoredRun& run, Lines& notes) {
  const auto changed = changed_since(run.dir / "report", run);
  if (!changed || changed->empty()) return;
  notes.push_back((run.dir / "report").string() + " is stale: it was made from other rows of " +
                  join_names(*changed) + "; `sonde report --run " + run.dir.string() +
                  "` draws it anew");
}

}  // namespace

RunSide run_side(const StoredRun& run) {
  const Manifest& manifest = run.manifest;
  return {run.dir.string(), manifest.device.name, manifest.device.product, manifest.started_utc,
          manifest.revision};
}

Lines differences_between(const StoredRun& a, const StoredRun& b) {
  Lines lines;
  const Manifest& of_a = a.manifest;
  const Manifest& of_b = b.manifest;
  differ(lines, "device", of_a.device.name, of_b.device.name);
  differ(lines, "product", of_a.device.product, of_b.device.product);
  differ(lines, "time source", to_string(of_a.device.time_source),
         to_string(of_b.device.time_source));
  differ(lines, "cores", format_core_set(of_a.device.cores), format_core_set(of_b.device.cores));
  differ(lines, "seed", std::to_string(of_a.seed), std::to_string(of_b.seed));
  differ(lines, "version", of_a.version, of_b.version);
  differ(lines, "revision", of_a.revision, of_b.revision);
  differ(lines, "build preset", of_a.build_preset, of_b.build_preset);
  differ_all(lines, "condition ", conditions(a), conditions(b));
  for (const Step& step : of_a.steps) {
    const Step* other = of_b.step(step.probe);
    if (other == nullptr) continue;
    differ_all(lines, step.probe + " option ", step.options, other->options);
    differ(lines, step.probe + " state", step.state, other->state);
  }
  return lines;
}

Lines reading_notes(const std::vector<const StoredRun*>& runs) {
  Lines notes;
  for (const StoredRun* run : runs) {
    const auto note = [&](const std::string& text) {
      notes.push_back(run->dir.string() + "/" + text);
    };
    for (const std::string& warning : run->warnings) note(warning);
    for (const ProbeRows& probe : run->probes) {
      if (probe.refused()) note(probe.file + " is refused: " + probe.problems.front());
      if (!probe.table) continue;
      const Rows& rows = probe.table->rows;
      std::int64_t lost = 0;
      for (std::size_t i = 0; i < rows.size(); ++i) {
        lost += rows.status(i) == Status::failed || rows.status(i) == Status::throttled;
      }
      if (lost > 0) {
        note(probe.file + ": " + format_count(lost) + " failed or throttled rows are left out");
      }
      if (probe.table->skipped > 0) {
        note(probe.file + ": " + format_count(probe.table->skipped) + " bad rows are left out");
      }
    }
    add_stale(*run, notes);
  }
  return notes;
}

}  // namespace sonde
