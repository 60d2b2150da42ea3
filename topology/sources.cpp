#include "topology/sources.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "core/decide.h"
#include "core/parse.h"
#include "core/statistics.h"
#include "topology/levels.h"

namespace sonde {
namespace {

std::vector<NamedLevel> named(const std::vector<FoundLevel>& found, const Evidence& evidence,
                              const std::string& basis) {
  std::vector<NamedLevel> levels;
  for (const FoundLevel& level : found) {
    NamedLevel one{{}, level.stability, level.strength, basis};
    one.groups.resize(static_cast<std::size_t>(group_count(level.partition)));
    for (std::size_t i = 0; i < level.partition.size(); ++i) {
      one.groups[static_cast<std::size_t>(level.partition[i])].push_back(evidence.cores()[i]);
    }
    levels.push_back(std::move(one));
  }
  return levels;
}

void take_levels(std::unique_ptr<Evidence> evidence, std::uint64_t seed, const std::string& basis,
                 SourceResult& result) {
  result.levels = named(find_levels(*evidence, seed), *evidence, basis);
  result.judged = true;
  result.evidence = std::move(evidence);
  result.basis = basis;
}

std::string levels_text(const SourceResult& result) {
  std::vector<std::string> counts;
  for (const NamedLevel& level : result.levels)
    counts.push_back(std::to_string(level.groups.size()));
  return join_names(counts) + " groups";
}

/// Fewest others that a core must have been measured with: one in so many.
constexpr std::ptrdiff_t kMostPartners = 10;

/// Drops cores until each has cells with enough of the others, in either direction. Returns
/// what was dropped.
std::vector<CoreName> drop_uncovered(PairSamples& matrix) {
  std::vector<CoreName> dropped;
  std::vector<std::size_t> kept;
  for (std::size_t i = 0; i < matrix.cores.size(); ++i) kept.push_back(i);
  while (kept.size() > 1) {
    const auto partners = [&](std::size_t i) {
      return std::count_if(kept.begin(), kept.end(), [&](std::size_t j) {
        return j != i && (!matrix.at(i, j).empty() || !matrix.at(j, i).empty());
      });
    };
    const auto least =
        std::min_element(kept.begin(), kept.end(),
                         [&](std::size_t a, std::size_t b) { return partners(a) < partners(b); });
    if (kMostPartners * partners(*least) >= static_cast<std::ptrdiff_t>(kept.size()) - 1) break;
    dropped.push_back(matrix.cores[*least]);
    kept.erase(least);
  }
  PairSamples smaller;
  for (std::size_t i : kept) {
    smaller.cores.push_back(matrix.cores[i]);
    for (std::size_t j : kept) smaller.cells.push_back(std::move(matrix.at(i, j)));
  }
  matrix = std::move(smaller);
  return dropped;
}

/// What the register control says of single pairs.
struct Control {
  double centre = 0, spread = 0;  ///< of the logarithm of a slow-down
};

/// Pairs of which it is open whether they share anything (core/decide.h), in words; empty: none is.
std::string open_pairs(const PairSamples& samples, const Control& control) {
  std::size_t measured = 0, unmeasured = 0, undecided = 0;
  const std::size_t n = samples.cores.size();
  std::vector<std::pair<double, double>> excesses;  // with its error
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = i + 1; j < n; ++j) {
      const auto there = median(samples.at(i, j)), back = median(samples.at(j, i));
      if (!there && !back) {
        ++unmeasured;
        continue;
      }
      ++measured;
      const double mean = there && back ? (*there + *back) / 2 : there.value_or(back.value_or(0));
      excesses.emplace_back(mean - control.centre,
                            control.spread / (there && back ? std::sqrt(2.0) : 1));
    }
  }
  for (const auto& [excess, error] : excesses) {
    undecided += decide(excess, error, measured) == Decision::undecided ? 1U : 0U;
  }
  std::string text;
  if (undecided > 0) text += fmt::format("; {} of {} pairs are undecided", undecided, measured);
  if (unmeasured > 0) text += fmt::format("; {} pairs were not measured", unmeasured);
  return text;
}

/// From a matrix of numbers that grow with similarity.
SourceResult judge_pairs(PairSamples matrix, double least_noise, std::uint64_t seed,
                         const std::string& basis, const char* what) {
  SourceResult result;
  result.seen = matrix.cores;
  const std::vector<CoreName> dropped = drop_uncovered(matrix);
  const std::string left_out =
      dropped.empty() ? "" : " (left out: " + format_core_set(dropped) + ", too few pairs)";
  if (matrix.cores.size() < kFewestCores) {
    result.verdict = fmt::format("{}: pairs among {} cores, fewer than {}{}", basis,
                                 matrix.cores.size(), kFewestCores, left_out);
    return result;
  }
  // The noise of a pair is what its two directions differ by, or its repetitions.
  std::size_t pairs = 0, twice = 0;
  for (std::size_t i = 0; i < matrix.cores.size(); ++i) {
    for (std::size_t j = i + 1; j < matrix.cores.size(); ++j) {
      const std::size_t samples = matrix.at(i, j).size() + matrix.at(j, i).size();
      pairs += samples > 0 ? 1 : 0;
      twice += samples > 1 ? 1 : 0;
    }
  }
  if (4 * twice < pairs) {
    result.verdict = fmt::format("{}: {} of {} pairs measured twice, fewer than a quarter{}", basis,
                                 twice, pairs, left_out);
    return result;
  }
  take_levels(pair_evidence(matrix, least_noise), seed, basis, result);
  if (result.levels.empty()) {
    const double noise = pair_noise(*result.evidence);
    result.verdict =
        fmt::format("{}: no groups among {} cores; {} from {:.2g} % would have shown{}", basis,
                    matrix.cores.size(), what, 100 * kSureContrast * noise, left_out);
  } else {
    result.verdict = fmt::format("{}: {} among {} cores{}", basis, levels_text(result),
                                 matrix.cores.size(), left_out);
  }
  return result;
}

