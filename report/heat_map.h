#pragma once

#include <cstdint>
#include <iosfwd>
#include <optional>
#include <string>
#include <vector>

#include "core/statistics.h"

namespace sonde {

struct Figure;
struct Canvas;
struct Colours;

/// Neighbouring rows and columns of a heat map that belong together, outlined as one block.
struct HeatGroup {
  std::size_t first_row = 0, rows = 0;
  std::size_t first_column = 0, columns = 0;
  std::string name;  ///< written above its columns; empty: outlined only
};

/// What a cell stands on: the 95 % interval of its value and the number of its samples.
struct HeatDetail {
  std::optional<double> low, high;
  std::int64_t n = 0;  ///< 0: not known
};

/// A matrix drawn as cells of colour.
struct HeatMap {
  std::vector<std::string> rows, columns;    ///< labels, from the top and from the left
  std::vector<std::optional<double>> cells;  ///< row by row; unknown is drawn grey
  std::string scale;                         ///< label of the colour bar, with the unit
  std::optional<Interval> at_least;      ///< the colours span this, so that noise looks like noise
  std::vector<HeatGroup> groups;         ///< coarsest first
  std::vector<HeatDetail> details = {};  ///< one a cell, or none: for a page that shows one cell

  const std::optional<double>& at(std::size_t row, std::size_t column) const {
    return cells[row * columns.size() + column];
  }
  /// What the colours span: all values but the outermost 0.5 % on each side, which share the
  /// colour of the end.
  Interval range() const;
  /// How many cells are grey and how many lie beyond the colours; a core with itself is no pair.
  std::string sentence() const;
};

/// Pixels that a heat map of so many rows needs.
int heat_map_height(const HeatMap& map);

/// The part of a script that draws `figure.heat` alone, its data included: one line a cell.
void write_heat_map(std::ostream& out, const Figure& figure, const Canvas& canvas,
                    const Colours& colours);

}  // namespace sonde
