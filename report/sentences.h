#pragma once

#include <string>
#include <vector>

#include "report/analysis.h"
#include "report/findings.h"

namespace sonde {

/// What a probe asks of a device, one sentence; empty for a probe not known here.
std::string probe_question(const std::string& probe);

/// What it found, one sentence from the findings with their intervals: says whose clock it is,
/// "none found" and "cannot tell" where that is the answer. Empty where the probe has no rows.
std::string probe_sentence(const std::string& probe, const RunAnalysis& analysis,
                           const std::vector<Finding>& findings);

/// The same of the core tree; empty where none was looked for.
std::string topology_sentence(const RunAnalysis& analysis, const std::vector<Finding>& findings);

}  // namespace sonde
