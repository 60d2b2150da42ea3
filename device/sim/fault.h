#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "device/device.h"

namespace sonde::sim {

/// What goes wrong on purpose, to try what is built upon the device. All but `corrupt` and `memory`
/// begin at one modelled time, so a killed and resumed run meets them at the same sample.
enum class Fault {
  none,
  corrupt,  ///< results are wrong, for verify()
  lost,     ///< the device is gone: every run from then on fails
  hang,     ///< a run never ends
  memory,   ///< one run in eight finds no memory
  clock,    ///< the clock that stamps samples is set far ahead, later back
};

/// nullopt when there is no fault of that name.
std::optional<Fault> fault_from(std::string_view name);
std::string to_string(Fault fault);

/// What the fault does to a run that starts at `now_ns`: throws PointFailure or std::bad_alloc, or
/// never returns.
void meet_fault(Fault fault, const Trial& trial, std::int64_t now_ns);

/// Modelled time as the device's clock shows it, and back.
std::int64_t shown_ns(Fault fault, std::int64_t now_ns);
std::int64_t modelled_ns(Fault fault, std::int64_t shown);

}  // namespace sonde::sim
