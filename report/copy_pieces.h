#pragma once

#include <vector>

#include "report/copy.h"
#include "report/copy_nodes.h"

namespace sonde {

/// Straight pieces of the time against size inside a stretch without a switch. Their number comes
/// from the data: the cut that lowers the Bayesian information criterion most is made first, until
/// none lowers it.
std::vector<CopyPiece> fit_pieces(CopyNodes stretch);

}  // namespace sonde
