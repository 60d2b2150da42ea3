#pragma once

#include <cublasLt.h>

#include <optional>
#include <string>

namespace sonde::cuda {

/// cuBLASLt, found at run time: half a gigabyte that only the GEMM engine needs, and that a machine
/// without it must not miss at start.
struct BlasLt {
  decltype(&cublasLtCreate) create = nullptr;
  decltype(&cublasLtDestroy) destroy = nullptr;
  decltype(&cublasLtGetVersion) version = nullptr;
  decltype(&cublasLtGetStatusString) status_text = nullptr;
  decltype(&cublasLtMatmulDescCreate) desc_create = nullptr;
  decltype(&cublasLtMatmulDescDestroy) desc_destroy = nullptr;
  decltype(&cublasLtMatmulDescSetAttribute) desc_set = nullptr;
  decltype(&cublasLtMatrixLayoutCreate) layout_create = nullptr;
  decltype(&cublasLtMatrixLayoutDestroy) layout_destroy = nullptr;
  decltype(&cublasLtMatmulPreferenceCreate) preference_create = nullptr;
  decltype(&cublasLtMatmulPreferenceDestroy) preference_destroy = nullptr;
  decltype(&cublasLtMatmulPreferenceSetAttribute) preference_set = nullptr;
  decltype(&cublasLtMatmulAlgoGetHeuristic) heuristic = nullptr;
  decltype(&cublasLtMatmulAlgoConfigGetAttribute) algorithm_get = nullptr;
  decltype(&cublasLtMatmul) matmul = nullptr;
};

/// Loaded once and kept. Null when it is not here or lacks a function.
const BlasLt* blas_lt();

/// Throws Skip for what the library does not support or has no memory for, PointFailure for other
/// codes, naming `what`.
void check(cublasStatus_t status, const std::string& what);

}  // namespace sonde::cuda
