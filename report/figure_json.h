#pragma once

#include <string>
#include <vector>

#include "report/figure.h"

namespace sonde {

/// {"figures": {<id>: ...}} for a <script type="application/json">: every number to its last digit,
/// ticks as gnuplot draws them, ASCII, and no '<' that could end the element. A heat map of more
/// than kMostPlainCells cells is packed: base 64 of 16 bits a cell, low byte first; 0 is unknown, 1
/// and 65535 are its least and its largest value.
std::string figures_json(const std::vector<const Figure*>& figures);

inline constexpr std::size_t kMostPlainCells = 65536;

}  // namespace sonde
