#pragma once

#include <Eigen/Core>
#include <cstdint>

namespace sonde::host {

/// A part of a product in row-major FP32: c[rows, cols] = a[rows, inner] x b[inner, cols].
struct EigenBlock {
  const float* a = nullptr;
  const float* b = nullptr;
  float* c = nullptr;
  std::int64_t rows = 0;
  std::int64_t cols = 0;
  std::int64_t inner = 0;
  std::int64_t b_stride = 0;  ///< from one row to the next; that of a is `inner`
  std::int64_t c_stride = 0;
};

/// The same product compiled for two sets of instructions. Call the second only where they exist.
void eigen_multiply(const EigenBlock& block);
void eigen_multiply_avx512(const EigenBlock& block);

/// The product's code. A file compiled for other instructions first gives Eigen another name, or
/// the linker would keep one of the two codes for both.
static inline void eigen_multiply_here(const EigenBlock& block) {
  using Matrix = Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
  using Stride = Eigen::OuterStride<>;
  const Eigen::Map<const Matrix, Eigen::Unaligned, Stride> a(block.a, block.rows, block.inner,
                                                             Stride(block.inner));
  const Eigen::Map<const Matrix, Eigen::Unaligned, Stride> b(block.b, block.inner, block.cols,
                                                             Stride(block.b_stride));
  Eigen::Map<Matrix, Eigen::Unaligned, Stride> c(block.c, block.rows, block.cols,
                                                 Stride(block.c_stride));
  c.noalias() = a * b;
}

}  // namespace sonde::host
