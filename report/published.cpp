#include "report/published.h"

#include <algorithm>
#include <cctype>
#include <map>
#include <sstream>

#include "core/csv_reader.h"
#include "core/error.h"
#include "core/files.h"
#include "report/figure.h"
#include "report/headlines.h"

namespace sonde {
namespace {

/// The chip file's name: of "sim:950pr_9579?noise=off" the middle; a real device by its product.
std::string chip_of(const DeviceDescription& device) {
  if (device.name.rfind("sim:", 0) == 0) {
    return device.name.substr(4, device.name.find('?') - 4);
  }
  return device.product.find("H100") != std::string::npos ? "h100_sxm" : "";
}

struct Reading {
  const char* finding;
  const char* words;
};
struct Quantity {
  const char* name;  ///< in study.csv
  const char* words;
  std::vector<Reading> readings;
};

const std::vector<Quantity>& quantities() {
  static const std::vector<Quantity> all = {
      {"gemm_fraction",
       "fraction of attainable",
       {{"gemm.fraction.mean.datasheet", "mean, reference clock"},
        {"gemm.fraction.median.datasheet", "median, reference clock"},
        {"gemm.fraction.time_weighted.datasheet", "time-weighted, reference clock"},
        {"gemm.fraction.mean.sampled_clock", "mean, sampled clock"},
        {"gemm.fraction.median.sampled_clock", "median, sampled clock"},
        {"gemm.fraction.time_weighted.sampled_clock", "time-weighted, sampled clock"}}},
      {"gemm_best",
       "best fraction",
       {{"gemm.best.datasheet", "best shape, reference clock"},
        {"gemm.best.sampled_clock", "best shape, sampled clock"}}},
      {"gemm_below_ridge_median",
       "median below the ridge",
       {{"gemm.below_ridge.median.datasheet", "median below the device's ridge, reference clock"},
        {"gemm.below_ridge.median.sampled_clock", "the same, sampled clock"},
        {"gemm.below_236.median.datasheet", "median below 236 FLOP/B, reference clock"}}},
      {"gemm_power",
       "power",
       {{"gemm.power_w.above_ridge.median", "median over the shapes above the ridge"},
        {"gemm.power_w.median", "median over all points"}}},
      {"gemm_clock",
       "clock",
       {{"gemm.clock_mhz.above_ridge.median", "median over the shapes above the ridge"},
        {"gemm.clock_mhz.median", "median over all points"}}}};
  return all;
}

}  // namespace

std::vector<PublishedBeside> published_beside(const RunAnalysis& analysis,
                                              const std::vector<Finding>& findings,
                                              const std::filesystem::path& published) {
  std::vector<PublishedBeside> table;
  const std::string chip = chip_of(analysis.run->manifest.device);
  if (chip.empty() || !analysis.gemm || analysis.gemm->shapes.empty()) return table;
  std::error_code ignored;
  if (!std::filesystem::is_regular_file(published, ignored)) return table;
  std::istringstream lines(read_file(published));
  std::vector<std::string> header;
  std::string line;
  while (std::getline(lines, line)) {
    std::string problem;
    const auto cells = split_record(line, &problem);
    if (!cells) throw UsageError(published.string() + ": " + problem);
    if (header.empty()) {
      header = *cells;
      continue;
    }
    std::map<std::string, std::string> cell;
    for (std::size_t i = 0; i < std::min(header.size(), cells->size()); ++i) {
      cell[header[i]] = (*cells)[i];
    }
    if (cell["device"] != chip) continue;
    for (const Quantity& quantity : quantities()) {
      if (cell["quantity"] != quantity.name) continue;
      PublishedBeside row{quantity.words, cell["value"] + " " + cell["unit"], cell["source"], {}};
      for (const Reading& reading : quantity.readings) {
        const Finding* found = find_finding(findings, reading.finding);
        if (found == nullptr || !found->value) continue;
        row.found.emplace_back(reading.words, show_value(*found, *found->value));
      }
      if (!row.found.empty()) table.push_back(std::move(row));
    }
  }
  return table;
}

}  // namespace sonde
