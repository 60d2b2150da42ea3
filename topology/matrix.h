#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace sonde {

/// Numbers in columns, one after the other. NaN: not measured.
class Matrix {
 public:
  Matrix() = default;
  Matrix(std::size_t rows, std::size_t cols, double value = 0)
      : rows_(rows), cols_(cols), cells_(rows * cols, value) {}

  std::size_t rows() const { return rows_; }
  std::size_t cols() const { return cols_; }
  double& operator()(std::size_t row, std::size_t col) { return cells_[col * rows_ + row]; }
  double operator()(std::size_t row, std::size_t col) const { return cells_[col * rows_ + row]; }
  std::span<double> column(std::size_t col) { return {cells_.data() + col * rows_, rows_}; }
  std::span<const double> column(std::size_t col) const {
    return {cells_.data() + col * rows_, rows_};
  }
  std::vector<double>& cells() { return cells_; }
  const std::vector<double>& cells() const { return cells_; }

 private:
  std::size_t rows_ = 0, cols_ = 0;
  std::vector<double> cells_;
};

}  // namespace sonde
