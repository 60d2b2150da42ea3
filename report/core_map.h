#pragma once

#include <string>

#include "report/figure.h"

namespace sonde {

/// A matrix of cores as a picture: ordered and outlined by the tree, cores without any value left
/// out of rows and columns alike. nullopt: no pair of different cores has a value.
std::optional<HeatMap> core_heat_map(const CoreMatrix& matrix, const std::optional<CoreTree>& tree);

/// What order and outlines mean, for a caption.
std::string order_sentence(const HeatMap& map, const std::optional<CoreTree>& tree);

}  // namespace sonde
