#pragma once

#include <string>

#include "harness/model_runs.h"

namespace sonde {

/// What the core tree of a run shows against what the study says of the chip. Each takes the levels
/// of topology.json, coarsest first, and throws NoValue when the tree is too shallow.

/// Groups of the coarsest level.
double die_count(const std::vector<ModelRuns::Level>& tree);

/// Share of cores whose group of the coarsest level is their die: the study's groups {0,2,4} and
/// {1,3,5} put even and odd subsystems on two dies.
double die_cores(const std::vector<ModelRuns::Level>& tree);

/// Share of pairs of cores of subsystems 0 to 5 that are together, or apart, as in the study's
/// groups {0,2,4} and {1,3,5}; one level below the dies. Further groups were not published.
double group_pairs(const std::vector<ModelRuns::Level>& tree);

/// Cores of a kind in every group of the level below.
double subsystem_cores(const std::vector<ModelRuns::Level>& tree, const std::string& kind);

/// Median over victims and neighbours of what register-only work adds to the victim's load, ns,
/// in the quick run of the device.
double register_cost(const ModelRuns& runs, const std::string& device);

}  // namespace sonde