/// Cells through `change`, which must make larger mean more alike.
template <class Change>
PairSamples changed(PairSamples samples, Change change) {
  for (std::vector<double>& cell : samples.cells) {
    for (double& value : cell) value = change(value);
  }
  return samples;
}

/// A slow-down below this is a regression gone astray; its logarithm must still exist.
double log_of(double ratio) { return std::log(std::max(ratio, 0.01)); }

}  // namespace

std::vector<NamedLevel> levels_inside(const SourceResult& source,
                                      const std::vector<std::vector<CoreName>>& groups,
                                      std::uint64_t seed) {
  if (!source.evidence) return {};
  std::map<CoreName, int> group_of;
  for (std::size_t g = 0; g < groups.size(); ++g) {
    for (const CoreName& core : groups[g]) group_of[core] = static_cast<int>(g);
  }
  // A core that no group has stays alone.
  Partition parent;
  auto next = static_cast<int>(groups.size());
  for (const CoreName& core : source.evidence->cores()) {
    const auto found = group_of.find(core);
    parent.push_back(found == group_of.end() ? next++ : found->second);
  }
  return named(find_levels(*source.evidence, seed, renumbered(parent)), *source.evidence,
               source.basis);
}

SourceResult judge_profile(const ProbeRows& profile, TimeSource source, std::uint64_t seed) {
  SourceResult result;
  const std::string& basis = profile.file;
  ProfileTable table = read_profile(profile, source);
  result.seen = table.cores;
  keep_covered(table);
  std::sort(table.without_row.begin(), table.without_row.end());
  const std::string left_out =
      table.without_row.empty()
          ? ""
          : " (left out: " + join_names(table.without_row) + ", too few samples)";
  if (table.cores.size() < kFewestCores || table.addresses.size() < kFewestAddresses) {
    result.verdict = fmt::format("{}: {} cores and {} addresses, fewer than {} and {}{}", basis,
                                 table.cores.size(), table.addresses.size(), kFewestCores,
                                 kFewestAddresses, left_out);
    return result;
  }
  take_levels(profile_evidence(table), seed, basis, result);
  if (!result.levels.empty()) {
    result.verdict = fmt::format("{}: {} among {} cores{}", basis, levels_text(result),
                                 table.cores.size(), left_out);
    return result;
  }
  // A shared part of size s in profiles that scatter by d gives a covariance of (s/d)^2.
  const double noise = pair_noise(*result.evidence);
  const double share = std::min(kSureContrast * noise, 1.0);
  result.verdict = fmt::format(
      "{}: no groups among {} cores over {} addresses; a pattern of {:.2g} ns that the cores of a "
      "group share would have shown{}",
      basis, table.cores.size(), table.addresses.size(), profile_spread(table) * std::sqrt(share),
      left_out);
  return result;
}

std::vector<SourceResult> judge_interference(const ContentionSamples& slow_downs,
                                             const std::string& file, std::uint64_t seed) {
  std::vector<SourceResult> results;
  std::map<std::string, Control> controls;  // by the victim's work
  for (const auto& [kind, samples] : slow_downs) {
    if (!kind.control()) continue;
    // Register work shares nothing but what every pair shares: its spread is what pairs scatter by.
    std::vector<double> cells;
    for (const auto& cell : medians(samples).cells) {
      if (cell) cells.push_back(log_of(*cell));
    }
    if (const auto spread = mad(cells)) {
      controls[kind.victim_work] = {median(cells).value_or(0), 1.4826 * *spread};
    }
  }
  for (const auto& [kind, samples] : slow_downs) {
    if (kind.control()) continue;
    const auto control = controls.find(kind.victim_work);
    PairSamples logs = changed(samples, log_of);
    const bool known = control != controls.end();
    const std::string open = known ? open_pairs(logs, control->second) : " (no register control)";
    results.push_back(judge_pairs(std::move(logs), known ? control->second.spread : 0, seed,
                                  file + " " + kind.label(), "a mutual slow-down"));
    results.back().verdict += open;
  }
  return results;
}

std::vector<SourceResult> judge_handoff(const ProbeRows& handoff, TimeSource source,
                                        std::uint64_t seed) {
  std::vector<SourceResult> results;
  for (const std::string& kind : values_of(handoff, source, "kind")) {
    auto samples = handoff_samples(handoff, source, kind);
    if (!samples) continue;
    auto nearness =
        changed(std::move(*samples), [](double ns) { return -std::log(std::max(ns, 1e-3)); });
    results.push_back(
        judge_pairs(std::move(nearness), 0, seed, handoff.file + " " + kind, "a shorter way"));
  }
  return results;
}

}  // namespace sonde
