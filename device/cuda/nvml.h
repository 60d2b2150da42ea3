#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "core/units.h"

namespace sonde::cuda {

/// What the management library says of a card now; unknown is unknown.
struct CardState {
  std::optional<Hertz> sm_clock;
  std::optional<Hertz> memory_clock;
  std::optional<Watts> power;  ///< the instantaneous reading: the default one lags by a second
  std::optional<Celsius> temperature;
  std::optional<std::uint64_t> throttle_reasons;  ///< bits of nvmlClocksEventReasons
};

/// What it says once.
struct CardFacts {
  std::optional<std::string> driver;
  std::optional<Hertz> most_sm_clock;
  std::optional<Hertz> most_memory_clock;
  std::optional<Watts> power_limit;
  std::optional<bool> ecc;
  std::optional<bool> persistence;
  std::optional<bool> mig;
  std::optional<std::string> compute_mode;
};

/// Reasons in words: "power cap, thermal"; "none" when the clock is not held back.
std::string describe_throttle(std::uint64_t reasons);
/// Whether heat or the board, not a steady power cap, holds the clock back.
bool is_disturbed(std::uint64_t reasons);

/// NVML, found at run time, for one card. It only reads.
class Nvml {
 public:
  /// `bus_id` as the CUDA runtime writes it. Never throws: without the library or the card every
  /// answer is unknown.
  explicit Nvml(const std::string& bus_id);
  ~Nvml();
  Nvml(const Nvml&) = delete;
  Nvml& operator=(const Nvml&) = delete;

  CardState state() const;
  CardFacts facts() const;

 private:
  struct Library;
  Library* library_ = nullptr;
  void* card_ = nullptr;
};

}  // namespace sonde::cuda
