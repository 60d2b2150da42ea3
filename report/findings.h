#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "report/analysis.h"

namespace sonde {

/// One line of findings.csv. An empty optional is an empty cell: unknown, never 0.
struct Finding {
  std::string run, name;
  std::optional<double> value, low, high;  ///< low and high: 95 % interval, or bracket
  std::string unit;
  TimeSource source = TimeSource::host_clock;
  std::optional<std::int64_t> n;
  std::string basis;      ///< file and statistic
  bool position = false;  ///< low and high are a bracket
};

/// "" for the first of a kind, ".2", ".3" for further ones.
std::string ordinal_suffix(std::size_t index);
/// "" for the main series, ".<name>" for others.
std::string series_suffix(std::size_t index, const std::string& name);

std::vector<Finding> find_findings(const RunAnalysis& analysis);

/// The whole file, header first.
std::string findings_csv(const std::vector<Finding>& findings);

}  // namespace sonde
