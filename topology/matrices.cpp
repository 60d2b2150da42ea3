#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <map>
#include <utility>

#include "core/statistics.h"
#include "topology/core_tree.h"
#include "topology/gram.h"
#include "topology/named_cores.h"
#include "topology/rows.h"

namespace sonde {
namespace {

/// Samples of the used ones of `ids`, none yet, and where each of them stands.
std::pair<PairSamples, std::vector<std::size_t>> no_samples(const CoreIds& ids,
                                                            const std::vector<bool>& used) {
  std::map<CoreName, std::uint32_t> by_name;
  for (std::uint32_t id = 0; id < used.size(); ++id) {
    if (used[id]) by_name.emplace(ids.name(id), id);
  }
  PairSamples samples;
  std::vector<std::size_t> position(ids.size());
  for (const auto& [name, id] : by_name) {
    position[id] = samples.cores.size();
    samples.cores.push_back(name);
  }
  samples.cells.resize(samples.cores.size() * samples.cores.size());
  return {std::move(samples), std::move(position)};
}

/// Aggressors of a row, by the code of their set, and what the victim saw.
struct Beside {
  std::size_t set;
  double latency;
};

/// Rows of one victim.
struct Victim {
  std::vector<double> alone;
  std::vector<Beside> beside;  // aggressors of the work asked for
};

using Sets = std::vector<std::vector<std::size_t>>;  // by code: positions among all cores

/// Which subsets hold a core, a bit each; subsets that were measured equally often form a group.
class Membership {
 public:
  Membership(std::size_t cores, const std::vector<double>& times)
      : words_((times.size() + 63) / 64), bits_(cores * words_, 0) {
    for (std::size_t subset = 0; subset < times.size(); ++subset) {
      const auto group = std::find_if(groups_.begin(), groups_.end(),
                                      [&](const Group& g) { return g.times == times[subset]; });
      Group& one = group != groups_.end()
                       ? *group
                       : groups_.emplace_back(Group{times[subset], Words(words_, 0)});
      one.subsets[subset / 64] |= std::uint64_t{1} << subset % 64;
    }
  }
  void add(std::size_t core, std::size_t subset) {
    bits_[core * words_ + subset / 64] |= std::uint64_t{1} << subset % 64;
  }
  /// Rows in which both are aggressors.
  double together(std::size_t a, std::size_t b) const {
    const std::uint64_t *of_a = &bits_[a * words_], *of_b = &bits_[b * words_];
    double rows = 0;
    for (const Group& group : groups_) {
      int subsets = 0;
      for (std::size_t w = 0; w < words_; ++w) {
        subsets += std::popcount(of_a[w] & of_b[w] & group.subsets[w]);
      }
      rows += group.times * subsets;
    }
    return rows;
  }

