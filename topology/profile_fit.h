#pragma once

#include <Eigen/Dense>
#include <vector>

namespace sonde {

/// Address profiles, addresses x cores; NaN: not measured.
using Profiles = Eigen::ArrayXXd;

/// What is left of each core's profile when what all cores see alike is taken away.
struct ProfileFit {
  Profiles rest;          ///< ns; wild samples cut, NaN where not measured
  Eigen::ArrayXd weight;  ///< of each core in what cores have in common: 1 over its noise squared
  double rounding = 0;    ///< ns; what is smaller is no difference
};

/// Takes from each profile its own offset, its own factor on the common profile (a core at another
/// clock) and slow changes of both along the visiting order (drift). Visiting order is random, so
/// what belongs to an address does not follow it and stays.
ProfileFit fit_profiles(const Profiles& latency_ns);

/// What the given cores have in common at each address: the weighted mean of the middle half, equal
/// to the mean for two equal groups and deaf to a few wild cores.
Eigen::ArrayXd common_part(const Profiles& profiles, const Eigen::ArrayXd& weight,
                           const std::vector<Eigen::Index>& cores);

/// Robust standard deviation about zero; the plain one where more than half of the values are 0.
double spread_of(const Eigen::ArrayXd& values);

/// In units of the spread, cut at four of them, scaled to mean square 1; what was not measured
/// becomes 0, and all of it where the spread is within `rounding`.
Eigen::VectorXd at_unit_size(const Eigen::ArrayXd& values, double rounding);

}  // namespace sonde
