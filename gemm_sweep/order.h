#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "gemm_sweep/shapes.h"

namespace sonde {

/// Roles of points that are no shape of the sweep: they show the roof and the drift.
inline constexpr const char* kRoofRole = "roof";
inline constexpr const char* kRegisterRole = "register";
/// "anchor/0", "anchor/1", ...: the same shape again and again.
inline constexpr const char* kAnchorRole = "anchor/";
/// Kernels of a device that keep their operands in registers, the second without matrix units;
/// m n k only say how much work.
inline constexpr const char* kRegisterKernel = "register";
inline constexpr const char* kRegisterVectorKernel = "register_vector";

/// One point of a sweep and its turn.
struct Visit {
  Shape shape;
  std::string role;       ///< empty: a shape of the sweep
  std::string skip;       ///< not empty: left out from the start, with this reason
  std::int64_t turn = 0;  ///< 0, 1, ...: each turn is finished before the next
};

struct SweepWish {
  std::optional<double> budget_s;
  std::uint64_t seed = 1;
  bool listed = false;                             ///< turns in listed order instead of the seed's
  std::function<double(const Shape&)> estimate_s;  ///< wall time of one repetition
};

/// The shapes in listed order with their turns: drawn by the seed or, with a budget, stratified
/// (then what is too long for its share is skipped, or the budget would go to few shapes). More
/// than 50 shapes are a sweep: first come large square shapes and the register loop, for the roof,
/// and before every 50th shape, and at the end, the anchor shape.
std::vector<Visit> visits_of(const std::vector<Shape>& shapes, const SweepWish& wish);

}  // namespace sonde
