// Kernels that move data: streams, copies, patterns and the operands of products.
#include "device/cuda/device_code.cuh"

namespace sonde::cuda {
namespace {

constexpr int kBlocks = 1024;
constexpr int kThreads = 256;

__device__ i64 first_index() { return static_cast<i64>(blockIdx.x) * blockDim.x + threadIdx.x; }
__device__ i64 index_step() { return static_cast<i64>(gridDim.x) * blockDim.x; }

/// Accesses of a thread under way at once: 1,024 threads x 4 x 16 B are 64 KiB an SM, twice what
/// 4.8 TB/s over 132 SMs at 700 ns need.
constexpr int kInFlight = 4;

template <class Vector>
constexpr int kWidth = sizeof(Vector) / sizeof(float);

/// Modulo 2^32: one addition a word.
template <class Vector>
__device__ u32 words(const Vector& v) {
  const auto* word = reinterpret_cast<const u32*>(&v);
  u32 sum = 0;
#pragma unroll
  for (int i = 0; i < kWidth<Vector>; ++i) sum += word[i];
  return sum;
}

template <class Vector>
__device__ Vector triad(const Vector& b, const Vector& c, float factor) {
  Vector out;
  auto* to = reinterpret_cast<float*>(&out);
  const auto* x = reinterpret_cast<const float*>(&b);
  const auto* y = reinterpret_cast<const float*>(&c);
#pragma unroll
  for (int i = 0; i < kWidth<Vector>; ++i) to[i] = x[i] + factor * y[i];
  return out;
}

template <class Vector>
__device__ Vector all(float value) {
  Vector out;
  auto* to = reinterpret_cast<float*>(&out);
#pragma unroll
  for (int i = 0; i < kWidth<Vector>; ++i) to[i] = value;
  return out;
}

template <class Vector, StreamKind kind>
__device__ u32 stream_pass(Vector* target, const Vector* source, const Vector* second, i64 count,
                           const StreamArrays& arrays) {
  u32 sum = 0;
  const i64 step = kSeatThreads;
  i64 i = threadIdx.x;
  for (; i + (kInFlight - 1) * step < count; i += kInFlight * step) {
    Vector b[kInFlight], c[kInFlight];
#pragma unroll
    for (int j = 0; j < kInFlight; ++j) {
      if constexpr (kind != StreamKind::write) b[j] = __ldcg(source + i + j * step);
      if constexpr (kind == StreamKind::triad) c[j] = __ldcg(second + i + j * step);
    }
#pragma unroll
    for (int j = 0; j < kInFlight; ++j) {
      if constexpr (kind == StreamKind::read) sum += words(b[j]);
      if constexpr (kind == StreamKind::write) target[i + j * step] = all<Vector>(arrays.value);
      if constexpr (kind == StreamKind::copy) target[i + j * step] = b[j];
      if constexpr (kind == StreamKind::triad) {
        target[i + j * step] = triad(b[j], c[j], arrays.factor);
      }
    }
  }
  for (; i < count; i += step) {
    if constexpr (kind == StreamKind::read) sum += words(__ldcg(source + i));
    if constexpr (kind == StreamKind::write) target[i] = all<Vector>(arrays.value);
    if constexpr (kind == StreamKind::copy) target[i] = __ldcg(source + i);
    if constexpr (kind == StreamKind::triad) {
      target[i] = triad(__ldcg(source + i), __ldcg(second + i), arrays.factor);
    }
  }
  return sum;
}

template <class Vector, StreamKind kind>
__global__ void __launch_bounds__(kSeatThreads, 1)
    stream_kernel(const __grid_constant__ Seats seats, StreamArrays arrays, StreamResult* results) {
  __shared__ u32 total;
  const int role = take_block_seat(seats);
  if (role < 0) return;
  if (threadIdx.x == 0) total = 0;
  const i64 offset = role * arrays.stride / static_cast<i64>(sizeof(float));
  auto* target = reinterpret_cast<Vector*>(arrays.target + offset);
  const auto* source = reinterpret_cast<const Vector*>(arrays.source + offset);
  const auto* second = reinterpret_cast<const Vector*>(arrays.second + offset);
  const i64 count = arrays.bytes / static_cast<i64>(sizeof(Vector));
  const u64 begin = global_ns();
  u32 sum = 0;
  for (i64 pass = 0; pass < arrays.passes; ++pass) {
    sum += stream_pass<Vector, kind>(target, source, second, count, arrays);
    // A later pass must not read ahead of this one.
    if (kind != StreamKind::read) __syncthreads();
  }
  if (kind != StreamKind::read) __threadfence();
  __syncthreads();
  const u64 end = global_ns();
  if (kind == StreamKind::read) atomicAdd(&total, sum);
  __syncthreads();
  if (threadIdx.x != 0) return;
  StreamResult& result = results[role];
  result.begin_ns = begin;
  result.end_ns = end;
  result.sum = total;
  result.sm = static_cast<std::int32_t>(sm_id());
  result.launch = seats.launch;
}

using StreamKernel = void (*)(Seats, StreamArrays, StreamResult*);

template <class Vector>
StreamKernel kernel_of(StreamKind kind) {
  switch (kind) {
    case StreamKind::read:
      return stream_kernel<Vector, StreamKind::read>;
    case StreamKind::write:
      return stream_kernel<Vector, StreamKind::write>;
    case StreamKind::copy:
      return stream_kernel<Vector, StreamKind::copy>;
    case StreamKind::triad:
      break;
  }
  return stream_kernel<Vector, StreamKind::triad>;
}

StreamKernel kernel_of(StreamKind kind, int request_bytes) {
  return request_bytes == 16  ? kernel_of<float4>(kind)
         : request_bytes == 8 ? kernel_of<float2>(kind)
                              : kernel_of<float>(kind);
}

__global__ void __launch_bounds__(1024)
    copy_kernel(char* target, const char* source, i64 bytes, bool wide) {
  if (!wide) {
    for (i64 i = first_index(); i < bytes; i += index_step()) target[i] = source[i];
    return;
  }
  auto* to = reinterpret_cast<uint4*>(target);
  const auto* from = reinterpret_cast<const uint4*>(source);
  const i64 count = bytes / 16;
  const i64 step = index_step();
  i64 i = first_index();
  for (; i + (kInFlight - 1) * step < count; i += kInFlight * step) {
    uint4 word[kInFlight];
#pragma unroll
    for (int j = 0; j < kInFlight; ++j) word[j] = __ldcg(from + i + j * step);
#pragma unroll
    for (int j = 0; j < kInFlight; ++j) to[i + j * step] = word[j];
  }
  for (; i < count; i += step) to[i] = __ldcg(from + i);
  for (i64 at = count * 16 + first_index(); at < bytes; at += step) target[at] = source[at];
}

__global__ void fill(char* target, i64 bytes, u64 seed, u64 flip) {
  for (i64 i = first_index(); i * 8 < bytes; i += index_step()) {
    const u64 word = pattern_word_at(seed, static_cast<u64>(i)) ^ flip;
    if (i * 8 + 8 <= bytes && reinterpret_cast<u64>(target) % 8 == 0) {
      reinterpret_cast<u64*>(target)[i] = word;
      continue;
    }
    for (i64 at = i * 8; at < bytes && at < i * 8 + 8; ++at) {
      target[at] = static_cast<char>(word >> (8 * (at - i * 8)));
    }
  }
}

__global__ void compare(const char* found, i64 bytes, u64 seed, u64* first) {
  for (i64 i = first_index(); i * 8 < bytes; i += index_step()) {
    const u64 word = pattern_word_at(seed, static_cast<u64>(i));
    if (i * 8 + 8 <= bytes && reinterpret_cast<u64>(found) % 8 == 0 &&
        reinterpret_cast<const u64*>(found)[i] == word) {
      continue;
    }
    for (i64 at = i * 8; at < bytes && at < i * 8 + 8; ++at) {
      if (found[at] == static_cast<char>(word >> (8 * (at - i * 8)))) continue;
      atomicMin(first, static_cast<u64>(at));
      break;
    }
  }
}

__global__ void fill_floats(float* out, i64 count, u64 seed, bool constant, float value) {
  for (i64 i = first_index(); i < count; i += index_step()) {
    out[i] = constant ? value : float_at(seed, static_cast<u64>(i));
  }
}

__global__ void expected_sum(i64 count, u64 seed, u64* sum) {
  u64 mine = 0;
  for (i64 i = first_index(); i < count; i += index_step()) {
    mine += __float_as_uint(float_at(seed, static_cast<u64>(i)));
  }
  atomicAdd(sum, mine);
}

__global__ void check_stream(StreamKind kind, const float* found, i64 count, u64 seed,
                             u64 second_seed, float value, float factor, u64* first) {
  for (i64 i = first_index(); i < count; i += index_step()) {
    float expected = value;
    if (kind != StreamKind::write) expected = float_at(seed, static_cast<u64>(i));
    if (kind == StreamKind::triad) {
      expected += factor * float_at(second_seed, static_cast<u64>(i));
    }
    if (found[i] != expected) atomicMin(first, static_cast<u64>(i));
  }
}

/// core/rng.h.
__device__ u64 mix(u64 x) {
  x ^= x >> 30;
  x *= 0xbf58476d1ce4e5b9ULL;
  x ^= x >> 27;
  x *= 0x94d049bb133111ebULL;
  x ^= x >> 31;
  return x;
}

constexpr u64 kGolden = 0x9e3779b97f4a7c15ULL;

/// gemm_value of device/common/gemm_reference.h: eight columns a thread from one hash. Neighbouring
/// threads take neighbouring groups, or rows where columns are stored one after another.
__global__ void gemm_fill(GemmFill f) {
  const i64 groups = (f.cols + 7) / 8;
  for (i64 i = first_index(); i < f.rows * groups; i += index_step()) {
    const i64 row = f.transposed ? i % f.rows : i / groups;
    const i64 group = f.transposed ? i / f.rows : i % groups;
    const u64 key = mix(f.key_base + kGolden + mix(static_cast<u64>(row) + 0x632be59bd9b4e019ULL));
    u64 bits = mix(key + static_cast<u64>(group) * kGolden);
    for (i64 col = group * 8; col < f.cols && col < group * 8 + 8; ++col, bits >>= 8) {
      const i64 at = f.transposed ? col * f.leading + row : row * f.leading + col;
      const std::uint16_t value = f.table[bits & 0xff];
      if (f.bytes) {
        static_cast<unsigned char*>(f.out)[at] = static_cast<unsigned char>(value);
      } else {
        static_cast<std::uint16_t*>(f.out)[at] = value;
      }
    }
  }
}

__global__ void count_not_finite(const void* data, i64 elements, u32 mask, bool bytes, u64* count) {
  u64 mine = 0;
  for (i64 i = first_index(); i < elements; i += index_step()) {
    const u32 bits = bytes ? static_cast<const unsigned char*>(data)[i]
                           : static_cast<const std::uint16_t*>(data)[i];
    if ((bits & mask) == mask) ++mine;
  }
  if (mine != 0) atomicAdd(count, mine);
}

__global__ void sample(std::uint16_t* matrix, i64 leading, const i64* rows, const i64* cols,
                       std::uint16_t* values, bool poison) {
  std::uint16_t& element = matrix[rows[blockIdx.x] * leading + cols[threadIdx.x]];
  if (poison) {
    element = 0xffff;
  } else {
    values[blockIdx.x * blockDim.x + threadIdx.x] = element;
  }
}

}  // namespace

cudaError_t count_stream_seats(StreamKind kind, int request_bytes, int* streams) {
  return cudaOccupancyMaxActiveBlocksPerMultiprocessor(streams, kernel_of(kind, request_bytes),
                                                       kSeatThreads, 0);
}

cudaError_t launch_stream(cudaStream_t stream, int blocks, const Seats& seats, StreamKind kind,
                          int request_bytes, const StreamArrays& arrays, StreamResult* results) {
  kernel_of(kind, request_bytes)<<<static_cast<unsigned>(blocks), kSeatThreads, 0, stream>>>(
      seats, arrays, results);
  return cudaGetLastError();
}

cudaError_t launch_copy(cudaStream_t stream, int sms, void* target, const void* source,
                        std::int64_t bytes) {
  const bool wide =
      (reinterpret_cast<std::uintptr_t>(target) | reinterpret_cast<std::uintptr_t>(source)) % 16 ==
      0;
  copy_kernel<<<static_cast<unsigned>(2 * sms), 1024, 0, stream>>>(
      static_cast<char*>(target), static_cast<const char*>(source), bytes, wide);
  return cudaGetLastError();
}

cudaError_t launch_fill(cudaStream_t stream, void* target, std::int64_t bytes, std::uint64_t seed,
                        bool inverted) {
  fill<<<kBlocks, kThreads, 0, stream>>>(static_cast<char*>(target), bytes, seed,
                                         inverted ? ~u64{0} : 0);
  return cudaGetLastError();
}

cudaError_t launch_compare(cudaStream_t stream, const void* found, std::int64_t bytes,
                           std::uint64_t seed, unsigned long long* first) {
  compare<<<kBlocks, kThreads, 0, stream>>>(static_cast<const char*>(found), bytes, seed, first);
  return cudaGetLastError();
}

cudaError_t launch_fill_floats(cudaStream_t stream, float* out, std::int64_t count,
                               std::uint64_t seed, bool constant, float value) {
  fill_floats<<<kBlocks, kThreads, 0, stream>>>(out, count, seed, constant, value);
  return cudaGetLastError();
}

cudaError_t launch_expected_sum(cudaStream_t stream, std::int64_t count, std::uint64_t seed,
                                unsigned long long* sum) {
  expected_sum<<<kBlocks, kThreads, 0, stream>>>(count, seed, sum);
  return cudaGetLastError();
}

cudaError_t launch_check_stream(cudaStream_t stream, StreamKind kind, const float* found,
                                std::int64_t count, std::uint64_t seed, std::uint64_t second_seed,
                                float value, float factor, unsigned long long* first) {
  check_stream<<<kBlocks, kThreads, 0, stream>>>(kind, found, count, seed, second_seed, value,
                                                 factor, first);
  return cudaGetLastError();
}

cudaError_t launch_gemm_fill(cudaStream_t stream, const GemmFill& fill) {
  gemm_fill<<<4 * kBlocks, kThreads, 0, stream>>>(fill);
  return cudaGetLastError();
}

cudaError_t launch_count_not_finite(cudaStream_t stream, const void* data, std::int64_t elements,
                                    std::uint16_t exponent_mask, bool bytes,
                                    unsigned long long* count) {
  count_not_finite<<<4 * kBlocks, kThreads, 0, stream>>>(data, elements, exponent_mask, bytes,
                                                         count);
  return cudaGetLastError();
}

cudaError_t launch_sample(cudaStream_t stream, std::uint16_t* matrix, std::int64_t leading,
                          const std::int64_t* rows, int row_count, const std::int64_t* cols,
                          int col_count, std::uint16_t* values, bool poison) {
  sample<<<static_cast<unsigned>(row_count), static_cast<unsigned>(col_count), 0, stream>>>(
      matrix, leading, rows, cols, values, poison);
  return cudaGetLastError();
}

}  // namespace sonde::cuda
