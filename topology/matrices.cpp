#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <unordered_map>

#include "core/error.h"
#include "core/statistics.h"
#include "topology/core_tree.h"
#include "topology/gram.h"
#include "topology/rows.h"

namespace sonde {
namespace {

PairSamples no_samples(const std::set<CoreName>& cores) {
  PairSamples samples{{cores.begin(), cores.end()}, {}};
  samples.cells.resize(samples.cores.size() * samples.cores.size());
  return samples;
}

std::size_t position(const PairSamples& samples, const CoreName& core) {
  const auto& cores = samples.cores;
  return static_cast<std::size_t>(std::lower_bound(cores.begin(), cores.end(), core) -
                                  cores.begin());
}

/// A row of interfere.csv in numbers.
struct Beside {
  const std::vector<CoreName>* aggressors;
  double latency;
  const std::vector<std::size_t>* positions = nullptr;  // of the aggressors among all cores
};

/// Rows of one victim.
struct Victim {
  std::vector<double> alone;
  std::vector<Beside> beside;  // aggressors of the work asked for
};

/// Least squares of the slow-down on which cores were aggressors: what one more aggressor adds. The
/// victim alone, slow-down 1, is the intercept; a free one could not be told from the mean of the
/// coefficients, because all sets are equally large. Ridge only where the rows are too few to tell
/// all aggressors apart.
void regress(const Victim& victim, double alone, std::size_t row, PairSamples& result) {
  const std::size_t m = victim.beside.size();
  // A set is measured several times: what depends on it alone is done once, so many times over.
  struct Subset {
    std::vector<std::size_t> cores;
    double times = 0;
  };
  std::vector<Subset> subsets;
  std::vector<std::size_t> subset_of(m);
  std::unordered_map<const std::vector<CoreName>*, std::size_t> seen;
  std::vector<bool> used(result.cores.size(), false);
  for (std::size_t r = 0; r < m; ++r) {
    const std::vector<CoreName>* named = victim.beside[r].aggressors;
    const auto [entry, fresh] = seen.try_emplace(named, subsets.size());
    subset_of[r] = entry->second;
    if (fresh) {
      std::vector<std::size_t>& cores = subsets.emplace_back().cores;
      cores = *victim.beside[r].positions;
      std::erase(cores, row);
      for (std::size_t core : cores) used[core] = true;
    }
    ++subsets[subset_of[r]].times;
  }
  std::vector<std::size_t> cores, column(result.cores.size());
  for (std::size_t core = 0; core < used.size(); ++core) {
    if (!used[core]) continue;
    column[core] = cores.size();
    cores.push_back(core);
  }
  const std::size_t p = cores.size();
  if (p == 0) return;
  Matrix normal(p, p);
  std::vector<double> right(p, 0);
  for (std::size_t r = 0; r < m; ++r) {
    const double more = victim.beside[r].latency / alone - 1;
    for (std::size_t a : subsets[subset_of[r]].cores) right[column[a]] += more;
  }
  for (const Subset& subset : subsets) {
    for (std::size_t a : subset.cores) {
      for (std::size_t b : subset.cores) {
        if (b <= a) normal(column[b], column[a]) += subset.times;
      }
    }
  }
  for (std::size_t a = 0; a < p; ++a) {
    for (std::size_t b = 0; b < a; ++b) normal(a, b) = normal(b, a);
  }
  double strength = 0;
  for (std::size_t c = 0; c < p; ++c) strength += normal(c, c) / static_cast<double>(p);
  const bool enough = m > p + p / 4 + 1;
  for (std::size_t c = 0; c < p; ++c) {
    normal(c, c) += strength * (enough ? 1e-9 : static_cast<double>(p) / static_cast<double>(m));
  }
  const std::vector<double> added = solve_symmetric(normal, right);
  for (std::size_t c = 0; c < p; ++c) result.at(row, cores[c]) = {1 + added[c]};
}

/// Each pair for itself: each latency beside one aggressor over the median alone.
void compare_pairs(const Victim& victim, double alone, std::size_t row, PairSamples& result) {
  for (const Beside& beside : victim.beside) {
    const std::size_t core = beside.positions->front();
    if (core != row) result.at(row, core).push_back(beside.latency / alone);
  }
}

}  // namespace

std::optional<CoreMatrix> profile_distance(const ProbeRows& profile, TimeSource source) {
  if (!profile.table) return std::nullopt;
  const ProfileTable table = read_profile(profile, source);
  if (table.cores.empty()) return std::nullopt;
  const std::size_t n = table.cores.size(), lines = table.latency_ns.rows();
  Matrix centred = table.latency_ns;
  for (std::size_t c = 0; c < n; ++c) {
    double sum = 0, count = 0;
    for (double value : centred.column(c)) {
      if (std::isnan(value)) continue;
      sum += value;
      ++count;
    }
    for (double& value : centred.column(c)) value -= sum / count;
  }
  CoreMatrix matrix{table.cores, {}};
  matrix.cells.resize(n * n);
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = 0; j <= i; ++j) {
      double sum = 0, both = 0;
      for (std::size_t a = 0; a < lines; ++a) {
        const double apart = std::abs(centred(a, i) - centred(a, j));
        if (std::isnan(apart)) continue;
        sum += apart;
        ++both;
      }
      if (both == 0) continue;
      matrix.cells[i * n + j] = matrix.cells[j * n + i] = sum / both;
    }
  }
  return matrix;
}

