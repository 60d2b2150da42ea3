#pragma once

#include <string>

namespace sonde {

std::string version();       ///< of the suite, set once in the top CMakeLists.txt
std::string revision();      ///< of the source tree at build time, "unknown" outside git
std::string build_preset();  ///< dev, measure, ci or none
std::string utc_now();       ///< wall clock, 2026-11-30T14:05:09Z

}  // namespace sonde
