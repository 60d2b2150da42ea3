#pragma once

#include <ostream>
#include <string>
#include <vector>

#include "topology/core_tree.h"

namespace sonde {

/// A rectangle of a floor plan; its text stands at the top, a core's in the middle.
struct FloorBox {
  double left = 0, bottom = 0, right = 0, top = 0;
  int depth = 0;  ///< 0 is the coarsest level
  bool core = false;
  std::string text;
};

/// Nested boxes: each group around what is inside it, each core in its box. Where they lie says
/// nothing: rows do not tell positions. Width and height of the whole are those of the first box.
std::vector<FloorBox> floor_plan(const CoreTree& tree);

/// Height of the picture in pixels, at a width of 960.
int floor_plan_height(const std::vector<FloorBox>& boxes);

/// On a picture `units` wide: names shrink with it.
void write_floor_plan(std::ostream& out, const std::vector<FloorBox>& boxes, double units);

}  // namespace sonde
