#include "report/pairs.h"

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
  for (const auto& [work, matrix] : analysis.interfere) {
    if (work != "register") continue;
    const std::vector<double> control = pair_values(matrix);
    if (control.size() >= kFewestControls) analysis.control = quantile(control, kControlQuantile);
  }
  for (const auto& [work, matrix] : analysis.interfere) {
    SlowDowns found;
    found.work = work;
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
        if (analysis.control && value > *analysis.control) ++above;
      }
    }
    if (found.pairs == 0) continue;
    if (analysis.control && work != "register") {
      found.above_control = static_cast<double>(above) / static_cast<double>(found.pairs);
    }
    analysis.slow_downs.push_back(std::move(found));
  }
}

}  // namespace sonde
