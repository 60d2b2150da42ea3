#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "device/sim/selector.h"
#include "tests/support/planted.h"

namespace sonde {

/// How a random chip is measured.
struct ChipDesign {
  std::int64_t addresses = 1024;
  std::int64_t launches = 3;                       ///< of a point
  std::optional<std::int64_t> noise_percent = {};  ///< of a load and a launch; none: the chip's own
};

/// A planted level and how far it stands out of the noise.
struct TrueLevel {
  sim::PlantedLevel planted;
  /// Gap between pairs of one group and pairs of two, in standard errors of one pair's statistic;
  /// of the slow-downs or the profiles, whichever shows it better. Below zero: they overlap.
  double clearness = 0;
  bool decidable() const { return clearness >= 8; }
};

/// The truth of a chip: its planted levels, judged on the chip without noise. Statistics of a pair:
/// the logarithm of the slow-down beside one aggressor that loads (mean of both directions; the
/// error is that of a median of `launches`), and the mean square difference of two centred
/// profiles.
std::vector<TrueLevel> true_levels(const sim::Chip& chip, const std::string& device,
                                   const ChipDesign& design);

}  // namespace sonde
