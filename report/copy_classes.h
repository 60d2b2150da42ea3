#pragma once

#include <cstdint>
#include <vector>

#include "report/copy_nodes.h"

namespace sonde {

/// Sizes of one residue class lie on a line of their own.
struct CopyClass {
  std::int64_t modulus = 0;  ///< multiples of it are the class; 0: the powers of two
  double from = 0, to = 0;   ///< first and last tested size of the class that is off the others
  double factor = 0;         ///< time of the class over that of the other sizes, median
  std::optional<Interval> factor_interval;
  std::int64_t sizes = 0;  ///< of the class, tested and off
  bool holds(double bytes) const;
};

/// The classes that are seen, and takes their sizes out of `nodes`: what is left lies on one line.
/// Among classes that explain the same sizes it is the one of the largest modulus.
std::vector<CopyClass> take_classes(std::vector<CopyNode>& nodes, bool real);

}  // namespace sonde
