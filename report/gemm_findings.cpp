#include <algorithm>

#include "report/finding_list.h"
#include "report/show.h"

namespace sonde {
namespace {

Estimate plain(double value, std::size_t n) {
  return {value, std::nullopt, static_cast<std::int64_t>(n)};
}

/// What is found beside the statistics over all shapes.
void further_findings(const GemmAnalysis& gemm, const std::string& file, FindingList& out) {
  for (const RegisterPeak& peak : gemm.registers) {
    out.estimate(
        "gemm.register_flop_per_s." + peak.dtype + (peak.kernel == "register" ? "" : ".vector"),
        peak.rate, "FLOP/s", out.file("gemm") + ": loop in registers alone, " + peak.instructions);
  }
  if (const GemmRoofline* line = gemm.main_roofline()) {
    const std::string over =
        "median of rate over attainable, " + line->name + " roofs; n counts shapes";
    const auto bound = [&](const char* metric, const char* unit,
                           std::optional<double> GemmShape::*value) {
      std::vector<double> values;
      for (const GemmShape& shape : gemm.shapes) {
        if (shape.intensity >= line->ridge() && shape.*value) values.push_back(*(shape.*value));
      }
      out.estimate(
          std::string("gemm.") + metric + ".above_ridge.median",
          {median(values), median_interval(values), static_cast<std::int64_t>(values.size())}, unit,
          file + "median over the shapes at or above the ridge of the " + line->name +
              " roofs; n counts shapes");
    };
    bound("power_w", "W", &GemmShape::power_w);
    bound("clock_mhz", "MHz", &GemmShape::clock_mhz);
    for (const GemmGroup& group : gemm.groups) {
      out.estimate("gemm.by_" + group.by + "." + group.name + ".median" + line->suffix,
                   group.median, "1", file + "shapes of one " + group.by + ", " + over);
    }
    for (const GemmPattern& pattern : gemm.patterns) {
      const auto has = std::count_if(pattern.loss.begin(), pattern.loss.end(),
                                     [](double loss) { return loss > 0; });
      out.estimate("gemm.pattern." + pattern.name + line->suffix,
                   plain(pattern.effect, static_cast<std::size_t>(has)), "1",
                   file + "permutation test, " + line->name + " roofs: " + pattern.sentence);
    }
  }
  if (gemm.impossible) {
    out.estimate("gemm.impossible_shapes",
                 plain(static_cast<double>(gemm.impossible->size()), gemm.shapes.size()), "shapes",
                 file + "faster than the " + gemm.impossible_by +
                     " allow by more than the 95 % intervals of both");
  }
  if (gemm.anchors.size() > 1) {
    std::vector<double> times;
    for (const Estimate& anchor : gemm.anchors) times.push_back(*anchor.value);
    const auto [least, most] = std::minmax_element(times.begin(), times.end());
    out.estimate("gemm.anchor_spread", plain((*most - *least) / *median(times), times.size()), "1",
                 file +
                     "slowest less fastest over the median time of the anchor shape, which was "
                     "measured before every 50th shape; n counts its turns");
  }
  out.estimate("gemm.interval_width.median", gemm.interval_width, "1",
               file + "median over the shapes of the 95 % interval's width over the time");
}

}  // namespace

void gemm_findings(const GemmAnalysis& gemm, FindingList& out) {
  if (gemm.shapes.empty()) return;
  const std::string file = out.file("gemm") + ": " + gemm.dtype + ", kernel " + gemm.kernel + ", ";
  for (const GemmRoofline& line : gemm.rooflines) {
    const std::string over = " of rate over attainable, " + line.name + " roofs (" +
                             show_quantity(line.peak, "FLOP/s") + ", " +
                             show_quantity(line.bandwidth, "B/s") + "); n counts shapes";
    const std::string boot = file + "bootstrap over shapes; ";
    const auto add = [&](const std::string& name, const Estimate& value, const std::string& basis) {
      out.estimate("gemm." + name + line.suffix, value, "1", basis);
    };
    add("fraction.mean", line.mean, boot + "mean" + over);
    add("fraction.median", line.median, boot + "median" + over);
    add("fraction.time_weighted", line.time_weighted,
        boot + "mean weighted by each shape's median time" + over);
    std::string best = file + "largest value" + over;
    best.replace(best.rfind("shapes"), 6, "samples");
    add("best", line.best, best);
    const std::string ridge = show_quantity(line.ridge(), "FLOP/B") + ", median" + over;
    add("below_ridge.median", line.below_ridge, boot + "shapes below the ridge of " + ridge);
    add("above_ridge.median", line.above_ridge, boot + "shapes at or above the ridge of " + ridge);
    add("near_ridge.median", line.near_ridge,
        boot + "shapes within a factor of " + exact(kNearRidge) + " of the ridge of " + ridge);
    add("below_236.median", line.below_236,
        boot + "shapes below " + exact(kStudyRidge) + " FLOP/B, median" + over);
  }
  out.estimate("gemm.peak_flop_per_s", gemm.peak, "FLOP/s",
               file + "best median rate of a shape, " + gemm.peak_shape);
  const auto manifest_value = [&](const std::string& name, std::optional<double> value,
                                  const std::string& unit, const std::string& basis) {
    if (value) out.position(name, value, std::nullopt, std::nullopt, unit, basis);
  };
  manifest_value("gemm.peak_flop_per_s.datasheet", gemm.datasheet_peak, "FLOP/s",
                 "manifest.json: roof " + gemm.dtype + "_flop_per_s");
  if (gemm.peak.value && gemm.read_bandwidth && gemm.read_bandwidth->value) {
    Estimate ridge{*gemm.peak.value / *gemm.read_bandwidth->value, std::nullopt, gemm.peak.n};
    if (gemm.peak.interval && gemm.read_bandwidth->interval) {
      ridge.interval = Interval{gemm.peak.interval->low / gemm.read_bandwidth->interval->high,
                                gemm.peak.interval->high / gemm.read_bandwidth->interval->low};
    }
    out.estimate("gemm.ridge_flop_per_byte", ridge, "FLOP/B",
                 "gemm.peak_flop_per_s over stream.memory_bytes_per_s.read; the interval takes the "
                 "far ends of both");
  }
  if (gemm.datasheet_peak && gemm.datasheet_bandwidth && *gemm.datasheet_bandwidth > 0) {
    manifest_value("gemm.ridge_flop_per_byte.datasheet",
                   *gemm.datasheet_peak / *gemm.datasheet_bandwidth, "FLOP/B",
                   "manifest.json: roof " + gemm.dtype + "_flop_per_s over memory_bytes_per_s");
  }
  further_findings(gemm, file, out);
}

}  // namespace sonde
