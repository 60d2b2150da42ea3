#include "device/cuda/product.h"

#include "core/error.h"
#include "device/cuda/errors.h"

namespace sonde::cuda {
namespace {

/// As many as are worth timing: beyond a dozen the heuristics repeats itself with other tile
/// orders.
constexpr int kMostChoices = 16;

cudaDataType_t operand_type(const GemmFormat& format) {
  const std::string dtype = format.dtype;
  return dtype == "fp8" ? CUDA_R_8F_E4M3 : dtype == "fp16" ? CUDA_R_16F : CUDA_R_16BF;
}

cudaDataType_t result_type(const GemmFormat& format) {
  return std::string(format.dtype) == "fp16" ? CUDA_R_16F : CUDA_R_16BF;
}

}  // namespace

LtHandle::LtHandle() : lt_(blas_lt()) {
  if (lt_ == nullptr) throw Skip("cuBLASLt is not installed here");
  workspace_ = DeviceBuffer(kWorkspaceBytes);
  check(lt_->create(&handle_), "opening cuBLASLt");
}

LtHandle::~LtHandle() {
  if (handle_ != nullptr) lt_->destroy(handle_);
}

Product::Product(const LtHandle& handle, const GemmWork& work, const GemmFormat& format)
    : handle_(handle) {
  const BlasLt& lt = handle.lt();
  const auto m = static_cast<std::uint64_t>(work.m), n = static_cast<std::uint64_t>(work.n),
             k = static_cast<std::uint64_t>(work.k);
  try {
    check(lt.desc_create(&desc_, CUBLAS_COMPUTE_32F, CUDA_R_32F), "describing a product");
    // The library counts columns first: its left factor is B, whose rows of K then read as columns.
    const cublasOperation_t turned = CUBLAS_OP_T, plain = CUBLAS_OP_N;
    check(lt.desc_set(desc_, CUBLASLT_MATMUL_DESC_TRANSA, &turned, sizeof turned), "describing B");
    check(lt.desc_set(desc_, CUBLASLT_MATMUL_DESC_TRANSB, &plain, sizeof plain), "describing A");
    check(lt.layout_create(&b_, operand_type(format), k, n, work.k), "describing B");
    check(lt.layout_create(&a_, operand_type(format), k, m, work.k), "describing A");
    check(lt.layout_create(&c_, result_type(format), n, m, work.n), "describing C");
    cublasLtMatmulPreference_t preference = nullptr;
    check(lt.preference_create(&preference), "asking the heuristics");
    const auto room = static_cast<std::uint64_t>(kWorkspaceBytes);
    lt.preference_set(preference, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, &room, sizeof room);
    int found = 0;
    const int wanted = work.kernel == "best" ? kMostChoices : 1;
    choices_.resize(static_cast<std::size_t>(wanted));
    const cublasStatus_t status = lt.heuristic(handle.handle(), desc_, b_, a_, c_, c_, preference,
                                               wanted, choices_.data(), &found);
    lt.preference_destroy(preference);
    const std::string what = std::string(format.dtype) + " " + std::to_string(work.m) + "x" +
                             std::to_string(work.n) + "x" + std::to_string(work.k);
    check(status, "an algorithm for " + what);
    choices_.resize(static_cast<std::size_t>(found));
    std::erase_if(choices_, [](const auto& one) { return one.state != CUBLAS_STATUS_SUCCESS; });
    if (choices_.empty()) throw Skip("cuBLASLt has no algorithm for " + what);
  } catch (...) {
    release();
    throw;
  }
}

Product::~Product() { release(); }

void Product::release() {
  const BlasLt& lt = handle_.lt();
  if (a_ != nullptr) lt.layout_destroy(a_);
  if (b_ != nullptr) lt.layout_destroy(b_);
  if (c_ != nullptr) lt.layout_destroy(c_);
  if (desc_ != nullptr) lt.desc_destroy(desc_);
}

void Product::start(cudaStream_t stream, const OperandSet& set) const {
  const float one = 1, zero = 0;
  check(handle_.lt().matmul(handle_.handle(), desc_, &one, set.b, b_, set.a, a_, &zero, set.c, c_,
                            set.c, c_, &choices_[chosen_].algo, handle_.workspace(),
                            static_cast<std::size_t>(kWorkspaceBytes), stream),
        "starting a product");
}

std::string Product::note() const {
  const auto setting = [this](cublasLtMatmulAlgoConfigAttributes_t which) {
    std::int32_t value = 0;
    std::size_t written = 0;
    const bool known = handle_.lt().algorithm_get(&choices_[chosen_].algo, which, &value,
                                                  sizeof value, &written) == CUBLAS_STATUS_SUCCESS;
    return known ? std::to_string(value) : std::string("?");
  };
  return "cuBLASLt algorithm " + setting(CUBLASLT_ALGO_CONFIG_ID) + " tile " +
         setting(CUBLASLT_ALGO_CONFIG_TILE_ID) + " split " +
         setting(CUBLASLT_ALGO_CONFIG_SPLITK_NUM) + ", choice " + std::to_string(chosen_ + 1) +
         " of " + std::to_string(choices_.size());
}

ProductGraph::ProductGraph(cudaStream_t stream, const Product& product,
                           const std::vector<OperandSet>& sets, std::int64_t count)
    : count_(count) {
  cudaGraph_t graph = nullptr;
  check(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal), "recording products");
  std::exception_ptr failed;
  try {
    for (std::int64_t i = 0; i < count; ++i) {
      product.start(stream, sets[static_cast<std::size_t>(i) % sets.size()]);
    }
  } catch (...) {
    failed = std::current_exception();
  }
  const cudaError_t ended = cudaStreamEndCapture(stream, &graph);  // also when recording failed
  if (failed) {
    if (graph != nullptr) static_cast<void>(cudaGraphDestroy(graph));
    static_cast<void>(cudaGetLastError());
    std::rethrow_exception(failed);
  }
  check(ended, "recording products");
  const cudaError_t made = cudaGraphInstantiate(&executable_, graph, 0);
  static_cast<void>(cudaGraphDestroy(graph));
  check(made, "preparing recorded products");
}

ProductGraph::~ProductGraph() {
  if (executable_ != nullptr) static_cast<void>(cudaGraphExecDestroy(executable_));
}

void ProductGraph::start(cudaStream_t stream) const {
  check(cudaGraphLaunch(executable_, stream), "replaying products");
}

}  // namespace sonde::cuda
