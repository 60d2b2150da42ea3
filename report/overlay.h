#pragma once

#include <optional>
#include <vector>

#include "report/report.h"

namespace sonde {

/// The rooflines of several runs in one picture: rate over intensity of each run's shapes under its
/// own roofs. nullopt below two runs with such shapes.
std::optional<Figure> overlay_rooflines(const std::vector<const RunReport*>& runs);

/// The copies of several devices in one picture, each as a share of its own peak. nullopt below two
/// curves.
std::optional<Figure> overlay_copies(const std::vector<const RunReport*>& runs);

}  // namespace sonde
