#pragma once

#include <cstdint>
#include <optional>

#include "core/samples.h"

namespace sonde {

/// Most blocks that still run at once, from latency against the number of blocks launched.
struct Wave {
  bool found = false;
  std::int64_t last_in = 0;       ///< largest tested count inside the first wave
  std::int64_t first_beyond = 0;  ///< smallest tested count beyond it
  double step = 0;                ///< latency beyond over latency inside
  /// Fewer than three block counts: no answer either way.
  bool cannot_tell = false;
};

/// A wave is a step between two neighbouring counts that the trend on either side does not
/// explain: at least 30 % of the latency, and beyond what the samples scatter.
Wave find_wave(const Curve& latency);

}  // namespace sonde
