#include "report/headlines.h"

#include "report/copy_figures.h"
#include "report/figure.h"
#include "report/html.h"
#include "report/show.h"

namespace sonde {
namespace {

void card(std::string& out, const std::string& name, const std::string& value,
          const std::string& range) {
  out += "<li><span class=\"name\">" + html_text(name) + "</span><span class=\"value\">" +
         html_text(value) + "</span><span class=\"range\">" + html_text(range) + "</span></li>\n";
}

/// Value and range of a finding that stands alone.
void simple_card(std::string& out, const Finding* finding, const std::string& name) {
  if (finding == nullptr) return;
  card(out, name, finding->value ? show_brief(*finding, *finding->value) : "unknown",
       show_range(*finding));
}

std::string semicolon(const std::string& a, const std::string& b) {
  return a.empty() || b.empty() ? a + b : a + "; " + b;
}

/// Finds a finding of the run by its name; nullptr when it was not found.
struct Lookup {
  const std::vector<Finding>& findings;
  const Finding* operator()(const std::string& name) const { return find_finding(findings, name); }
};

void tree_cards(std::string& cards, const RunAnalysis& analysis, const Lookup& find) {
  const CoreTree& tree = *analysis.tree;
  if (tree.levels.empty()) {
    card(cards, "Groups of cores", tree.none_found ? "none found" : "cannot tell",
         tree.reason.substr(0, tree.reason.find(';')));  // the section has them all
  }
  std::string groups, stability;
  for (std::size_t i = 0; i < tree.levels.size(); ++i) {
    const std::string level = "topology.level_" + std::to_string(i + 1);
    const auto shown = [&](const std::string& name) {
      const Finding* finding = find(level + name);
      return finding != nullptr ? show_value(*finding, *finding->value) : std::string("unknown");
    };
    groups += (i == 0 ? "" : ", ") + shown(".groups");
    stability += (i == 0 ? "stability " : ", ") + shown(".stability");
  }
  if (!groups.empty()) card(cards, "Groups of cores, coarsest level first", groups, stability);
}

void chase_cards(std::string& cards, const ChaseAnalysis& chase, const Lookup& find) {
  for (std::size_t i = 0; i < chase.blocks.size(); ++i) {
    const BlockSeries& series = chase.blocks[i];
    if (!series.placed_by_device) continue;
    const std::string name = "Blocks in one wave, " + series.kind + " cores";
    if (series.wave.found) {
      simple_card(cards, find("chase.wave_blocks" + series_suffix(i, series.kind)), name);
    } else {
      card(cards, name, series.wave.cannot_tell ? "cannot tell" : "none found",
           series.wave.cannot_tell ? "too few block counts"
                                   : "no step in latency over the counts tested");
    }
  }
  for (std::size_t i = 1;; ++i) {
    const std::string level = "chase.level_" + std::to_string(i);
    const Finding* latency = find(level + ".latency_ns");
    const Finding* capacity = find(level + ".capacity_bytes");
    if (latency == nullptr || capacity == nullptr || !latency->value) break;
    card(cards,
         "Memory level " + std::to_string(i) +
             (capacity->value ? ", up to " + show_brief(*capacity, *capacity->value) : ", beyond"),
         show_brief(*latency, *latency->value),
         semicolon(show_range(*latency),
                   (capacity->value ? "ends " : "seen to ") +
                       (capacity->value ? show_range(*capacity)
                                        : show_brief(*capacity, capacity->low.value_or(0)))));
  }
  if (chase.footprints && chase.footprints->levels.plateaus.empty()) {
    const bool few = chase.footprints->levels.cannot_tell;
    card(cards, "Memory levels", few ? "cannot tell" : "none found",
         few ? "too few footprints" : "the latency keeps changing");
  }
}

void interfere_cards(std::string& cards, const RunAnalysis& analysis, const Lookup& find) {
  // One card: the work that slows most; the control is no result.
  const SlowDowns* most = nullptr;
  for (const SlowDowns& one : analysis.slow_downs) {
    if (one.kind.control()) continue;
    if (most == nullptr || one.largest > most->largest) most = &one;
  }
  if (most == nullptr) return;
  const Finding* above = find("interfere.above_register." + most->kind.label());
  card(cards, "Largest slow-down by one " + most->kind.work + " aggressor",
       show_number(most->largest, 3) + " times",
       above != nullptr ? show_value(*above, *above->value) + " of pairs above the register control"
                        : "too few pairs of the register control to compare with");
}

void copy_cards(std::string& cards, const CopyAnalysis& copy, const Lookup& find) {
  const std::vector<const CopySeries*> all = copy.main_series();
  for (std::size_t s = 0; s < all.size(); ++s) {
    const CopyShape& shape = all[s]->shape;
    const std::string suffix = series_suffix(s, all[s]->direction);
    const std::string where = ", " + all[s]->direction;
    if (shape.switches.empty()) {
      card(cards, "Copy method switch" + where, shape.cannot_tell ? "cannot tell" : "none found",
           shape.cannot_tell ? "too few sizes" : "no jump in time beyond the noise");
    }
    for (std::size_t i = 0; i < shape.switches.size(); ++i) {
      const std::string further = ordinal_suffix(i);
      const Finding* at = find("copy.switch_bytes" + suffix + further);
      const Finding* cost = find("copy.switch_cost_ns" + suffix + further);
      if (at == nullptr || cost == nullptr || !at->value || !cost->value) continue;
      card(cards, "Copy method switch" + where, "after " + show_brief(*at, *at->value),
           semicolon(show_range(*at), "time jumps by " + show_brief(*cost, *cost->value)));
    }
    for (std::size_t i = 0; i < shape.edges.size(); ++i) {
      simple_card(cards, find("copy.edge_bytes" + suffix + ordinal_suffix(i)),
                  "Copy leaves a cache" + where + ", from");
    }
    for (std::size_t i = 0; i < shape.classes.size(); ++i) {
      simple_card(
          cards, find("copy.class_factor" + suffix + ordinal_suffix(i)),
          "Copy time of " + class_name(shape.classes[i]) + " against sizes beside them" + where);
    }
    simple_card(cards, find("copy.peak_bytes_per_s" + suffix), "Best copy bandwidth" + where);
    const Finding* share = find("copy.utilisation" + suffix);
    const bool cached = share != nullptr && share->value.value_or(0) > 1;
    simple_card(cards, share,
                std::string("Share of datasheet memory bandwidth") +
                    (cached ? " (above it: caches answer at that size)" : "") + where);
  }
}

void gemm_cards(std::string& cards, const GemmAnalysis& gemm, const Lookup& find) {
  const GemmRoofline* line = gemm.main_roofline();
  if (line != nullptr) {
    simple_card(cards, find("gemm.fraction.median" + line->suffix),
                "GEMM rate over attainable, median, " + line->name + " roofs");
    simple_card(cards, find("gemm.fraction.time_weighted" + line->suffix),
                "GEMM rate over attainable, by time, " + line->name + " roofs");
  }
  simple_card(cards, find("gemm.peak_flop_per_s"), "Best GEMM rate");
  if (line != nullptr) {
    simple_card(cards, find("gemm.ridge_flop_per_byte" + line->suffix),
                "Ridge of the " + line->name + " roofs");
  }
}

}  // namespace

std::string show_value(const Finding& finding, double value) {
  if (finding.unit == "1") return show_number(100 * value, 3) + " %";
  std::string text = show_quantity(value, finding.unit);
  const bool jump = finding.name.rfind("copy.switch_cost_ns", 0) == 0;
  return jump && value > 0 ? "+" + text : text;
}

std::string show_brief(const Finding& finding, double value) {
  return finding.unit == "B" ? show_short_size(value) : show_value(finding, value);
}

std::string show_range(const Finding& finding) {
  if (!finding.low && !finding.high) {
    if (!finding.n) return "";
    return "no interval from " + std::to_string(*finding.n) +
           (*finding.n == 1 ? " value" : " values");
  }
  if (finding.low && !finding.high) return "at least " + show_brief(finding, *finding.low);
  if (!finding.low) return "at most " + show_brief(finding, *finding.high);
  return (finding.position ? "between " : "95 % interval ") + show_brief(finding, *finding.low) +
         (finding.position ? " and " : " to ") + show_brief(finding, *finding.high);
}

std::string headlines_html(const RunAnalysis& analysis, const std::vector<Finding>& findings) {
  const Lookup find{findings};
  std::string cards;
  if (analysis.tree) tree_cards(cards, analysis, find);
  if (analysis.chase) chase_cards(cards, *analysis.chase, find);
  interfere_cards(cards, analysis, find);
  for (const auto& [kind, matrix] : analysis.handoff) {
    simple_card(cards, find("handoff.latency_ns." + kind + ".median"),
                "Line handed from core to core, " + kind + ", one way");
  }
  if (const Finding* read = find("stream.memory_bytes_per_s.read")) {
    simple_card(cards, read, "Read bandwidth of the memory");
  } else {
    simple_card(cards, find("stream.peak_bytes_per_s.read"), "Best read bandwidth, any level");
  }
  if (analysis.copy) copy_cards(cards, *analysis.copy, find);
  if (analysis.gemm) gemm_cards(cards, *analysis.gemm, find);
  return cards.empty() ? "" : "<ul class=\"cards\">\n" + cards + "</ul>\n";
}

}  // namespace sonde