std::vector<Contention> contentions_of(const ProbeRows& interfere, TimeSource source) {
  std::vector<Contention> kinds;
  for (const std::string& victim_work : values_of(interfere, source, "victim_work")) {
    for (const std::string& work : values_of(interfere, source, "aggressor_work")) {
      if (work != "none") kinds.push_back({victim_work, work});
    }
  }
  std::stable_partition(kinds.begin(), kinds.end(),
                        [](const Contention& kind) { return kind.victim_work == "load"; });
  return kinds;
}

std::optional<PairSamples> slow_down_samples(const ProbeRows& interfere, TimeSource source,
                                             const Contention& kind) {
  if (!interfere.table) return std::nullopt;
  const Schema& schema = *interfere.schema;
  const std::size_t victim_at = schema.index("victim"), does_at = schema.index("victim_work"),
                    set_at = schema.index("aggressors"), work_at = schema.index("aggressor_work"),
                    latency_at = schema.index("latency_ns");
  // A subset design names the same sets again and again: each text is read once.
  std::unordered_map<std::string, std::vector<CoreName>> sets;
  std::map<CoreName, Victim> victims;
  std::set<CoreName> cores;
  bool subsets = false, any = false;
  for (const Row& row : interfere.table->rows) {
    const auto* name = std::get_if<std::string>(&row.values[victim_at]);
    const auto* does = std::get_if<std::string>(&row.values[does_at]);
    const auto* set = std::get_if<std::string>(&row.values[set_at]);
    const auto* done = std::get_if<std::string>(&row.values[work_at]);
    const auto* latency = std::get_if<double>(&row.values[latency_at]);
    if (row.status != Status::ok || row.time_source != source || name == nullptr ||
        does == nullptr || set == nullptr || done == nullptr || latency == nullptr ||
        *does != kind.victim_work) {
      continue;
    }
    const bool alone = *set == "none";
    if (!alone && *done != kind.work) continue;
    try {
      const auto [entry, fresh] = sets.try_emplace(*set);
      if (fresh) entry->second = parse_core_set(*set);
      const CoreName core = parse_core_name(*name);
      Victim& victim = victims[core];
      if (alone) {
        victim.alone.push_back(*latency);
        continue;
      }
      any = true;
      cores.insert(core);
      if (fresh) cores.insert(entry->second.begin(), entry->second.end());
      subsets = subsets || entry->second.size() > 1;
      victim.beside.push_back({&entry->second, *latency, nullptr});
    } catch (const UsageError&) {
      continue;  // a text that names no core says nothing of cores
    }
  }
  if (!any) return std::nullopt;
  PairSamples result = no_samples(cores);
  std::unordered_map<const std::vector<CoreName>*, std::vector<std::size_t>> positions;
  for (auto& [core, victim] : victims) {
    for (Beside& beside : victim.beside) {
      const auto [entry, fresh] = positions.try_emplace(beside.aggressors);
      if (fresh) {
        for (const CoreName& each : *beside.aggressors) {
          entry->second.push_back(position(result, each));
        }
      }
      beside.positions = &entry->second;
    }
    const std::optional<double> alone = median(victim.alone);
    if (!alone || *alone <= 0 || victim.beside.empty()) continue;
    (subsets ? regress : compare_pairs)(victim, *alone, position(result, core), result);
  }
  return result;
}

std::optional<CoreMatrix> slow_down(const ProbeRows& interfere, TimeSource source,
                                    const Contention& kind) {
  const auto samples = slow_down_samples(interfere, source, kind);
  return samples ? std::optional(medians(*samples)) : std::nullopt;
}

std::optional<PairSamples> handoff_samples(const ProbeRows& handoff, TimeSource source,
                                           const std::string& kind) {
  if (!handoff.table) return std::nullopt;
  const Schema& schema = *handoff.schema;
  const std::size_t from_at = schema.index("from"), to_at = schema.index("to"),
                    kind_at = schema.index("kind"), latency_at = schema.index("latency_ns");
  std::map<std::pair<CoreName, CoreName>, std::vector<double>> samples;
  std::set<CoreName> cores;
  for (const Row& row : handoff.table->rows) {
    const auto* from = std::get_if<std::string>(&row.values[from_at]);
    const auto* to = std::get_if<std::string>(&row.values[to_at]);
    const auto* done = std::get_if<std::string>(&row.values[kind_at]);
    const auto* latency = std::get_if<double>(&row.values[latency_at]);
    if (row.status != Status::ok || row.time_source != source || from == nullptr || to == nullptr ||
        done == nullptr || *done != kind || latency == nullptr) {
      continue;
    }
    try {
      const CoreName a = parse_core_name(*from), b = parse_core_name(*to);
      cores.insert({a, b});
      samples[{a, b}].push_back(*latency);
    } catch (const UsageError&) {
      continue;
    }
  }
  if (cores.empty()) return std::nullopt;
  PairSamples result = no_samples(cores);
  for (auto& [pair, latencies] : samples) {
    if (pair.first == pair.second) continue;
    result.at(position(result, pair.first), position(result, pair.second)) = std::move(latencies);
  }
  return result;
}

std::optional<CoreMatrix> handoff_latency(const ProbeRows& handoff, TimeSource source,
                                          const std::string& kind) {
  const auto samples = handoff_samples(handoff, source, kind);
  return samples ? std::optional(medians(*samples)) : std::nullopt;
}

}  // namespace sonde
