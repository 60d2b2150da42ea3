// Compiled for AVX2: see CMakeLists.txt.
#include "device/host/stream_loops.h"
#if defined(__x86_64__)
#include <immintrin.h>

namespace sonde::host {
namespace {

struct Wide32 {
  using Words = std::uint64_t __attribute__((vector_size(32), may_alias));
  using Numbers = double __attribute__((vector_size(32), may_alias));
  static constexpr const char* kName = "AVX2";
  static constexpr bool kNt = true;
  static void stream(std::byte* address, const Numbers& value) {
    _mm256_stream_pd(reinterpret_cast<double*>(address), value);
  }
  static void fence() { _mm_sfence(); }
};

}  // namespace

StreamKernels stream_kernels_avx() { return StreamLoops<Wide32>::kernels(); }

}  // namespace sonde::host
#endif
