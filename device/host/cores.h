#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/core_name.h"
#include "core/units.h"
#include "device/host/machine.h"

namespace sonde::host {

/// CPU numbers of named cores. Throws Skip naming a core this process may not use, or one that is
/// named twice.
std::vector<int> usable_cpus(const Machine& machine, const std::vector<CoreName>& cores);

/// Where a thread must run, and where it was seen just before and just after its work.
struct Seat {
  int cpu = 0;
  std::optional<int> before;
  std::optional<int> after;
  std::optional<Hertz> clock = {};  ///< of that core just after the work, where it was read

  CoreName core() const;
  /// "NAME was placed on cpu3 but ran on cpu1"; nullopt when it was seen where it must be.
  std::optional<std::string> misplaced(const std::string& name) const;
};

}  // namespace sonde::host
