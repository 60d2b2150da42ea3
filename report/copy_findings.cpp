#include <cmath>

#include "report/copy_figures.h"
#include "report/finding_list.h"

namespace sonde {
namespace {

/// Findings of the copies in one direction.
class CopyFindings {
 public:
  CopyFindings(const CopySeries& series, const std::string& suffix, FindingList& out)
      : series_(series),
        suffix_(suffix),
        where_(out.file("copy") + ": " + series.direction + " auto, "),
        out_(out) {}

  void switches() const {
    const auto& all = series_.shape.switches;
    for (std::size_t i = 0; i < all.size(); ++i) {
      const CopySwitch& found = all[i];
      const std::string end = suffix_ + ordinal_suffix(i);
      out_.position("copy.switch_bytes" + end, found.last_old, found.last_old, found.first_new, "B",
                    where_ +
                        "jump of the median time against lines fitted on both sides; bracket is "
                        "last size on the old method and first on the new");
      Estimate cost{found.jump_s * 1e9, std::nullopt, found.n};
      if (found.jump_interval) {
        cost.interval = Interval{found.jump_interval->low * 1e9, found.jump_interval->high * 1e9};
      }
      out_.estimate("copy.switch_cost_ns" + end, cost, "ns",
                    where_ + "difference of the two fitted lines in the middle of the bracket");
      dip("copy.switch_dip", end, found.dip_depth, found.recovered_bytes);
    }
  }

  void edges() const {
    for (std::size_t i = 0; i < series_.shape.edges.size(); ++i) {
      const CopyEdge& edge = series_.shape.edges[i];
      const std::string end = suffix_ + ordinal_suffix(i);
      const Interval start = edge.start.value_or(Interval{edge.last_before, edge.first_in});
      out_.position("copy.edge_bytes" + end, edge.last_before, start.low, start.high, "B",
                    where_ + "last size before time per byte rises by " +
                        exact(std::round((edge.rise - 1) * 100)) +
                        (edge.capacity ? " % where two buffers fill a declared level of " +
                                             exact(*edge.capacity) + " B"
                                       : " % without a jump") +
                        "; bracket is where the rise may start");
      dip("copy.edge_dip", end, 1 - 1 / edge.rise, edge.recovered_bytes);
    }
  }

  void rest() const {
    for (std::size_t i = 0; i < series_.shape.classes.size(); ++i) {
      const CopyClass& one = series_.shape.classes[i];
      out_.estimate("copy.class_factor" + suffix_ + ordinal_suffix(i),
                    {one.factor, one.factor_interval, one.sizes}, "1",
                    where_ + "time of " + class_name(one) +
                        " over that of the sizes beside them, "
                        "median over sizes from " +
                        exact(one.from) + " to " + exact(one.to) + " B");
    }
    for (std::size_t i = 0; i < series_.shape.undecided.size(); ++i) {
      const CopyUndecided& one = series_.shape.undecided[i];
      out_.position("copy.undecided_bytes" + suffix_ + ordinal_suffix(i), one.last_before,
                    one.last_before, one.first_after, "B",
                    where_ + "a jump and a steep rise describe the sizes about equally well");
    }
    for (const MovedSwitch& one : series_.thresholds.moved) {
      if (!one.found) continue;
      out_.position("copy.moved_switch_bytes." + one.threshold + "." + exact(one.bytes) + suffix_,
                    one.found->last_old, one.found->last_old, one.found->first_new, "B",
                    where_ + "switch nearest to the threshold that was set");
    }
  }

  void peak(const std::optional<double>& roof) const {
    if (!series_.shape.peak) return;
    const CurvePoint& peak = *series_.shape.peak;
    const auto rate = [&](double factor) {
      Estimate estimate = series_.shape.peak_rate;
      *estimate.value *= factor;
      if (estimate.interval) {
        estimate.interval =
            Interval{factor * estimate.interval->low, factor * estimate.interval->high};
      }
      return estimate;
    };
    const std::string at =
        where_ + "bytes counted once over median time at " + exact(peak.x) + " B, the best size";
    out_.estimate("copy.peak_bytes_per_s" + suffix_, rate(1), "B/s", at);
    // Only a copy inside the device's memory reads and writes that memory.
    if (roof && *roof > 0 && series_.direction == "d2d") {
      out_.estimate("copy.utilisation" + suffix_, rate(2.0 / *roof), "1",
                    at + ", read plus write over the datasheet memory bandwidth");
    }
  }

 private:
  void dip(const std::string& name, const std::string& end, double depth,
           const std::optional<double>& recovered) const {
    if (!(depth > 0)) return;
    out_.position(
        name + "_depth" + end, depth, std::nullopt, std::nullopt, "1",
        where_ + "largest loss of bandwidth behind it, as a part of the bandwidth before");
    if (recovered) {
      out_.position(name + "_end_bytes" + end, *recovered, std::nullopt, std::nullopt, "B",
                    where_ + "first tested size at which bandwidth is what it was before");
    }
  }

  const CopySeries& series_;
  const std::string suffix_;
  const std::string where_;
  FindingList& out_;
};

}  // namespace

void copy_findings(const RunAnalysis& analysis, FindingList& out) {
  const std::optional<double> roof = analysis.run->manifest.device.roof("memory_bytes_per_s");
  const std::vector<const CopySeries*> all = analysis.copy->main_series();
  for (std::size_t s = 0; s < all.size(); ++s) {
    const CopyFindings findings(*all[s], series_suffix(s, all[s]->direction), out);
    findings.switches();
    findings.edges();
    findings.rest();
    findings.peak(roof);
  }
}

}  // namespace sonde
