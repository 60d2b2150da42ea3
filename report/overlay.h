#pragma once

#include <optional>
#include <vector>

#include "report/report.h"

namespace sonde {

/// Figures of several runs on the same axes, in the order of the page: rooflines, copies, streams,
/// latency over footprint and over blocks. Each needs two runs with such rows. One with `share_of`
/// shows the points of another as a share of each run's own roof.
std::vector<Figure> overlay_figures(const std::vector<const RunReport*>& runs);

std::vector<Figure> overlay_rooflines(const std::vector<const RunReport*>& runs);
std::vector<Figure> overlay_copies(const std::vector<const RunReport*>& runs);
std::vector<Figure> overlay_streams(const std::vector<const RunReport*>& runs);
std::vector<Figure> overlay_chases(const std::vector<const RunReport*>& runs);

/// "run is Product (measured, host clock)" for a caption.
std::string run_words(const RunReport& run);

}  // namespace sonde
