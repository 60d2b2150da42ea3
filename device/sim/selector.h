#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "device/sim/fault.h"

namespace sonde::sim {

/// What follows `sim:` in a device name: a chip and options,
/// `950pr_9579?fault=corrupt&noise=off`, `random?seed=7&structure=none`.
struct Selector {
  std::string chip;
  Fault fault = Fault::none;

  /// `noise=off`, or parts joined by `+`: `on`, `drift`, `episodes`, `steps`, a spread such as
  /// `2%`.
  bool noise = true;
  bool drift = false;                            ///< slow changes of latency and rates
  bool episodes = false;                         ///< throttling now and then
  bool steps = false;                            ///< of the clock, that the sensor sees
  std::optional<std::int64_t> noise_spread_ppm;  ///< of a load and a launch, for the chip's own

  /// What the cores of a random chip share: `structure=any`, drawn like all else, `planted` or
  /// `none`.
  enum class Structure { any, planted, none } structure = Structure::any;
  std::uint64_t seed = 0;  ///< of a random chip
};

/// Name of the chip that is drawn by `seed=`.
inline constexpr const char* kRandomChip = "random";

/// Throws UsageError naming the valid options. The chip's name is not checked here.
Selector parse_selector(const std::string& text);

/// The noise as the selector writes it: "on", "off", "2%+drift".
std::string noise_text(const Selector& selector);

}  // namespace sonde::sim
