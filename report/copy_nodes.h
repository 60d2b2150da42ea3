#pragma once

#include <optional>
#include <span>
#include <vector>

#include "core/line.h"
#include "core/samples.h"

namespace sonde {

/// One size of a copy curve as the analysis sees it.
struct CopyNode {
  double bytes = 0;
  double time = 0;
  double spread = 0;   ///< of one sample, relative
  double error = 0;    ///< relative standard error of the time, from the samples of this size
  double scatter = 0;  ///< of whole sizes about their neighbours, relative; see measure_scatter
  const CurvePoint* point = nullptr;
  double cost() const { return time / bytes; }  ///< seconds a byte
};
using CopyNodes = std::span<const CopyNode>;

/// Sizes that can be used, ascending; `curve` outlives the result.
std::vector<CopyNode> copy_nodes(const Curve& curve);

/// Buffers of one size may lie luckier than those of the next: the whole point moves, and its own
/// samples do not show it. Judged by how far each size is off the straight line between its two
/// neighbours, over about three octaves; the median leaves a jump or an edge out of it.
void measure_scatter(std::vector<CopyNode>& nodes);

RelativeLine fit_line(CopyNodes nodes);

/// Smallest sum of squared relative residuals of a continuous curve through the window: straight,
/// with one bend, or rising from one line to another over at least `least_rise` octaves. Time never
/// falls with size on any of them, for no cache edge makes a larger copy faster.
double best_continuous(CopyNodes nodes, double least_rise);

/// Sizes at least 1/16 octave apart between two nodes: a step of the ladder, however finely it was
/// refined in between.
std::size_t ladder_steps(CopyNodes nodes);

}  // namespace sonde
