#pragma once

#include "topology/matrix.h"

namespace sonde {

/// Mean over the rows [first, last) of the product of every two columns; NaN counts as 0.
Matrix mean_products(const Matrix& columns, std::size_t first, std::size_t last);

/// Solves the symmetric system `normal` x = `right`; `normal` must be positive definite.
std::vector<double> solve_symmetric(const Matrix& normal, const std::vector<double>& right);

}  // namespace sonde
