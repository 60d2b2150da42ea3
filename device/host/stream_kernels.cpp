#include "device/host/stream_kernels.h"

#include "device/host/stream_loops.h"
#if defined(__x86_64__)
#include <emmintrin.h>
#endif

namespace sonde::host {
namespace {

/// 16 bytes: what every 64-bit processor has.
struct Narrow {
  using Words = std::uint64_t __attribute__((vector_size(16), may_alias));
  using Numbers = double __attribute__((vector_size(16), may_alias));
#if defined(__x86_64__)
  static constexpr const char* kName = "SSE2";
  static constexpr bool kNt = true;
  static void stream(std::byte* address, const Numbers& value) {
    _mm_stream_pd(reinterpret_cast<double*>(address), value);
  }
  static void fence() { _mm_sfence(); }
#else
  static constexpr const char* kName = "16-byte vectors";
  static constexpr bool kNt = false;
#endif
};

}  // namespace

StreamKernels stream_kernels_16() { return StreamLoops<Narrow>::kernels(); }

StreamPass StreamKernels::pass(const std::string& kind, const std::string& store) const {
  const bool nt = store == "nt";
  if (!nt && store != "ordinary") return nullptr;
  if (kind == "read") return nt ? nullptr : read;
  if (kind == "write") return nt ? nt_write : write;
  if (kind == "copy") return nt ? nt_copy : copy;
  if (kind == "triad") return nt ? nt_triad : triad;
  return nullptr;
}

const std::vector<StreamKernels>& stream_kernels() {
  static const std::vector<StreamKernels> all = [] {
    std::vector<StreamKernels> found;
#if defined(__x86_64__)
    // The compiler's own check asks the operating system too.
    if (__builtin_cpu_supports("avx512f")) found.push_back(stream_kernels_avx512());
    if (__builtin_cpu_supports("avx2")) found.push_back(stream_kernels_avx());
#endif
    found.push_back(stream_kernels_16());
    return found;
  }();
  return all;
}

}  // namespace sonde::host
