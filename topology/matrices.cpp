#include <Eigen/Dense>
#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <unordered_map>

#include "core/error.h"
#include "core/statistics.h"
#include "topology/core_tree.h"
#include "topology/rows.h"

namespace sonde {
namespace {

CoreMatrix empty_matrix(const std::set<CoreName>& cores) {
  CoreMatrix matrix{{cores.begin(), cores.end()}, {}};
  matrix.cells.resize(matrix.cores.size() * matrix.cores.size());
  return matrix;
}

std::size_t position(const CoreMatrix& matrix, const CoreName& core) {
  return static_cast<std::size_t>(std::lower_bound(matrix.cores.begin(), matrix.cores.end(), core) -
                                  matrix.cores.begin());
}

/// A row of interfere.csv in numbers.
struct Beside {
  const std::vector<CoreName>* aggressors;
  double latency;
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
void regress(const Victim& victim, double alone, std::size_t row, CoreMatrix& matrix) {
  std::set<std::size_t> used;
  for (const Beside& beside : victim.beside) {
    for (const CoreName& core : *beside.aggressors) used.insert(position(matrix, core));
  }
  const auto m = static_cast<Eigen::Index>(victim.beside.size());
  std::vector<std::size_t> cores;
  std::vector<Eigen::Index> column(matrix.cores.size(), -1);
  for (std::size_t core : used) {
    if (core == row) continue;
    column[core] = static_cast<Eigen::Index>(cores.size());
    cores.push_back(core);
  }
  const auto p = static_cast<Eigen::Index>(cores.size());
  if (p == 0) return;
  Eigen::MatrixXd membership = Eigen::MatrixXd::Zero(m, p);
  Eigen::VectorXd slow(m);
  for (Eigen::Index r = 0; r < m; ++r) {
    const Beside& beside = victim.beside[static_cast<std::size_t>(r)];
    slow(r) = beside.latency / alone - 1;
    for (const CoreName& core : *beside.aggressors) {
      const Eigen::Index c = column[position(matrix, core)];
      if (c >= 0) membership(r, c) = 1;
    }
  }
  Eigen::MatrixXd normal = membership.transpose() * membership;
  const bool enough = m > p + p / 4 + 1;
  const double strength = normal.diagonal().mean();
  normal.diagonal().array() +=
      strength * (enough ? 1e-9 : static_cast<double>(p) / static_cast<double>(m));
  const Eigen::VectorXd added = normal.ldlt().solve(membership.transpose() * slow);
  for (Eigen::Index c = 0; c < p; ++c) {
    matrix.cells[row * matrix.cores.size() + cores[static_cast<std::size_t>(c)]] = 1 + added(c);
  }
}

/// Each pair for itself: the median beside one aggressor over the median alone.
void compare_pairs(const Victim& victim, double alone, std::size_t row, CoreMatrix& matrix) {
  std::map<std::size_t, std::vector<double>> samples;
  for (const Beside& beside : victim.beside) {
    samples[position(matrix, beside.aggressors->front())].push_back(beside.latency);
  }
  for (const auto& [core, latencies] : samples) {
    if (core != row) matrix.cells[row * matrix.cores.size() + core] = *median(latencies) / alone;
  }
}

}  // namespace

std::optional<CoreMatrix> profile_distance(const ProbeRows& profile, TimeSource source) {
  if (!profile.table) return std::nullopt;
  const ProfileTable table = read_profile(profile, source);
  if (table.cores.empty()) return std::nullopt;
  CoreMatrix matrix = empty_matrix({table.cores.begin(), table.cores.end()});
  const Eigen::Index n = table.latency_ns.cols();
  // A missing value is 0 with weight 0, so that a pair is compared where both have one.
  const Eigen::ArrayXXd weight =
      table.latency_ns.isNaN().select(Eigen::ArrayXXd::Zero(table.latency_ns.rows(), n), 1.0);
  Eigen::ArrayXXd centred = (weight > 0).select(table.latency_ns, 0.0);
  for (Eigen::Index c = 0; c < n; ++c) {
    centred.col(c) = (centred.col(c) - centred.col(c).sum() / weight.col(c).sum()) * weight.col(c);
  }
  for (Eigen::Index i = 0; i < n; ++i) {
    for (Eigen::Index j = 0; j <= i; ++j) {
      const double both = (weight.col(i) * weight.col(j)).sum();
      if (both == 0) continue;
      const double sum =
          ((centred.col(i) - centred.col(j)).abs() * weight.col(i) * weight.col(j)).sum();
      matrix.cells[static_cast<std::size_t>(i * n + j)] = sum / both;
      matrix.cells[static_cast<std::size_t>(j * n + i)] = sum / both;
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

std::optional<CoreMatrix> slow_down(const ProbeRows& interfere, TimeSource source,
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
      victim.beside.push_back({&entry->second, *latency});
    } catch (const UsageError&) {
      continue;  // a text that names no core says nothing of cores
    }
  }
  if (!any) return std::nullopt;
  CoreMatrix matrix = empty_matrix(cores);
  for (const auto& [core, victim] : victims) {
    const std::optional<double> alone = median(victim.alone);
    if (!alone || *alone <= 0 || victim.beside.empty()) continue;
    const std::size_t row = position(matrix, core);
    (subsets ? regress : compare_pairs)(victim, *alone, row, matrix);
  }
  return matrix;
}

std::optional<CoreMatrix> handoff_latency(const ProbeRows& handoff, TimeSource source,
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
  CoreMatrix matrix = empty_matrix(cores);
  for (const auto& [pair, latencies] : samples) {
    if (pair.first == pair.second) continue;
    matrix
        .cells[position(matrix, pair.first) * matrix.cores.size() + position(matrix, pair.second)] =
        *median(latencies);
  }
  return matrix;
}

}  // namespace sonde
