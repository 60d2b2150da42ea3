#include "report/sentences.h"

#include <algorithm>
#include <cctype>

#include "core/parse.h"
#include "report/copy_figures.h"
#include "report/headlines.h"
#include "report/pairs.h"
#include "report/show.h"

namespace sonde {
namespace {

using Findings = std::vector<Finding>;

std::string with_range(const Finding& finding) {
  const std::string range = show_range(finding);
  const std::string value = finding.value ? show_brief(finding, *finding.value) : "unknown";
  return value + (range.empty() ? "" : " (" + range + ")");
}

/// Value and range of a finding; empty when it was not found.
std::string shown(const Findings& findings, const std::string& name) {
  const Finding* found = find_finding(findings, name);
  return found != nullptr && found->value ? with_range(*found) : "";
}

std::string counted(std::size_t count, const std::string& what) {
  return format_count(static_cast<std::int64_t>(count)) + " " + what + (count == 1 ? "" : "s");
}

std::string sentence(const RunAnalysis& analysis, const std::vector<std::string>& parts) {
  if (parts.empty()) return "";
  std::string text = describe(analysis.source());
  text[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(text[0])));
  for (std::size_t i = 0; i < parts.size(); ++i) text += (i == 0 ? ": " : "; ") + parts[i];
  return text + ".";
}

void levels_part(const ChaseAnalysis& chase, const Findings& findings,
                 std::vector<std::string>& parts) {
  if (!chase.footprints) return;
  const std::size_t count = chase.footprints->levels.plateaus.size();
  if (count == 0) {
    parts.emplace_back(chase.footprints->levels.cannot_tell
                           ? "memory levels: cannot tell from so few footprints"
                           : "memory levels: none found, the latency keeps changing");
    return;
  }
  std::vector<std::string> levels;
  for (std::size_t i = 1; i <= count; ++i) {
    const std::string level = "chase.level_" + std::to_string(i);
    const std::string capacity = shown(findings, level + ".capacity_bytes");
    levels.push_back(shown(findings, level + ".latency_ns") +
                     (capacity.empty() ? " beyond" : " up to " + capacity));
  }
  parts.push_back(counted(count, "memory level") + " seen by a load: " + join_names(levels));
}

std::vector<std::string> chase_parts(const RunAnalysis& analysis, const Findings& findings) {
  std::vector<std::string> parts;
  const ChaseAnalysis& chase = *analysis.chase;
  levels_part(chase, findings, parts);
  for (std::size_t i = 0; i < chase.blocks.size(); ++i) {
    const BlockSeries& series = chase.blocks[i];
    if (!series.placed_by_device) continue;
    const std::string wave = shown(findings, "chase.wave_blocks" + series_suffix(i, series.kind));
    const std::string what = "blocks in one wave on " + series.kind + " cores: ";
    parts.push_back(what + (!wave.empty()             ? wave
                            : series.wave.cannot_tell ? "cannot tell from so few counts"
                                                      : "none found, no step in latency"));
  }
  if (chase.cores) {
    const auto& cores = chase.cores->latencies.cores;
    const auto slow = std::count_if(cores.begin(), cores.end(),
                                    [](const CoreLatency& core) { return core.outlier; });
    const std::string all = counted(cores.size(), "core");
    if (chase.cores->latencies.cannot_tell) {
      parts.push_back("outliers among " + all + ": cannot tell");
    } else if (slow == 0) {
      parts.push_back("outliers among " + all + ": none found");
    } else {
      parts.push_back(std::to_string(slow) + " of " + all + " stand out");
    }
  }
  return parts;
}

std::vector<std::string> profile_parts(const RunAnalysis& analysis, const Findings&) {
  if (!analysis.profile) return {};
  const std::vector<double> values = pair_values(*analysis.profile);
  if (values.empty()) return {"cannot tell: too few cores to compare"};
  return {"half of the pairs of " + counted(analysis.profile->cores.size(), "core") +
          " differ by less than " + show_quantity(*median(values), "ns") +
          " over the same addresses, the farthest by " + show_quantity(*quantile(values, 1), "ns")};
}

std::vector<std::string> interfere_parts(const RunAnalysis& analysis, const Findings& findings) {
  std::vector<std::string> parts;
  for (const SlowDowns& one : analysis.slow_downs) {
    const std::string most = show_number(one.largest, 3) + " times";
    const std::string victim =
        "a victim" +
        (one.kind.victim_work == "load" ? "" : " that does " + one.kind.victim_work + " work");
    if (one.kind.control()) {
      parts.push_back("beside the register control " + victim + " takes at most " + most +
                      " as long");
      continue;
    }
    const Finding* above = find_finding(findings, "interfere.above_register." + one.kind.label());
    parts.push_back("beside one core that does " + one.kind.work + " work " + victim +
                    " takes at most " + most + " as long" +
                    (above != nullptr && above->value
                         ? ", " + show_value(*above, *above->value) +
                               " of the pairs lie above the register control"
                         : ", cannot tell how many pairs lie above a control"));
  }
  if (parts.empty() && analysis.counts.contains("interfere")) {
    parts.emplace_back("cannot tell: no pair has a usable sample");
  }
  return parts;
}

std::vector<std::string> handoff_parts(const RunAnalysis& analysis, const Findings& findings) {
  std::vector<std::string> parts;
  for (const auto& [kind, matrix] : analysis.handoff) {
    const std::string name = "handoff.latency_ns." + kind;
    const std::string middle = shown(findings, name + ".median");
    if (middle.empty()) continue;
    const std::size_t pairs = pair_values(matrix).size();
    std::string text = "a line handed over for a " + kind + " takes " + middle + " one way";
    const Finding* least = find_finding(findings, name + ".min");
    const Finding* most = find_finding(findings, name + ".max");
    if (pairs > 1 && least != nullptr && most != nullptr) {
      text += ", from " + show_value(*least, *least->value) + " to " +
              show_value(*most, *most->value) + " over " + counted(pairs, "ordered pair");
    }
    parts.push_back(text);
  }
  return parts;
}

std::vector<std::string> stream_parts(const RunAnalysis& analysis, const Findings& findings) {
  if (!analysis.stream) return {};
  std::vector<std::string> parts;
  for (const std::string& kind : analysis.stream->kinds()) {
    const std::string memory = shown(findings, "stream.memory_bytes_per_s." + kind);
    const std::string peak = shown(findings, "stream.peak_bytes_per_s." + kind);
    if (!memory.empty()) {
      parts.push_back(kind + " from memory at best " + memory);
    } else if (!peak.empty()) {
      parts.push_back(kind + " at best " + peak + " of any level, memory cannot be told apart");
    }
  }
  return parts;
}

std::vector<std::string> copy_parts(const RunAnalysis& analysis, const Findings& findings) {
  if (!analysis.copy) return {};
  std::vector<std::string> parts;
  const std::vector<const CopySeries*> all = analysis.copy->main_series();
  for (std::size_t s = 0; s < all.size(); ++s) {
    const CopyShape& shape = all[s]->shape;
    const std::string suffix = series_suffix(s, all[s]->direction);
    std::string text = all[s]->direction + ": ";
    if (shape.cannot_tell) {
      text += "method switch: cannot tell from so few sizes";
    } else if (shape.switches.empty()) {
      text += "method switch: none found";
    }
    for (std::size_t i = 0; i < shape.switches.size(); ++i) {
      const std::string at = shown(findings, "copy.switch_bytes" + suffix + ordinal_suffix(i));
      const std::string cost = shown(findings, "copy.switch_cost_ns" + suffix + ordinal_suffix(i));
      text += (i == 0 ? "method switch after " : " and after ") + at +
              (cost.empty() ? "" : " where time jumps by " + cost);
    }
    if (const std::string peak = shown(findings, "copy.peak_bytes_per_s" + suffix); !peak.empty()) {
      text += ", best " + peak;
    }
    parts.push_back(text);
  }
  return parts;
}

std::vector<std::string> gemm_parts(const RunAnalysis& analysis, const Findings& findings) {
  if (!analysis.gemm) return {};
  const GemmAnalysis& gemm = *analysis.gemm;
  std::vector<std::string> parts;
  if (const GemmRoofline* line = gemm.main_roofline()) {
    const std::string middle = shown(findings, "gemm.fraction.median" + line->suffix);
    parts.push_back(counted(gemm.shapes.size(), "shape") + " of " + gemm.dtype + " reach " +
                    (middle.empty() ? "an unknown part" : middle) + " of what the " + line->name +
                    " roofs allow, in the median");
  } else {
    parts.push_back(counted(gemm.shapes.size(), "shape") + " of " + gemm.dtype +
                    "; how much is attainable: cannot tell without roofs");
  }
  if (const std::string peak = shown(findings, "gemm.peak_flop_per_s"); !peak.empty()) {
    parts.push_back("best rate " + peak);
  }
  if (gemm.patterns.empty()) {
    parts.emplace_back("pattern in what the roofs do not explain: none found");
  } else {
    parts.push_back("most lost to " + gemm.patterns.front().words());
  }
  return parts;
}

struct Speaker {
  const char* probe;
  const char* question;
  std::vector<std::string> (*parts)(const RunAnalysis&, const Findings&);
};

constexpr Speaker kSpeakers[] = {
    {"chase",
     "How long does a load take: on each core, over the size of what it walks, and with many "
     "blocks "
     "at once?",
     [](const RunAnalysis& analysis, const Findings& findings) {
       return analysis.chase ? chase_parts(analysis, findings) : std::vector<std::string>();
     }},
    {"profile", "Do two cores see the same addresses at the same latency?", profile_parts},
    {"interfere", "By how much does one working core slow the loads of another?", interfere_parts},
    {"handoff", "How long does a cache line take from one core to another?", handoff_parts},
    {"stream", "How many bytes a second do one or many cores read and write?", stream_parts},
    {"copy", "How does copy time grow with size, and where does the copy change its method?",
     copy_parts},
    {"gemm", "How close do matrix products come to what compute and memory allow?", gemm_parts},
};

const Speaker* speaker(const std::string& probe) {
  const auto* found = std::find_if(std::begin(kSpeakers), std::end(kSpeakers),
                                   [&](const Speaker& one) { return probe == one.probe; });
  return found == std::end(kSpeakers) ? nullptr : found;
}

}  // namespace