 private:
  using Words = std::vector<std::uint64_t>;
  struct Group {
    double times;
    Words subsets;
  };
  std::size_t words_;
  Words bits_;
  std::vector<Group> groups_;
};

/// Least squares of the slow-down on which cores were aggressors: what one more aggressor adds. The
/// victim alone, slow-down 1, is the intercept; a free one could not be told from the mean of the
/// coefficients, because all sets are equally large. Ridge only where the rows are too few to tell
/// all aggressors apart.
void regress(const Victim& victim, const Sets& sets, double alone, std::size_t row,
             PairSamples& result) {
  const std::size_t m = victim.beside.size();
  constexpr std::size_t kNone = std::numeric_limits<std::size_t>::max();
  std::vector<std::size_t> subset_of(sets.size(), kNone), subsets;  // by code; codes
  std::vector<double> times;                                        // rows of a subset
  std::vector<bool> used(result.cores.size(), false);
  for (const Beside& beside : victim.beside) {
    std::size_t& subset = subset_of[beside.set];
    if (subset == kNone) {
      subset = subsets.size();
      subsets.push_back(beside.set);
      times.push_back(0);
      for (std::size_t core : sets[beside.set]) used[core] = used[core] || core != row;
    }
    ++times[subset];
  }
  std::vector<std::size_t> cores, column(result.cores.size());
  for (std::size_t core = 0; core < used.size(); ++core) {
    if (!used[core]) continue;
    column[core] = cores.size();
    cores.push_back(core);
  }
  const std::size_t p = cores.size();
  if (p == 0) return;
  std::vector<double> right(p, 0);
  for (const Beside& beside : victim.beside) {
    const double more = beside.latency / alone - 1;
    for (std::size_t core : sets[beside.set]) {
      if (core != row) right[column[core]] += more;
    }
  }
  Membership membership(p, times);
  for (std::size_t subset = 0; subset < subsets.size(); ++subset) {
    for (std::size_t core : sets[subsets[subset]]) {
      if (core != row) membership.add(column[core], subset);
    }
  }
  Matrix normal(p, p);
  for (std::size_t a = 0; a < p; ++a) {
    for (std::size_t b = 0; b <= a; ++b) {
      normal(a, b) = normal(b, a) = membership.together(a, b);
    }
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
void compare_pairs(const Victim& victim, const Sets& sets, double alone, std::size_t row,
                   PairSamples& result) {
  for (const Beside& beside : victim.beside) {
    const std::size_t core = sets[beside.set].front();
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

namespace {

/// Cores that rows of interference name, read once for every kind of contention.
struct InterfereCores {
  explicit InterfereCores(const ProbeRows& interfere)
      : victims(interfere.table->rows.texts(interfere.schema->index("victim")), ids),
        aggressors(interfere.table->rows.texts(interfere.schema->index("aggressors")), ids) {}
  CoreIds ids;
  NamedCores victims, aggressors;
};

std::optional<PairSamples> slow_down_samples(const ProbeRows& interfere, TimeSource source,
                                             const Contention& kind, InterfereCores& cores) {
  const Schema& schema = *interfere.schema;
  const Rows& rows = interfere.table->rows;
  const TextColumn &victim_names = rows.texts(schema.index("victim")),
                   &does = rows.texts(schema.index("victim_work")),
                   &aggressors = rows.texts(schema.index("aggressors")),
                   &done = rows.texts(schema.index("aggressor_work"));
  const NumberColumn& latencies = rows.numbers(schema.index("latency_ns"));
  const auto wanted_work = does.find(kind.victim_work), wanted = done.find(kind.work),
             none = aggressors.find("none");
  const CoreIds& ids = cores.ids;
  NamedCores &victim_cores = cores.victims, &named_sets = cores.aggressors;
  std::vector<Victim> victims(victim_names.texts().size());  // by code
  std::vector<bool> used(aggressors.texts().size(), false);  // by code
  bool subsets = false, any = false;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const auto latency = latencies.at(i);
    const std::size_t name = victim_names.code(i), set = aggressors.code(i);
    if (!rows.usable(i, source) || !latency || set == 0 || done.code(i) == 0 ||
        does.code(i) != wanted_work) {
      continue;
    }
    const bool alone = set == none;
    if (!alone && done.code(i) != wanted) continue;
    const auto* beside = alone ? nullptr : named_sets.set(set);
    if (!victim_cores.one(name) || (!alone && beside == nullptr)) continue;
    if (alone) {
      victims[name].alone.push_back(*latency);
      continue;
    }
    any = used[set] = true;
    subsets = subsets || beside->size() > 1;
    victims[name].beside.push_back({set, *latency});
  }
  if (!any) return std::nullopt;
  std::vector<bool> takes_part(ids.size(), false);
  for (std::size_t name = 0; name < victims.size(); ++name) {
    if (!victims[name].beside.empty()) takes_part[*victim_cores.one(name)] = true;
  }
  for (std::size_t set = 0; set < used.size(); ++set) {
    if (!used[set]) continue;
    for (std::uint32_t id : *named_sets.set(set)) takes_part[id] = true;
  }
  auto [result, position] = no_samples(ids, takes_part);
  Sets sets(used.size());
  for (std::size_t set = 0; set < used.size(); ++set) {
    if (!used[set]) continue;
    for (std::uint32_t id : *named_sets.set(set)) sets[set].push_back(position[id]);
    std::sort(sets[set].begin(), sets[set].end());  // and once: a core is in a set or it is not
    sets[set].erase(std::unique(sets[set].begin(), sets[set].end()), sets[set].end());
  }
  for (std::size_t name = 0; name < victims.size(); ++name) {
    const Victim& victim = victims[name];
    const std::optional<double> alone = median(victim.alone);
    if (!alone || *alone <= 0 || victim.beside.empty()) continue;
    const std::size_t row = position[*victim_cores.one(name)];
    (subsets ? regress : compare_pairs)(victim, sets, *alone, row, result);
  }
  return std::move(result);
}

}  // namespace

ContentionSamples slow_downs_of(const ProbeRows& interfere, TimeSource source) {
  ContentionSamples all;
  if (!interfere.table) return all;
  InterfereCores cores(interfere);
  for (const Contention& kind : contentions_of(interfere, source)) {
    if (auto samples = slow_down_samples(interfere, source, kind, cores)) {
      all.emplace_back(kind, std::move(*samples));
    }
  }
  return all;
}

std::optional<CoreMatrix> slow_down(const ProbeRows& interfere, TimeSource source,
                                    const Contention& kind) {
  if (!interfere.table) return std::nullopt;
  InterfereCores cores(interfere);
  const auto samples = slow_down_samples(interfere, source, kind, cores);
  return samples ? std::optional(medians(*samples)) : std::nullopt;
}

std::optional<PairSamples> handoff_samples(const ProbeRows& handoff, TimeSource source,
                                           const std::string& kind) {
  if (!handoff.table) return std::nullopt;
  const Schema& schema = *handoff.schema;
  const Rows& rows = handoff.table->rows;
  const TextColumn &from = rows.texts(schema.index("from")), &to = rows.texts(schema.index("to")),
                   &done = rows.texts(schema.index("kind"));
  const NumberColumn& latencies = rows.numbers(schema.index("latency_ns"));
  const auto wanted = done.find(kind);
  CoreIds ids;
  NamedCores from_cores(from, ids), to_cores(to, ids);
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::vector<double>> samples;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const auto latency = latencies.at(i);
    if (!rows.usable(i, source) || !latency || done.code(i) != wanted) continue;
    const auto a = from_cores.one(from.code(i)), b = to_cores.one(to.code(i));
    if (a && b) samples[{*a, *b}].push_back(*latency);
  }
  if (samples.empty()) return std::nullopt;
  std::vector<bool> used(ids.size(), false);
  for (const auto& [pair, cell] : samples) used[pair.first] = used[pair.second] = true;
  auto [result, position] = no_samples(ids, used);
  for (auto& [pair, cell] : samples) {
    if (pair.first == pair.second) continue;
    result.at(position[pair.first], position[pair.second]) = std::move(cell);
  }
  return std::move(result);
}

std::optional<CoreMatrix> handoff_latency(const ProbeRows& handoff, TimeSource source,
                                          const std::string& kind) {
  const auto samples = handoff_samples(handoff, source, kind);
  return samples ? std::optional(medians(*samples)) : std::nullopt;
}

}  // namespace sonde
