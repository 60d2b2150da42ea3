// Compiled for AVX-512: see CMakeLists.txt and eigen_multiply_here().
#if defined(__AVX512F__)
#define Eigen EigenAvx512
#include "device/host/gemm_eigen_block.h"

namespace sonde::host {

void eigen_multiply_avx512(const EigenBlock& block) { eigen_multiply_here(block); }

}  // namespace sonde::host
#endif
