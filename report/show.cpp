#include "report/show.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/parse.h"
#include "core/units.h"

namespace sonde {
namespace {

struct Prefix {
  double factor;
  const char* text;
};

std::string with_prefix(double value, const std::string& unit) {
  static constexpr Prefix kPrefixes[] = {{1e15, "P"}, {1e12, "T"}, {1e9, "G"},
                                         {1e6, "M"},  {1e3, "k"},  {1, ""}};
  for (const Prefix& prefix : kPrefixes) {
    if (std::abs(value) >= prefix.factor || prefix.factor == 1) {
      return show_number(value / prefix.factor) + " " + prefix.text + unit;
    }
  }
  return show_number(value) + " " + unit;
}

}  // namespace

std::string show_number(double value, int digits) {
  if (!std::isfinite(value)) return "unknown";
  if (value == 0) return "0";
  const double size = std::abs(value);
  if (size < 1e-3 || size >= 1e7) return fmt::format("{:.{}g}", value, digits);
  const int whole = static_cast<int>(std::floor(std::log10(size))) + 1;
  std::string text = fmt::format("{:.{}f}", value, std::max(0, digits - whole));
  if (text.find('.') != std::string::npos) {
    text.erase(text.find_last_not_of('0') + 1);
    if (text.back() == '.') text.pop_back();
  }
  return text;
}

std::string show_quantity(double value, const std::string& unit) {
  if (!std::isfinite(value)) return "unknown";
  if (unit == "B" && value == std::floor(value) && std::abs(value) < 0x1p62) {
    const auto bytes = static_cast<std::int64_t>(value);
    const std::string text = format_size(Bytes(bytes));
    // "110218 KiB" is exact but says little; bytes with separators are exact and read better.
    return text.ends_with("iB") && text.find(' ') > 5 ? format_count(bytes) + " B" : text;
  }
  if (unit == "B/s" || unit == "FLOP/s") return with_prefix(value, unit);
  if (unit == "ns" && std::abs(value) >= 1e6) return show_number(value / 1e6) + " ms";
  if (unit == "ns" && std::abs(value) >= 1e4) return show_number(value / 1e3) + " \u00b5s";
  if (unit == "1" || unit == "groups") return show_number(value);
  if (unit == "degC") return show_number(value) + " \u00b0C";
  return show_number(value) + " " + unit;
}

std::string show_short_size(double bytes) {
  static constexpr Prefix kPrefixes[] = {{0x1p30, "GiB"}, {0x1p20, "MiB"}, {0x1p10, "KiB"}};
  for (const Prefix& prefix : kPrefixes) {
    if (bytes >= prefix.factor) return show_number(bytes / prefix.factor, 4) + " " + prefix.text;
  }
  return show_number(bytes, 3) + " B";
}

std::string show_estimate(const Estimate& estimate, const std::string& unit) {
  if (!estimate.value) return "unknown";
  std::string text = show_quantity(*estimate.value, unit);
  if (estimate.interval) {
    text += " (" + show_quantity(estimate.interval->low, unit) + " to " +
            show_quantity(estimate.interval->high, unit) + ")";
  }
  return text;
}

}  // namespace sonde
