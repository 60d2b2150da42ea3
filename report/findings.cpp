#include "report/findings.h"

#include <cmath>

#include "core/csv_writer.h"
#include "report/finding_list.h"

namespace sonde {
namespace {

std::string at_size(double footprint, const std::string& state) {
  return state + ", " + exact(footprint) + " B a block";
}

void chase_findings(const ChaseAnalysis& chase, FindingList& out) {
  const std::string file = out.file("chase");
  if (chase.cores) {
    for (const CoreLatency& core : chase.cores->latencies.cores) {
      out.estimate("chase.latency_ns.core_" + core.core.str(), core.point.y, "ns",
                   file + ": median over repetitions, " +
                       at_size(chase.cores->footprint, chase.cores->state) +
                       (core.outlier ? "; outlier among the cores of its kind" : ""));
    }
  }
  for (std::size_t i = 0; i < chase.blocks.size(); ++i) {
    const BlockSeries& series = chase.blocks[i];
    const std::string suffix = series_suffix(i, series.kind);
    for (const CurvePoint& point : series.latency) {
      out.estimate("chase.latency_ns.blocks_" + exact(point.x) + suffix, point.y, "ns",
                   file + ": median over repetitions of launch time over loads a block, " +
                       at_size(series.footprint, series.state));
    }
    if (series.wave.found) {
      out.position("chase.wave_blocks" + suffix, static_cast<double>(series.wave.last_in),
                   static_cast<double>(series.wave.last_in),
                   static_cast<double>(series.wave.first_beyond), "blocks",
                   file +
                       ": largest step of the median latency between neighbouring block counts; "
                       "bracket is last inside and first beyond");
    }
  }
  if (chase.footprints) {
    const auto& plateaus = chase.footprints->levels.plateaus;
    for (std::size_t i = 0; i < plateaus.size(); ++i) {
      const MemoryPlateau& level = plateaus[i];
      const std::string name = "chase.level_" + std::to_string(i + 1);
      out.estimate(name + ".latency_ns", level.latency, "ns",
                   file + ": median of all samples at " + std::to_string(level.points) +
                       " footprints on the plateau, " + chase.footprints->core + " " +
                       chase.footprints->state);
      if (level.next) {
        out.position(
            name + ".capacity_bytes", level.last, level.last, level.next, "B",
            file +
                ": largest footprint on the plateau; bracket ends at the first of the next "
                "plateau");
      } else {
        out.position(name + ".capacity_bytes", std::nullopt, level.last, std::nullopt, "B",
                     file + ": no end found up to the largest footprint tested (low)");
      }
    }
  }
}

std::string cell(const std::optional<double>& value) { return value ? exact(*value) : ""; }

}  // namespace

std::string ordinal_suffix(std::size_t index) {
  return index == 0 ? "" : "." + std::to_string(index + 1);
}

std::string series_suffix(std::size_t index, const std::string& name) {
  return index == 0 ? "" : "." + name;
}

std::vector<Finding> find_findings(const RunAnalysis& analysis) {
  FindingList out(analysis);
  if (analysis.chase) chase_findings(*analysis.chase, out);
  topology_findings(analysis, out);
  pair_findings(analysis, out);
  if (analysis.stream) stream_findings(*analysis.stream, out);
  if (analysis.copy) copy_findings(analysis, out);
  if (analysis.gemm) gemm_findings(*analysis.gemm, out);
  for (const Condition& condition : analysis.conditions) {
    out.estimate(condition.probe + "." + condition.metric + ".median", condition.value,
                 condition.unit, out.file(condition.probe) + ": median over the points");
  }
  const Manifest& manifest = analysis.run->manifest;
  const auto idle = [&](const char* name, const std::optional<double>& value, const char* unit) {
    if (!value) return;
    out.estimate(name, {.value = value, .interval = std::nullopt, .n = 1}, unit,
                 "manifest.json: one reading before the first sample");
  };
  idle("idle.power_w", manifest.idle_power_w, "W");
  idle("idle.temperature_c", manifest.idle_temperature_c, "degC");
  return out.take();
}

std::string findings_csv(const std::vector<Finding>& findings) {
  std::string text = "run,name,value,low,high,unit,time_source,n,basis\n";
  for (const Finding& f : findings) {
    text += quote_cell(format_cell(Cell(f.run))) + ',' + quote_cell(f.name) + ',' + cell(f.value) +
            ',' + cell(f.low) + ',' + cell(f.high) + ',' + f.unit + ',' + to_string(f.source) +
            ',' + (f.n ? std::to_string(*f.n) : "") + ',' + quote_cell(format_cell(Cell(f.basis))) +
            '\n';
  }
  return text;
}

}  // namespace sonde
