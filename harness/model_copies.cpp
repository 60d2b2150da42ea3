#include "harness/model_copies.h"

#include <algorithm>
#include <map>

#include "core/error.h"
#include "core/parse.h"
#include "core/units.h"
#include "harness/model_gemm.h"

namespace sonde {
namespace {

/// The largest power of two below the published switch of 400,000 B.
constexpr std::int64_t kSmallCopy = 256 * kKiB;

/// Bytes a second by size, bytes counted once, of the device's own choice of method.
std::map<std::int64_t, double> copy_rates(const ModelRuns& runs, const std::string& device) {
  std::map<std::int64_t, double> rates;
  for (const auto& point : runs.medians(device, "", "copy", "bandwidth_bytes_per_s")) {
    if (point.axes.text(copy_schema(), "direction") != "d2d") continue;
    rates.emplace(point.axes.integer(copy_schema(), "bytes").value(), point.value);
  }
  return rates;
}

/// Read plus write over the datasheet's memory bandwidth, for each byte a second copied.
double utilisation_factor(const ModelRuns& runs, const std::string& device) {
  return 2 / roof_of(runs, device, "", "memory_bytes_per_s");
}

}  // namespace

double small_copy_ratio(const ModelRuns& runs, const std::string& device, const std::string& peer,
                        const std::string& metric) {
  double factor = 1;
  if (metric == "utilisation") {
    factor = utilisation_factor(runs, device) / utilisation_factor(runs, peer);
  } else if (metric != "bandwidth") {
    throw UsageError("comparisons.csv: '" + metric + "' is none of bandwidth and utilisation");
  }
  const auto theirs = copy_rates(runs, peer);
  std::optional<double> smallest;
  for (const auto& [bytes, rate] : copy_rates(runs, device)) {
    const auto found = theirs.find(bytes);
    if (bytes > kSmallCopy || found == theirs.end()) continue;
    const double ratio = rate / found->second * factor;
    if (!smallest || ratio < *smallest) smallest = ratio;
  }
  if (!smallest) throw NoValue("no small copy that both devices have");
  return *smallest;
}

double large_copy_difference(const ModelRuns& runs, const std::string& device,
                             const std::string& peer) {
  const auto utilisation = [&](const std::string& of) {
    const auto rates = copy_rates(runs, of);
    if (rates.empty()) throw NoValue("no copy on " + of);
    return rates.rbegin()->second * utilisation_factor(runs, of);
  };
  return utilisation(device) - utilisation(peer);
}

double copy_dip(const ModelRuns& runs, const std::string& device, const std::string& switch_text) {
  const auto switch_bytes = parse_integer(switch_text);
  if (!switch_bytes)
    throw UsageError("comparisons.csv: '" + switch_text + "' is not a size in bytes");
  const auto rates = copy_rates(runs, device);
  const auto behind = rates.upper_bound(*switch_bytes);
  if (behind == rates.begin() || behind == rates.end()) {
    throw NoValue("no copies on both sides of " + switch_text + " B");
  }
  return std::min(std::prev(behind)->second, rates.rbegin()->second) / behind->second;
}

}  // namespace sonde
