#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "device/cuda/blas_lt.h"
#include "device/cuda/context.h"
#include "device/cuda/formats.h"
#include "device/device.h"

namespace sonde::cuda {

/// Room that algorithms may use beside the operands: what the peers of facts and documents used.
inline constexpr std::int64_t kWorkspaceBytes = 64 * kMiB;

/// The library's handle and workspace, shared by all products of a context.
class LtHandle {
 public:
  LtHandle();
  ~LtHandle();
  LtHandle(const LtHandle&) = delete;
  LtHandle& operator=(const LtHandle&) = delete;
  const BlasLt& lt() const { return *lt_; }
  cublasLtHandle_t handle() const { return handle_; }
  char* workspace() const { return workspace_.as(); }

 private:
  const BlasLt* lt_;
  cublasLtHandle_t handle_ = nullptr;
  DeviceBuffer workspace_;
};

/// One set of operands in the card's memory. A is stored [M, K], B as a layer's weights are,
/// [N, K], and C [M, N], each row by row: what torch.matmul(x, w.t()) runs.
struct OperandSet {
  char* a = nullptr;
  char* b = nullptr;
  char* c = nullptr;
};

/// A product of one shape and type with one of the library's algorithms.
class Product {
 public:
  Product(const LtHandle& handle, const GemmWork& work, const GemmFormat& format);
  ~Product();
  Product(const Product&) = delete;
  Product& operator=(const Product&) = delete;

  /// Algorithms that the heuristics offers, best guess first.
  std::size_t choices() const { return choices_.size(); }
  void choose(std::size_t choice) { chosen_ = choice; }
  void start(cudaStream_t stream, const OperandSet& set) const;
  std::string note() const;

 private:
  void release();

  const LtHandle& handle_;
  cublasLtMatmulDesc_t desc_ = nullptr;
  cublasLtMatrixLayout_t a_ = nullptr, b_ = nullptr, c_ = nullptr;
  std::vector<cublasLtMatmulHeuristicResult_t> choices_;
  std::size_t chosen_ = 0;
};

/// Products recorded once and replayed: a queued call takes the host 3 to 5 us, longer than the
/// smallest products take the card.
class ProductGraph {
 public:
  /// `count` products, one set of operands after the other.
  ProductGraph(cudaStream_t stream, const Product& product, const std::vector<OperandSet>& sets,
               std::int64_t count);
  ~ProductGraph();
  ProductGraph(const ProductGraph&) = delete;
  ProductGraph& operator=(const ProductGraph&) = delete;
  void start(cudaStream_t stream) const;
  std::int64_t count() const { return count_; }

 private:
  std::int64_t count_;
  cudaGraphExec_t executable_ = nullptr;
};

}  // namespace sonde::cuda
