#pragma once

#include <cstdint>
#include <vector>

namespace sonde {

/// A size with its median time.
struct TimedSize {
  std::int64_t bytes = 0;
  double time = 0;   ///< seconds
  double error = 0;  ///< relative standard error, from its samples
};

/// Sizes to test next, one in each gap of `tested` (ascending) where the time seems to jump: the
/// lines through the sizes on its two sides disagree, and no gap within a quarter octave disagrees
/// more. A gap is halved until it is within 0.5 %, and where the two sides stand far apart for
/// their noise and the device is not `real` down to 64 bytes. Sizes of 4 KiB multiples (where most
/// others are not) are left out: copies of whole pages may lie on a line of their own. New sizes
/// are multiples of 64, odd ones while the gap is wide, off 4 KiB always. Empty: nothing is left to
/// halve.
std::vector<std::int64_t> refine_sizes(const std::vector<TimedSize>& tested, bool real);

}  // namespace sonde
