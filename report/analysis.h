#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/samples.h"
#include "core/stored_run.h"
#include "report/copy_series.h"
#include "report/cores.h"
#include "report/gemm.h"
#include "report/levels.h"
#include "report/stream.h"
#include "report/wave.h"
#include "topology/core_tree.h"

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
  std::vector<BlockSeries> blocks;  ///< one a kind of core
  std::optional<CoreSeries> cores;
  std::optional<FootprintSeries> footprints;
};

/// A metric that only says under which conditions a probe ran.
struct Condition {
  std::string probe, metric, unit;
  Estimate value;
};

/// One matrix of cores for each kind of work that was measured.
using MatrixByWork = std::vector<std::pair<std::string, CoreMatrix>>;

/// What one aggressor did to one victim, over all pairs of one kind.
struct SlowDowns {
  Contention kind;
  double largest = 0;
  CoreName victim, aggressor;  ///< of the largest
  std::int64_t pairs = 0;      ///< with a value
  /// Slow-down that 99 % of the register control of the same victim's work stay below.
  std::optional<double> control;
  /// Share of pairs above the control. nullopt: no control, or this is it.
  std::optional<double> above_control;
};

/// Everything that findings, figures and the page are made from; computed once a run.
struct RunAnalysis {
  const StoredRun* run = nullptr;
  std::optional<ChaseAnalysis> chase;
  std::optional<CopyAnalysis> copy;
  std::optional<StreamAnalysis> stream;
  std::optional<GemmAnalysis> gemm;
  std::optional<CoreMatrix> profile;  ///< distance between the address profiles of two cores
  /// Slow-down of the row by the column.
  std::vector<std::pair<Contention, CoreMatrix>> interfere;
  std::vector<SlowDowns> slow_downs;        ///< one for each matrix of `interfere` with a pair
  MatrixByWork handoff;                     ///< ns from the row to the column
  std::optional<CoreTree> tree;             ///< looked for where profile or interfere has rows
  std::map<std::string, RowCounts> counts;  ///< by probe, of those with rows
  /// By probe, of those with rows; address profiles, which have no points, are not among them.
  std::map<std::string, GroupedRows> grouped;
  std::vector<Condition> conditions;
  TimeSource source() const { return run->manifest.device.time_source; }
};

/// `run` must outlive the result. Looks at rows and manifest only.
RunAnalysis analyse_run(const StoredRun& run);

}  // namespace sonde
