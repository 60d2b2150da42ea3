#pragma once

#include <chrono>

#include "core/units.h"

namespace sonde {

/// Unix time, read once and carried on by a steady clock: a wall clock that is set meanwhile must
/// not make a sample look long or short.
inline Seconds unix_now() {
  using Steady = std::chrono::steady_clock;
  static const std::chrono::duration<double> at_start =
      std::chrono::system_clock::now().time_since_epoch();
  static const Steady::time_point started = Steady::now();
  return Seconds((at_start + std::chrono::duration<double>(Steady::now() - started)).count());
}

}  // namespace sonde
