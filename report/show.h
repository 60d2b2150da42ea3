#pragma once

#include <string>

#include "core/statistics.h"

namespace sonde {

/// A number for people: `digits` significant ones, no exponent between 0.001 and 10 million.
std::string show_number(double value, int digits = 4);

/// A value in a unit of findings.csv, prefixed for people: "134.2 ns", "1.493 TB/s", "347.1
/// TFLOP/s", "32 KiB". One giga is 10^9; sizes in KiB and MiB are powers of two.
std::string show_quantity(double value, const std::string& unit);

/// A size in few characters, rounded: "362 KiB".
std::string show_short_size(double bytes);

/// "134.2 ns (133.9 to 134.6 ns)"; the value alone, or "unknown", where there is no more.
std::string show_estimate(const Estimate& estimate, const std::string& unit);

}  // namespace sonde
