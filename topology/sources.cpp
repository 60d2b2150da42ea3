#include "topology/sources.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "core/parse.h"
#include "core/statistics.h"
#include "topology/levels.h"

namespace sonde {
namespace {

void take_levels(const Evidence& evidence, std::uint64_t seed, const std::string& basis,
                 SourceResult& result) {
  for (const FoundLevel& level : find_levels(evidence, seed)) {
    NamedLevel named{{}, level.stability, level.strength, basis};
    named.groups.resize(static_cast<std::size_t>(group_count(level.partition)));
    for (std::size_t i = 0; i < level.partition.size(); ++i) {
      named.groups[static_cast<std::size_t>(level.partition[i])].push_back(evidence.cores()[i]);
    }
    result.levels.push_back(std::move(named));
  }
  result.judged = true;
}

std::string levels_text(const SourceResult& result) {
  std::vector<std::string> counts;
  for (const NamedLevel& level : result.levels)
    counts.push_back(std::to_string(level.groups.size()));
  return join_names(counts) + " groups";
}

/// Drops cores until each has cells with at least half of the others, in either direction. Returns
/// what was dropped.
std::vector<CoreName> drop_uncovered(CoreMatrix& matrix) {
  std::vector<CoreName> dropped;
  std::vector<std::size_t> kept;
  for (std::size_t i = 0; i < matrix.cores.size(); ++i) kept.push_back(i);
  while (kept.size() > 1) {
    const auto partners = [&](std::size_t i) {
      return std::count_if(kept.begin(), kept.end(), [&](std::size_t j) {
        return j != i && (matrix.at(i, j) || matrix.at(j, i));
      });
    };
    const auto least =
        std::min_element(kept.begin(), kept.end(),
                         [&](std::size_t a, std::size_t b) { return partners(a) < partners(b); });
    if (2 * partners(*least) >= static_cast<std::ptrdiff_t>(kept.size()) - 1) break;
    dropped.push_back(matrix.cores[*least]);
    kept.erase(least);
  }
  CoreMatrix smaller;
  for (std::size_t i : kept) {
    smaller.cores.push_back(matrix.cores[i]);
    for (std::size_t j : kept) smaller.cells.push_back(matrix.at(i, j));
  }
  matrix = std::move(smaller);
  return dropped;
}

/// From a matrix of numbers that grow with similarity.
SourceResult judge_pairs(CoreMatrix matrix, double least_noise, std::uint64_t seed,
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
  // The noise of a pair is what its two directions differ by.
  std::size_t pairs = 0, both = 0;
  for (std::size_t i = 0; i < matrix.cores.size(); ++i) {
    for (std::size_t j = i + 1; j < matrix.cores.size(); ++j) {
      pairs += matrix.at(i, j) || matrix.at(j, i);
      both += matrix.at(i, j) && matrix.at(j, i);
    }
  }
  if (4 * both < pairs) {
    result.verdict = fmt::format("{}: {} of {} pairs in both directions, fewer than a quarter{}",
                                 basis, both, pairs, left_out);
    return result;
  }
  const auto evidence = pair_evidence(matrix, least_noise);
  take_levels(*evidence, seed, basis, result);
  if (result.levels.empty()) {
    const double noise = pair_noise(*evidence);
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
CoreMatrix changed(CoreMatrix matrix, Change change) {
  for (auto& cell : matrix.cells) {
    if (cell) *cell = change(*cell);
  }
  return matrix;
}

/// A slow-down below this is a regression gone astray; its logarithm must still exist.
double log_of(double ratio) { return std::log(std::max(ratio, 0.01)); }

}  // namespace

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
  const auto evidence = profile_evidence(table);
  take_levels(*evidence, seed, basis, result);
  if (!result.levels.empty()) {
    result.verdict = fmt::format("{}: {} among {} cores{}", basis, levels_text(result),
                                 table.cores.size(), left_out);
    return result;
  }
  // A shared part of size s in profiles that scatter by d gives a covariance of (s/d)^2.
  const double noise = pair_noise(*evidence);
  const double share = std::min(kSureContrast * noise, 1.0);
  result.verdict = fmt::format(
      "{}: no groups among {} cores over {} addresses; a pattern of {:.2g} ns that the cores of a "
      "group share would have shown{}",
      basis, table.cores.size(), table.addresses.size(), profile_spread(table) * std::sqrt(share),
      left_out);
  return result;
}

std::vector<SourceResult> judge_interference(const ProbeRows& interfere, TimeSource source,
                                             std::uint64_t seed) {
  std::vector<SourceResult> results;
  const std::vector<Contention> kinds = contentions_of(interfere, source);
  std::map<std::string, double> controls;  // by the victim's work
  for (const Contention& kind : kinds) {
    if (!kind.control()) continue;
    const auto matrix = slow_down(interfere, source, kind);
    if (!matrix) continue;
    // Register work shares nothing but what every pair shares: its spread is what pairs scatter by.
    std::vector<double> cells;
    for (const auto& cell : matrix->cells) {
      if (cell) cells.push_back(log_of(*cell));
    }
    if (const auto spread = mad(cells)) controls[kind.victim_work] = 1.4826 * *spread;
  }
  for (const Contention& kind : kinds) {
    if (kind.control()) continue;
    const auto matrix = slow_down(interfere, source, kind);
    if (!matrix) continue;
    const auto control = controls.find(kind.victim_work);
    results.push_back(judge_pairs(changed(*matrix, log_of),
                                  control == controls.end() ? 0 : control->second, seed,
                                  interfere.file + " " + kind.label(), "a mutual slow-down"));
    if (control == controls.end()) results.back().verdict += " (no register control)";
  }
  return results;
}

std::vector<SourceResult> judge_handoff(const ProbeRows& handoff, TimeSource source,
                                        std::uint64_t seed) {
  std::vector<SourceResult> results;
  for (const std::string& kind : values_of(handoff, source, "kind")) {
    const auto matrix = handoff_latency(handoff, source, kind);
    if (!matrix) continue;
    const auto nearness = changed(*matrix, [](double ns) { return -std::log(std::max(ns, 1e-3)); });
    results.push_back(judge_pairs(nearness, 0, seed, handoff.file + " " + kind, "a shorter way"));
  }
  return results;
}

}  // namespace sonde
