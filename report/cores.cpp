#include "report/cores.h"

#include <algorithm>
#include <cmath>
#include <map>

namespace sonde {
namespace {

constexpr std::size_t kFewestCores = 5;
/// Cores of one chip differ by distance alone; less than this is never worth a flag.
constexpr double kLeastDifference = 0.02;
constexpr double kSigmas = 5;

}  // namespace

CoreLatencies judge_cores(std::vector<CoreLatency> cores) {
  std::sort(cores.begin(), cores.end(),
            [](const CoreLatency& a, const CoreLatency& b) { return a.core < b.core; });
  CoreLatencies result{std::move(cores), true};
  std::map<std::string, std::vector<double>> by_kind;
  for (const CoreLatency& core : result.cores) {
    if (core.point.y.value) by_kind[core.core.kind].push_back(*core.point.y.value);
  }
  for (CoreLatency& core : result.cores) {
    const std::vector<double>& peers = by_kind[core.core.kind];
    if (peers.size() < kFewestCores || !core.point.y.interval) continue;
    result.cannot_tell = false;
    const double centre = *median(peers);
    const double reach =
        std::max(kSigmas * 1.4826 * mad(peers).value_or(0.0), kLeastDifference * centre);
    core.outlier =
        core.point.y.interval->low > centre + reach || core.point.y.interval->high < centre - reach;
  }
  return result;
}

}  // namespace sonde
