#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "core/statistics.h"
#include "core/stored_run.h"
#include "report/findings.h"

namespace sonde::test {

/// How the samples of a point scatter about its time, which is always their median.
enum class Scatter {
  normal,
  heavy,         ///< Student's t with 3 degrees of freedom
  skewed,        ///< a floor and an exponential tail
  outliers,      ///< normal, and 3 samples of 100 are 30 % late
  drift,         ///< normal, neighbouring samples of a point correlate by 0.5
  shared_drift,  ///< the same, and all points take the same way
  episodes       ///< normal, and now and then everything is a quarter slower and flagged throttled
};
const char* to_string(Scatter scatter);

struct RowsPlan {
  Scatter scatter = Scatter::normal;
  double deviation = 0.02;  ///< of one sample, relative
  int samples = 0;          ///< of each point; 0: by the stopping rule
  bool gemms = true;        ///< a sweep of GEMMs beside the rest
  bool flat = false;        ///< no level, wave or slow core in the chase
  std::uint64_t seed = 1;
};

/// A point with its true time and what else its rows hold.
struct PlantedPoint {
  std::vector<std::pair<const char*, Cell>> cells;
  double elapsed_s = 0;
  std::vector<std::pair<const char*, double>> rates;   ///< column = this over the time
  std::vector<std::pair<const char*, double>> shares;  ///< column = this times the time
};

/// Rows of all points, measured in rounds as the runner does.
ProbeRows planted_rows(const Schema& schema, const std::vector<PlantedPoint>& points,
                       const RowsPlan& plan);

/// A run of chase, stream, hand-off and GEMM rows, with the truth behind each finding by name.
struct PlantedRun {
  StoredRun run;
  std::map<std::string, double> truth;
};
PlantedRun planted_run(const RowsPlan& plan);

/// "chase.latency_ns.core", "gemm.by_m": what a finding is an example of.
std::string kind_of_finding(const std::string& name);

}  // namespace sonde::test
