#pragma once

#include <cstddef>
#include <string>

#include "report/compare.h"

namespace sonde {

/// For a terminal: what differs, a summary by probe, then points with their effect, largest first;
/// the slower and faster ones, at most `limit` of them, or with `all` every point.
/// `colours`: verdicts are painted.
std::string comparison_text(const Comparison& comparison, bool all, bool colours = false,
                            std::size_t limit = 40);

/// Of compare_halves: judged points and the false-alarm rate, in all and by probe.
std::string halves_text(const Comparison& comparison);

/// Everything, unknown is null.
std::string comparison_json(const Comparison& comparison, bool halves);

}  // namespace sonde
