#pragma once

#include <string>
#include <vector>

#include "core/samples.h"

namespace sonde {

/// One point of the stream probe.
struct StreamPoint {
  std::vector<CoreName> cores;
  std::string cores_text;  ///< as in the row
  std::string kind, store;
  std::int64_t bytes = 0;  ///< of one array of one core; shared: of the one array
  std::int64_t request_bytes = 0, requests = 0, passes = 0;
  bool shared = false;
  bool memory = false;   ///< all arrays together are beyond twice the last declared cache
  CurvePoint bandwidth;  ///< bytes a second; x is the number of cores

  std::string core_kind() const;  ///< "vector"; "mixed" for several kinds
  /// Distinct bytes that all cores walk.
  double total_bytes() const;
};

struct StreamAnalysis {
  std::vector<StreamPoint> points;

  /// The best of a kind, its interval that of the largest of all; of memory alone where `memory` is
  /// true. nullopt: there is none.
  std::optional<StreamPoint> best(const std::string& kind, bool memory) const;
  /// The best of a kind from memory by a core alone; nullopt: there is none.
  std::optional<StreamPoint> best_of_one_core(const std::string& kind) const;
  std::vector<std::string> kinds() const;  ///< in order of first appearance
};

StreamAnalysis analyse_stream(const GroupedRows& rows, const Manifest& manifest);

}  // namespace sonde
