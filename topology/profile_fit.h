#pragma once

#include <span>
#include <vector>

#include "topology/matrix.h"

namespace sonde {

/// Address profiles, addresses x cores; NaN: not measured.
using Profiles = Matrix;

/// What is left of each core's profile when what all cores see alike is taken away.
struct ProfileFit {
  Profiles rest;        ///< ns; wild samples cut, NaN where not measured
  double rounding = 0;  ///< ns; what is smaller is no difference
};

/// Takes from each profile its own offset, its own factor on the common profile (a core at another
/// clock) and slow changes of both along the visiting order (drift). Visiting order is random, so
/// what belongs to an address does not follow it and stays.
ProfileFit fit_profiles(const Profiles& latency_ns);

}  // namespace sonde
