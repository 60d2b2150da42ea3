#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/rng.h"
#include "report/copy.h"

namespace sonde::testing_copies {

/// A copy engine drawn at random: a fixed cost, a rate, cache edges (the time per byte rises in
/// proportion to the logarithm of the size over 0.6 to 1.5 octaves), perhaps one switch to a method
/// of another fixed cost and rate, perhaps one alignment class on a line of its own.
struct CopyEngine {
  double fixed_s = 0, rate = 0;
  struct Edge {
    double from = 0, octaves = 0, rise = 0;  ///< rise in units of the first time per byte
  };
  std::vector<Edge> edges;
  std::optional<double> switch_bytes;  ///< largest size on the old method
  double jump_s = 0;                   ///< at that size
  double new_fixed_s = 0, new_slope = 1;
  std::optional<CopyClass> aligned;
  double noise = 0, outliers = 0;

  double old_time(double bytes) const;
  double line_time(double bytes) const;  ///< of sizes outside the class
  double time(double bytes) const;
  /// The jump over the noise of one sample just before it.
  double jump_over_noise() const;
};
CopyEngine random_engine(std::uint64_t seed);

/// As the copy probe measures it: the default ladder and its refinement, samples until the interval
/// is narrow.
Curve measure_engine(const CopyEngine& engine, std::uint64_t seed);

struct CopyScore {
  std::int64_t engines = 0, refined_sizes = 0;
  std::int64_t with_switch = 0, clear = 0, found = 0;  ///< clear: the jump is over three noises
  std::int64_t brackets = 0, brackets_hold = 0;        ///< of the clear ones that were found
  std::int64_t jumps = 0, jumps_hold = 0;
  std::int64_t without_switch = 0, claimed = 0;  ///< engines without a switch that were given one
  std::int64_t extra = 0;  ///< switches beside the true one, in engines with one
  std::int64_t classes = 0, classes_named = 0, classes_claimed = 0;
  std::int64_t factors = 0, factors_hold = 0;  ///< of the classes named, with an interval
  std::int64_t peaks = 0, peaks_hold = 0;      ///< best rate of the sizes tested
  std::int64_t edges = 0, edges_seen = 0, edges_hold = 0;
  std::int64_t undecided = 0;  ///< engines with such a place
  void add(const CopyEngine& engine, const Curve& curve);
};

/// The targets that are missed, in words; empty: none.
std::vector<std::string> missed(const CopyScore& score);

}  // namespace sonde::testing_copies
