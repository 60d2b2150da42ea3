#include "device/cuda/blas_lt.h"

#include <dlfcn.h>

#include "core/error.h"

namespace sonde::cuda {
namespace {

template <class Function>
bool find(void* library, const char* name, Function& function) {
  function = reinterpret_cast<Function>(dlsym(library, name));
  return function != nullptr;
}

/// Of the major version that the header is of: another may pass its structures differently.
void* open_library() {
  const std::string name = "libcublasLt.so." + std::to_string(CUBLAS_VER_MAJOR);
  // Not every machine has the toolkit in its loader's path.
  for (const char* folder : {"", SONDE_CUDA_LIBRARIES "/", "/usr/local/cuda/lib64/"}) {
    if (void* library = dlopen((folder + name).c_str(), RTLD_NOW | RTLD_LOCAL)) return library;
  }
  return nullptr;
}

bool load(BlasLt& lt) {
  void* const library = open_library();
  return library != nullptr && find(library, "cublasLtCreate", lt.create) &&
         find(library, "cublasLtDestroy", lt.destroy) &&
         find(library, "cublasLtGetVersion", lt.version) &&
         find(library, "cublasLtGetStatusString", lt.status_text) &&
         find(library, "cublasLtMatmulDescCreate", lt.desc_create) &&
         find(library, "cublasLtMatmulDescDestroy", lt.desc_destroy) &&
         find(library, "cublasLtMatmulDescSetAttribute", lt.desc_set) &&
         find(library, "cublasLtMatrixLayoutCreate", lt.layout_create) &&
         find(library, "cublasLtMatrixLayoutDestroy", lt.layout_destroy) &&
         find(library, "cublasLtMatmulPreferenceCreate", lt.preference_create) &&
         find(library, "cublasLtMatmulPreferenceDestroy", lt.preference_destroy) &&
         find(library, "cublasLtMatmulPreferenceSetAttribute", lt.preference_set) &&
         find(library, "cublasLtMatmulAlgoGetHeuristic", lt.heuristic) &&
         find(library, "cublasLtMatmulAlgoConfigGetAttribute", lt.algorithm_get) &&
         find(library, "cublasLtMatmul", lt.matmul);
}

}  // namespace

const BlasLt* blas_lt() {
  static BlasLt lt;
  static const bool loaded = load(lt);
  return loaded ? &lt : nullptr;
}

void check(cublasStatus_t status, const std::string& what) {
  if (status == CUBLAS_STATUS_SUCCESS) return;
  const BlasLt* const lt = blas_lt();
  const std::string text = what + ": " + (lt != nullptr ? lt->status_text(status) : "no cuBLASLt");
  if (status == CUBLAS_STATUS_NOT_SUPPORTED || status == CUBLAS_STATUS_ALLOC_FAILED) {
    throw Skip(text);
  }
  throw PointFailure(text);
}

}  // namespace sonde::cuda
