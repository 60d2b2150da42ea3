#include "device/sim/selector.h"

#include <algorithm>
#include <string_view>

#include "core/error.h"

namespace sonde::sim {

namespace {

constexpr std::string_view kValid = "options are fault=none, fault=corrupt, noise=on and noise=off";

[[noreturn]] void refuse(const std::string& text, std::string_view option) {
  throw UsageError("sim:" + text + ": unknown option \"" + std::string(option) +
                   "\": " + std::string(kValid));
}

}  // namespace

Selector parse_selector(const std::string& text) {
  Selector selector;
  const std::size_t mark = text.find('?');
  selector.chip = text.substr(0, mark);
  if (mark == std::string::npos) return selector;
  std::string_view rest = std::string_view(text).substr(mark + 1);
  std::vector<std::string_view> seen;
  while (true) {
    const std::size_t end = std::min(rest.find('&'), rest.size());
    const std::string_view option = rest.substr(0, end);
    if (option == "fault=none" || option == "fault=corrupt") {
      selector.corrupt = option == "fault=corrupt";
    } else if (option == "noise=on" || option == "noise=off") {
      selector.noise = option == "noise=on";
    } else {
      refuse(text, option);
    }
    const std::string_view key = option.substr(0, option.find('='));
    if (std::find(seen.begin(), seen.end(), key) != seen.end()) {
      throw UsageError("sim:" + text + ": option " + std::string(key) + " is given twice");
    }
    seen.push_back(key);
    if (end == rest.size()) return selector;
    rest.remove_prefix(end + 1);
  }
}

}  // namespace sonde::sim