std::string probe_question(const std::string& probe) {
  const Speaker* one = speaker(probe);
  return one == nullptr ? "" : one->question;
}

std::string probe_sentence(const std::string& probe, const RunAnalysis& analysis,
                           const std::vector<Finding>& findings) {
  const Speaker* one = speaker(probe);
  return one == nullptr ? "" : sentence(analysis, one->parts(analysis, findings));
}

std::string topology_sentence(const RunAnalysis& analysis, const std::vector<Finding>& findings) {
  if (!analysis.tree) return "";
  const CoreTree& tree = *analysis.tree;
  if (tree.levels.empty()) {
    return sentence(analysis, {std::string("groups of cores: ") +
                               (tree.none_found ? "none found" : "cannot tell")});
  }
  std::vector<std::string> groups, stability;
  for (std::size_t i = 1; i <= tree.levels.size(); ++i) {
    const std::string level = "topology.level_" + std::to_string(i);
    groups.push_back(std::to_string(tree.levels[i - 1].groups.size()));
    const Finding* stable = find_finding(findings, level + ".stability");
    stability.push_back(stable != nullptr ? show_value(*stable, *stable->value) : "unknown");
  }
  return sentence(analysis,
                  {counted(tree.order.size(), "core") + " fall into " + join_names(groups) +
                   " groups, coarsest first (stability " + join_names(stability) + ")"});
}

}  // namespace sonde
