// Compiled for AVX-512: see CMakeLists.txt.
#include "device/host/stream_loops.h"
#if defined(__x86_64__)
#include <immintrin.h>

namespace sonde::host {
namespace {

struct Wide64 {
  using Words = std::uint64_t __attribute__((vector_size(64), may_alias));
  using Numbers = double __attribute__((vector_size(64), may_alias));
  static constexpr const char* kName = "AVX-512";
  static constexpr bool kNt = true;
  static void stream(std::byte* address, const Numbers& value) {
    _mm512_stream_pd(reinterpret_cast<double*>(address), value);
  }
  static void fence() { _mm_sfence(); }
};

}  // namespace

StreamKernels stream_kernels_avx512() { return StreamLoops<Wide64>::kernels(); }

}  // namespace sonde::host
#endif
