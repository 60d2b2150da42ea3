#pragma once

#include <string>
#include <vector>

namespace sonde::sim {

/// What follows `sim:` in a device name: a chip and options, `950pr_9579?fault=corrupt&noise=off`.
struct Selector {
  std::string chip;
  bool corrupt = false;  ///< results are wrong on purpose, for tests of verify()
  bool noise = true;
};

/// Throws UsageError naming the valid options. The chip's name is not checked here.
Selector parse_selector(const std::string& text);

}  // namespace sonde::sim
