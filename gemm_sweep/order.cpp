#include "gemm_sweep/order.h"

#include <algorithm>
#include <cmath>

#include "core/parse.h"
#include "core/rng.h"
#include "core/statistics.h"

namespace sonde {
namespace {

/// Shapes from one anchor to the next.
constexpr std::int64_t kAnchorEvery = 50;
/// 17 GFLOP and 42 MB: 10 ms on two CPU cores with matrix units, 30 us on a large accelerator,
/// bound by the matrix units of both, so that it shows the clock.
const Shape kAnchor = {512, 4096, 4096, ""};
/// Square shapes that reach the roof of a few cores and of a large accelerator.
const Shape kRoofs[] = {{2048, 2048, 2048, ""}, {4096, 4096, 4096, ""}, {8192, 8192, 8192, ""}};
/// Work of the register loop: 2 ms of a core that does 1 TFLOP/s.
const Shape kRegisterWork = {1024, 1024, 1024, ""};

/// One point may take this part of a budget.
constexpr double kTurns = 24;

std::string too_long(const Shape& shape, const SweepWish& wish, double parts) {
  if (!wish.budget_s) return "";
  const double needs = wish.estimate_s(shape) * static_cast<double>(kFewestSamples);
  if (needs * parts <= *wish.budget_s) return "";
  return "eight repetitions would take about " + format_number(std::ceil(needs * 100) / 100) +
         " s, more than 1/" + format_number(parts) + " of the budget of " +
         format_number(*wish.budget_s) + " s";
}

/// Place of each of `count` shapes in an order drawn by the seed.
std::vector<std::int64_t> drawn(std::size_t count, std::uint64_t seed) {
  std::vector<std::size_t> order(count);
  for (std::size_t i = 0; i < count; ++i) order[i] = i;
  Rng rng(key_of({seed, count}));
  shuffle(order, rng);
  std::vector<std::int64_t> place(count);
  for (std::size_t i = 0; i < count; ++i) place[order[i]] = static_cast<std::int64_t>(i);
  return place;
}

}  // namespace

std::vector<Visit> visits_of(const std::vector<Shape>& shapes, const SweepWish& wish) {
  const auto count = static_cast<std::int64_t>(shapes.size());
  const bool sweep = count > kAnchorEvery;
  std::vector<Visit> visits;
  std::vector<Shape> taken;
  std::vector<std::size_t> where;
  // What is too long for its share is known before the start, so that the others are a sample in
  // which each class has its part: taking whatever still fits would favour the short ones.
  const double parts = std::min(kTurns, static_cast<double>(count));
  for (const Shape& shape : shapes) {
    visits.push_back({shape, "", too_long(shape, wish, parts), 0});
    if (!visits.back().skip.empty()) continue;
    where.push_back(visits.size() - 1);
    taken.push_back(shape);
  }
  std::vector<std::int64_t> place;
  if (wish.budget_s) {
    place = stratify(taken, wish.seed);
  } else if (wish.listed) {
    for (std::size_t i = 0; i < taken.size(); ++i) place.push_back(static_cast<std::int64_t>(i));
  } else {
    place = drawn(taken.size(), wish.seed);
  }
  std::int64_t first = 0;  // turn of the first anchor or shape
  const auto extra = [&](const Shape& shape, const std::string& role, std::int64_t turn) {
    visits.push_back({shape, role, too_long(shape, wish, kTurns), turn});
  };
  if (sweep) {
    extra(kRegisterWork, kRegisterRole, first++);
    for (const Shape& roof : kRoofs) extra(roof, kRoofRole, first++);
  }
  for (std::size_t i = 0; i < taken.size(); ++i) {
    visits[where[i]].turn = first + place[i] + (sweep ? place[i] / kAnchorEvery + 1 : 0);
  }
  if (!sweep) return visits;
  const auto left = static_cast<std::int64_t>(taken.size());
  const std::int64_t anchors = (left + kAnchorEvery - 1) / kAnchorEvery + 1;
  for (std::int64_t i = 0; i < anchors; ++i) {
    const std::int64_t before = std::min(i * kAnchorEvery, left);  // shapes before this one
    extra(kAnchor, kAnchorRole + std::to_string(i), first + before + i);
  }
  return visits;
}

}  // namespace sonde
