// The only file of this folder that needs a linear algebra library: its headers cost a build more
// than all the rest.
#include "topology/gram.h"

#include <Eigen/Cholesky>
#include <Eigen/Core>
#include <cmath>

namespace sonde {
namespace {

Eigen::Index index(std::size_t value) { return static_cast<Eigen::Index>(value); }

}  // namespace

Matrix mean_products(const Matrix& columns, std::size_t first, std::size_t last) {
  const std::size_t n = columns.cols(), rows = last - first;
  Eigen::MatrixXd part(index(rows), index(n));
  for (std::size_t c = 0; c < n; ++c) {
    for (std::size_t r = 0; r < rows; ++r) {
      const double value = columns(first + r, c);
      part(index(r), index(c)) = std::isnan(value) ? 0 : value;
    }
  }
  Matrix result(n, n);
  Eigen::Map<Eigen::MatrixXd> product(result.cells().data(), index(n), index(n));
  product.selfadjointView<Eigen::Lower>().rankUpdate(part.transpose(),
                                                     1 / static_cast<double>(rows));
  for (std::size_t j = 0; j < n; ++j) {
    for (std::size_t i = 0; i < j; ++i) result(i, j) = result(j, i);
  }
  return result;
}

std::vector<double> solve_symmetric(const Matrix& normal, const std::vector<double>& right) {
  const Eigen::Index n = index(normal.rows());
  const Eigen::Map<const Eigen::MatrixXd> matrix(normal.cells().data(), n, n);
  const Eigen::Map<const Eigen::VectorXd> vector(right.data(), n);
  const Eigen::VectorXd solution = matrix.ldlt().solve(vector);
  return {solution.begin(), solution.end()};
}

}  // namespace sonde
