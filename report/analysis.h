#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "report/copy.h"
#include "report/cores.h"
#include "report/levels.h"
#include "core/stored_run.h"
#include "core/samples.h"
#include "report/wave.h"

namespace sonde {

/// Latency against concurrent blocks of one kind of core.
struct BlockSeries {
  std::string kind;
  double footprint = 0;
  std::string state;
  Curve latency;  ///< x blocks, y ns
  bool placed_by_device = false;
  Wave wave;  ///< only looked for where the device places blocks
};

struct CoreSeries {
  double footprint = 0;
  std::string state;
  CoreLatencies latencies;  ///< y ns
};

struct FootprintSeries {
  std::string core;
  std::string state;
  Curve latency;  ///< x bytes, y ns
  MemoryLevels levels;
};

struct ChaseAnalysis {
  RowCounts counts;
  std::vector<BlockSeries> blocks;  ///< one a kind of core
  std::optional<CoreSeries> cores;
  std::optional<FootprintSeries> footprints;
};

struct CopySeries {
  std::string direction, method, alignment, state;
  Curve time;  ///< x bytes, y seconds
  CopyShape shape;
};

struct CopyAnalysis {
  RowCounts counts;
  std::vector<CopySeries> series;  ///< method auto first in each direction
  /// The series that findings speak of: method auto, one a direction, device order.
  std::vector<const CopySeries*> main_series() const;
};

/// A metric that only says under which conditions a probe ran.
struct Condition {
  std::string probe, metric, unit;
  Estimate value;
};

/// Everything that findings, figures and the page are made from; computed once a run.
struct RunAnalysis {
  const StoredRun* run = nullptr;
  std::optional<ChaseAnalysis> chase;
  std::optional<CopyAnalysis> copy;
  std::vector<Condition> conditions;
  TimeSource source() const { return run->manifest.device.time_source; }
};

/// `run` must outlive the result. Looks at rows and manifest only.
RunAnalysis analyse_run(const StoredRun& run);

}  // namespace sonde
