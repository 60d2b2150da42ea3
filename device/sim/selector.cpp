#include "device/sim/selector.h"

#include <algorithm>
#include <charconv>
#include <string_view>
#include <vector>

#include "core/error.h"
#include "core/text.h"

namespace sonde::sim {

namespace {

constexpr std::string_view kValid =
    "options are fault=corrupt, lost, hang, memory, clock or none, noise=off, noise=on or parts of "
    "noise joined by + (on, drift, episodes, steps, a spread such as 2%); sim:random also takes "
    "seed=N and structure=any, planted or none";
constexpr std::int64_t kMostSpreadPpm = 200'000;

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  while (true) {
    const std::size_t end = std::min(text.find(separator), text.size());
    parts.push_back(text.substr(0, end));
    if (end == text.size()) return parts;
    text.remove_prefix(end + 1);
  }
}

class OptionReader {
 public:
  explicit OptionReader(const std::string& text) : text_(text) {}

  Selector read() {
    const std::size_t mark = text_.find('?');
    selector_.chip = text_.substr(0, mark);
    if (mark != std::string::npos) {
      for (std::string_view option : split(std::string_view(text_).substr(mark + 1), '&')) {
        take(option);
      }
    }
    const bool random = selector_.chip == kRandomChip;
    if (random && !given("seed")) fail("no seed: name one, as in sim:random?seed=1");
    for (const char* key : {"seed", "structure"}) {
      if (!random && given(key)) fail(std::string(key) + "= is an option of sim:random alone");
    }
    return selector_;
  }

 private:
  [[noreturn]] void fail(const std::string& problem) const {
    throw UsageError(shown_text("sim:" + text_ + ": " + problem));
  }
  [[noreturn]] void refuse(std::string_view option) const {
    fail("unknown option \"" + std::string(option) + "\": " + std::string(kValid));
  }
  bool given(std::string_view key) const {
    return std::find(seen_.begin(), seen_.end(), key) != seen_.end();
  }

  void take(std::string_view option) {
    const std::size_t sign = option.find('=');
    if (sign == std::string_view::npos) refuse(option);
    const std::string_view key = option.substr(0, sign);
    const std::string_view value = option.substr(sign + 1);
    if (given(key)) fail("option " + std::string(key) + " is given twice");
    seen_.push_back(key);
    if (key == "fault" && fault_from(value)) {
      selector_.fault = *fault_from(value);
    } else if (key == "noise") {
      take_noise(value);
    } else if (key == "seed") {
      take_seed(value);
    } else if (key == "structure" && value == "any") {
      selector_.structure = Selector::Structure::any;
    } else if (key == "structure" && value == "planted") {
      selector_.structure = Selector::Structure::planted;
    } else if (key == "structure" && value == "none") {
      selector_.structure = Selector::Structure::none;
    } else {
      refuse(option);
    }
  }

  void take_noise(std::string_view value) {
    if (value == "off") {
      selector_.noise = false;
      return;
    }
    std::vector<std::string_view> parts = split(value, '+');
    for (std::string_view part : parts) {
      if (std::count(parts.begin(), parts.end(), part) > 1) {
        fail("noise " + std::string(part) + " is given twice");
      }
      if (part == "drift") {
        selector_.drift = true;
      } else if (part == "episodes") {
        selector_.episodes = true;
      } else if (part == "steps") {
        selector_.steps = true;
      } else if (part.ends_with('%') && !selector_.noise_spread_ppm) {
        selector_.noise_spread_ppm = spread(part.substr(0, part.size() - 1));
      } else if (part != "on") {
        refuse("noise=" + std::string(value));
      }
    }
  }

  /// A percentage of at most four decimals, in whole parts per million.
  std::int64_t spread(std::string_view percent) const {
    const std::size_t dot = std::min(percent.find('.'), percent.size());
    std::string digits(percent.substr(0, dot));
    std::string decimals(dot < percent.size() ? percent.substr(dot + 1) : "0");
    const bool complete = !digits.empty() && !decimals.empty() && decimals.size() <= 4;
    decimals.resize(4, '0');
    std::int64_t ppm = 0;
    const std::string all = digits + decimals;
    const auto [end, error] = std::from_chars(all.data(), all.data() + all.size(), ppm);
    if (!complete || all.find('-') != std::string::npos || error != std::errc() ||
        end != all.data() + all.size() || ppm > kMostSpreadPpm) {
      fail("noise=" + std::string(percent) + "%: expected 0% to " +
           std::to_string(kMostSpreadPpm / 10'000) + "% with at most four decimals");
    }
    return ppm;
  }

  void take_seed(std::string_view value) {
    const auto [end, error] =
        std::from_chars(value.data(), value.data() + value.size(), selector_.seed);
    if (error != std::errc() || end != value.data() + value.size()) {
      fail("seed=" + std::string(value) + ": expected a whole number from 0 to 2^64 - 1");
    }
  }

  const std::string& text_;
  Selector selector_;
  std::vector<std::string_view> seen_;
};

}  // namespace

Selector parse_selector(const std::string& text) { return OptionReader(text).read(); }

std::string noise_text(const Selector& selector) {
  if (!selector.noise) return "off";
  std::string text = "on";
  if (selector.noise_spread_ppm) {
    std::string decimals = std::to_string(1'000'000'000 + *selector.noise_spread_ppm);
    text = std::to_string(*selector.noise_spread_ppm / 10'000) + "." + decimals.substr(6) + "%";
  }
  if (selector.drift) text += "+drift";
  if (selector.episodes) text += "+episodes";
  if (selector.steps) text += "+steps";
  return text;
}

}  // namespace sonde::sim
