#include "probes/pair_design.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <utility>

#include "core/decide.h"
#include "core/rng.h"
#include "core/statistics.h"

namespace sonde {
namespace {

/// So few other cores are measured in both directions at once: the second costs little, and a small
/// device has little else to tell noise from structure.
constexpr std::size_t kFewPartners = 16;
/// About so many partners of each core where not all are tried at first.
constexpr std::size_t kFirstPartners = 192;

/// Pairs that were measured, and what came of them.
class Tried {
 public:
  Tried(std::size_t cores, const std::vector<std::pair<Directed, double>>& done)
      : partners_(cores) {
    for (const auto& [pair, excess] : done) {
      const auto [v, a] = pair;
      auto& both = sums_[std::minmax(v, a)];
      both.first += excess;
      ++both.second;
      directed_.insert({v, a});
      partners_[v].insert(a);
      partners_[a].insert(v);
    }
  }

  const std::map<std::pair<std::size_t, std::size_t>, std::pair<double, int>>& pairs() const {
    return sums_;
  }
  bool measured(std::size_t victim, std::size_t aggressor) const {
    return directed_.contains({victim, aggressor});
  }
  bool measured_at_all(std::size_t a, std::size_t b) const { return partners_[a].contains(b); }
  std::size_t partners(std::size_t core) const { return partners_[core].size(); }

 private:
  std::map<std::pair<std::size_t, std::size_t>, std::pair<double, int>> sums_;
  std::set<std::pair<std::size_t, std::size_t>> directed_;
  std::vector<std::set<std::size_t>> partners_;
};

/// By a coin, so that neither of two cores is always the victim.
Directed either_way(std::size_t a, std::size_t b, std::uint64_t seed) {
  if (a > b) std::swap(a, b);
  const bool swap = (key_of({seed, a, b, 0x70616972}) & 1U) != 0;
  return swap ? Directed{b, a} : Directed{a, b};
}

/// What is known of the slow-down of each pair.
struct Excesses {
  std::vector<std::pair<Directed, double>> pairs;
  double error = 0;  ///< standard deviation of one
};

Excesses excesses_of(const PairLog& log) {
  std::map<std::size_t, std::vector<double>> own;  // control of each victim
  for (const MeasuredPair& one : log.controls) own[one.pair.victim].push_back(one.log_latency);
  Excesses result;
  std::vector<double> all;
  for (const MeasuredPair& one : log.beside) {
    const auto control = own.find(one.pair.victim);
    const auto alone = log.alone.find(one.pair.victim);
    if (control == own.end() && alone == log.alone.end()) continue;
    const double reference =
        control != own.end() ? median(control->second).value_or(0) : alone->second;
    all.push_back(one.log_latency - reference);
    result.pairs.emplace_back(one.pair, all.back());
  }
  // The controls of one victim share nothing, so that they differ by chance.
  std::vector<double> off;
  double kept = 0, count = 0;
  for (const auto& [victim, values] : own) {
    if (values.size() < 2) continue;
    const double middle = median(values).value_or(0);
    for (double value : values) off.push_back(std::abs(value - middle));
    count += static_cast<double>(values.size());
    kept += static_cast<double>(values.size()) - 1;  // the median takes one of them
  }
  // The reference of a victim, a median of its own, is uncertain too (pi / 2 of the variance of a
  // mean). Without controls most pairs are taken for one.
  const double reference = 1 + 1.571 * static_cast<double>(own.size()) / std::max(count, 1.0);
  result.error = 1.4826 * (kept > 0 ? median(off).value_or(0) * std::sqrt(count / kept * reference)
                                    : mad(all).value_or(0));
  return result;
}

}  // namespace

std::vector<Directed> first_pairs(std::size_t cores, std::uint64_t seed) {
  std::vector<Directed> pairs;
  Rng rng(key_of({seed, cores, 0x66697273}));
  const bool few = cores <= kFewPartners + 1;
  for (std::size_t b = 1; b < cores; ++b) {
    for (std::size_t a = 0; a < b; ++a) {
      if (!few && (rng.below(5) == 0 || rng.below(cores - 1) >= kFirstPartners)) continue;
      const Directed pair = either_way(a, b, seed);
      pairs.push_back(pair);
      if (few) pairs.push_back({pair.aggressor, pair.victim});
    }
  }
  return pairs;
}

std::vector<Directed> further_pairs(std::size_t cores, std::uint64_t seed, const PairLog& log) {
  const auto [excesses, error] = excesses_of(log);
  const Tried tried(cores, excesses);
  std::vector<Directed> more;
  std::vector<std::vector<std::size_t>> tied(cores);
  for (const auto& [pair, sum] : tried.pairs()) {
    const auto [a, b] = pair;
    const double mean_error = error / std::sqrt(static_cast<double>(sum.second));
    const Decision decision = decide(sum.first / sum.second, mean_error, tried.pairs().size());
    if (decision == Decision::unaffected) continue;
    for (const Directed& one : {Directed{a, b}, Directed{b, a}}) {
      if (!tried.measured(one.victim, one.aggressor)) more.push_back(one);
    }
    if (decision != Decision::affected) continue;
    tied[a].push_back(b);
    tied[b].push_back(a);
  }
  std::set<std::pair<std::size_t, std::size_t>> added;
  const auto add = [&](std::size_t a, std::size_t b) {
    if (a == b || tried.measured_at_all(a, b) || !added.insert(std::minmax(a, b)).second) return;
    more.push_back(either_way(a, b, seed));
  };
  for (std::size_t core = 0; core < cores; ++core) {
    for (std::size_t a : tied[core]) {
      for (std::size_t b : tied[core]) add(a, b);
    }
  }
  const auto alone = static_cast<std::size_t>(
      std::count_if(tied.begin(), tied.end(), [](const auto& ties) { return ties.empty(); }));
  for (std::size_t core = 0; core < cores; ++core) {
    if (!tied[core].empty()) continue;
    // Where most cores are tied to none, the device shares nothing that pairs show.
    if (2 * alone > cores && 2 * tried.partners(core) >= cores - 1) continue;
    Rng rng(key_of({seed, core, tried.partners(core)}));
    std::vector<std::size_t> others;
    for (std::size_t b = 0; b < cores; ++b) {
      if (b != core && !tried.measured_at_all(core, b)) others.push_back(b);
    }
    shuffle(others, rng);
    others.resize(std::min(others.size(), kFirstPartners / 2));
    for (std::size_t b : others) add(core, b);
  }
  return more;
}

}  // namespace sonde
