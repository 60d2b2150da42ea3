#include "report/copy_pieces.h"

#include <algorithm>
#include <cmath>

#include "core/statistics.h"

namespace sonde {
namespace {

constexpr std::size_t kFewest = 4;  // sizes on a piece
/// A curve is called straight when it is off the line by no more than this: finer pieces would only
/// follow the noise of single sizes.
constexpr double kModelError = 0.01;

void split(CopyNodes nodes, double variance, double price, std::vector<CopyPiece>& pieces) {
  const RelativeLine whole = fit_line(nodes);
  double best = whole.residual / variance - price;
  std::size_t at = 0;
  for (std::size_t cut = kFewest; cut + kFewest <= nodes.size(); ++cut) {
    const double residual =
        fit_line(nodes.first(cut)).residual + fit_line(nodes.subspan(cut)).residual;
    if (residual / variance < best) {
      best = residual / variance;
      at = cut;
    }
  }
  if (at == 0) {
    pieces.push_back({nodes.front().bytes, nodes.back().bytes, whole.a, whole.b});
    return;
  }
  split(nodes.first(at), variance, price, pieces);
  split(nodes.subspan(at), variance, price, pieces);
}

}  // namespace

std::vector<CopyPiece> fit_pieces(CopyNodes stretch) {
  std::vector<CopyPiece> pieces;
  if (stretch.size() < 2) return pieces;
  std::vector<double> errors;
  for (const CopyNode& node : stretch) {
    errors.push_back(std::pow(std::max(node.error, node.scatter), 2));
  }
  const double variance = std::max(*median(errors), kModelError * kModelError);
  // A piece more has a slope, an intercept and a place.
  const double price = 3 * std::log(static_cast<double>(stretch.size()));
  split(stretch, variance, price, pieces);
  return pieces;
}

}  // namespace sonde
