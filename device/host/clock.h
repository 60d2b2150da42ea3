#pragma once

#include <cstdint>
#include <optional>

#include "core/units.h"

namespace sonde::host {

/// Nanoseconds of CLOCK_MONOTONIC: 1 ns steps with the TSC as clock source, and the kernel's
/// reading waits for earlier loads to finish.
std::int64_t monotonic_ns();

/// Clock of the core the calling thread is on, from the time of a chain of dependent integer
/// multiplies, in about 200 us. nullopt where the cycles a multiply takes are not known.
std::optional<Hertz> measure_core_clock();

/// Tells the processor that this loop waits for another thread.
inline void spin_pause() {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

}  // namespace sonde::host
