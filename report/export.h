#pragma once

#include <string>
#include <vector>

#include "core/manifest.h"
#include "report/findings.h"

namespace sonde {

/// Google Benchmark's JSON, one entry a finding. A time is `real_time`; a rate is the time of 10^9
/// bytes or operations, so that longer is worse for tools/compare.py; what is neither is
/// an aggregate without `real_time`, which it passes over. The value itself is always in the
/// counter `value`.
std::string findings_gbench(const Manifest& manifest, const std::vector<Finding>& findings);

/// OpenMetrics text (1.0.0): a gauge for each unit, in base units, labelled with run, device,
/// product, time source and finding, and `bound` value, low or high. A node exporter's textfile
/// collector reads it too.
std::string findings_openmetrics(const Manifest& manifest, const std::vector<Finding>& findings);

}  // namespace sonde
