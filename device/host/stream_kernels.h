#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace sonde::host {

/// Arrays of one core; all begin on a line and are multiples of the access width long.
struct StreamArrays {
  std::byte* target = nullptr;        ///< written by write, copy and triad
  const std::byte* source = nullptr;  ///< read by read, copy and triad
  const std::byte* second = nullptr;  ///< read by triad
  std::int64_t bytes = 0;
  double value = 0;  ///< what write stores, in each 8 bytes
};

/// Factor of the triad: target = source + kTriadFactor x second, in doubles.
inline constexpr double kTriadFactor = 3.0;

/// One pass over the arrays. A read returns the sum of all 8-byte words modulo 2^64, the others
/// 0. With `nt` the stores are in memory when it returns.
using StreamPass = std::uint64_t (*)(const StreamArrays&);

/// Loops of one access width. Each access of the loop is one instruction of that width.
struct StreamKernels {
  std::int64_t request_bytes = 0;
  std::string instructions;  ///< "AVX-512"
  StreamPass read = nullptr;
  StreamPass write = nullptr;
  StreamPass copy = nullptr;
  StreamPass triad = nullptr;
  StreamPass nt_write = nullptr;  ///< null where there are no non-temporal stores
  StreamPass nt_copy = nullptr;
  StreamPass nt_triad = nullptr;

  /// Null when there is no such loop.
  StreamPass pass(const std::string& kind, const std::string& store) const;
};

/// What the processor this runs on has, widest first.
const std::vector<StreamKernels>& stream_kernels();

/// Each lives in a file of its own, compiled for its instructions; call only where they exist.
StreamKernels stream_kernels_16();
#if defined(__x86_64__)
StreamKernels stream_kernels_avx();
StreamKernels stream_kernels_avx512();
#endif

}  // namespace sonde::host
