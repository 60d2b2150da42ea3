#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

namespace sonde {

/// One aggressor beside one victim, by their positions among the cores.
struct Directed {
  std::size_t victim = 0;
  std::size_t aggressor = 0;
};

/// A victim and one aggressor, with the logarithm of the victim's latency.
struct MeasuredPair {
  Directed pair;
  double log_latency = 0;
};

/// What was measured of one kind of contention.
struct PairLog {
  std::map<std::size_t, double> alone;  ///< logarithm of a victim's latency, by victim
  std::vector<MeasuredPair> controls;   ///< beside aggressors that share nothing
  std::vector<MeasuredPair> beside;
};

/// Launches of one pair of a victim and its aggressors: a late one is outvoted.
inline constexpr std::int64_t kPairRepetitions = 3;
/// Register-only aggressors of each victim: cores that are numbered next are the likeliest to share
/// something.
inline constexpr std::size_t kControls = 4;

/// Where the design of pairs starts: four of five pairs of cores in one direction, which a coin
/// chooses; all in both where the cores are few; a smaller sample where they are many.
std::vector<Directed> first_pairs(std::size_t cores, std::uint64_t seed);

/// What is to be measured next, empty when every pair is decided (core/decide.h): the other
/// direction of a pair that is not clearly unaffected; two cores that an affected pair ties to a
/// third one; and, for a core that nothing affects, further partners, all others at most, half of
/// them where most cores are affected by none. An excess is what a latency is above that of the
/// victim beside its controls (alone where it has none). A pure function.
std::vector<Directed> further_pairs(std::size_t cores, std::uint64_t seed, const PairLog& log);

}  // namespace sonde
