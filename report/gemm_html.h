#pragma once

#include <string>

#include "report/report.h"

namespace sonde {

/// What the page says of a GEMM sweep beside its figures: shapes that no roof allows, what the
/// roofs are worth, and the patterns found.
std::string gemm_notices_html(const GemmAnalysis& gemm);

/// Published figures of the same chip beside those of the run; empty without any.
std::string published_html(const std::vector<PublishedBeside>& published);

}  // namespace sonde
