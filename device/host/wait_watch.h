#pragma once

#include "core/units.h"

namespace sonde::host {

/// While it lives, counts how long the calling thread was ready to run but had no core. Made just
/// outside a timed window by the thread that works in it.
class WaitWatch {
 public:
  WaitWatch();
  ~WaitWatch();
  WaitWatch(const WaitWatch&) = delete;
  WaitWatch& operator=(const WaitWatch&) = delete;

 private:
  long long before_ns_;
};

/// What all watches of this process have counted so far; 0 where the system does not say.
Seconds waited_for_cores();

}  // namespace sonde::host
