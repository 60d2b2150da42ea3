#include "report/pairs.h"

#include <map>

namespace sonde {
namespace {

/// Of the pairs beside the register control, which shares nothing but power and the way to start:
/// what lies above is more than chance and the start of an aggressor explain.
constexpr double kControlQuantile = 0.99;
/// Fewer pairs do not show how far the control scatters.
constexpr std::size_t kFewestControls = 8;

}  // namespace

std::vector<double> pair_values(const CoreMatrix& matrix) {
  std::vector<double> values;
  const std::size_t n = matrix.cores.size();
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = 0; j < n; ++j) {
      if (i != j && matrix.at(i, j)) values.push_back(*matrix.at(i, j));
    }
  }
  return values;
}

void judge_slow_downs(RunAnalysis& analysis) {
  std::map<std::string, double> controls;  // by the victim's work
  for (const auto& [kind, matrix] : analysis.interfere) {
    if (!kind.control()) continue;
    const std::vector<double> values = pair_values(matrix);
    if (values.size() < kFewestControls) continue;
    if (const auto limit = quantile(values, kControlQuantile)) controls[kind.victim_work] = *limit;
  }
  for (const auto& [kind, matrix] : analysis.interfere) {
    SlowDowns found;
    found.kind = kind;
    if (const auto control = controls.find(kind.victim_work); control != controls.end()) {
      found.control = control->second;
    }
    std::int64_t above = 0;
    const std::size_t n = matrix.cores.size();
    for (std::size_t i = 0; i < n; ++i) {
      for (std::size_t j = 0; j < n; ++j) {
        if (i == j || !matrix.at(i, j)) continue;
        const double value = *matrix.at(i, j);
        if (found.pairs == 0 || value > found.largest) {
          found.largest = value;
          found.victim = matrix.cores[i];
          found.aggressor = matrix.cores[j];
        }
        ++found.pairs;
        if (found.control && value > *found.control) ++above;
      }
    }
    if (found.pairs == 0) continue;
    if (found.control && !kind.control()) {
      found.above_control = static_cast<double>(above) / static_cast<double>(found.pairs);
    }
    analysis.slow_downs.push_back(std::move(found));
  }
}

}  // namespace sonde
