#include "tests/bench/cuda_bare.h"

#include <vector>

namespace bare {
namespace {

using i64 = std::int64_t;

__global__ void link(char* base, i64 lines, i64 chains) {
  // A step coprime to a power of two visits every line and is no stride that anything foresees.
  const i64 step = 2 * (lines / 5) + 1;
  for (i64 i = blockIdx.x * i64{blockDim.x} + threadIdx.x; i < lines * chains;
       i += i64{gridDim.x} * blockDim.x) {
    char* const chain = base + i / lines * lines * 128;
    *reinterpret_cast<char**>(chain + i % lines * 128) = chain + (i % lines + step) % lines * 128;
  }
}

__global__ void walk(char* base, i64 lines, i64 loads, char** out) {
  char** at = reinterpret_cast<char**>(base + blockIdx.x * lines * 128);
  for (i64 i = 0; i < loads; ++i)
    at = reinterpret_cast<char**>(__ldcg(reinterpret_cast<unsigned long long*>(at)));
  out[blockIdx.x] = reinterpret_cast<char*>(at);
}

__global__ void read(const float4* b, i64 count, float* out) {
  float sum = 0;
  for (i64 i = blockIdx.x * i64{blockDim.x} + threadIdx.x; i < count;
       i += i64{gridDim.x} * blockDim.x * 4) {
    const i64 step = i64{gridDim.x} * blockDim.x;
#pragma unroll
    for (int j = 0; j < 4; ++j) {
      if (i + j * step < count) {
        const float4 v = b[i + j * step];
        sum += v.x + v.y + v.z + v.w;
      }
    }
  }
  if (sum == 12345.678F) *out = sum;
}

__global__ void write(float4* a, i64 count) {
  for (i64 i = blockIdx.x * i64{blockDim.x} + threadIdx.x; i < count;
       i += i64{gridDim.x} * blockDim.x) {
    a[i] = make_float4(1, 2, 3, 4);
  }
}

__global__ void copy_kernel(float4* a, const float4* b, i64 count) {
  for (i64 i = blockIdx.x * i64{blockDim.x} + threadIdx.x; i < count;
       i += i64{gridDim.x} * blockDim.x) {
    a[i] = b[i];
  }
}

__global__ void triad(float4* a, const float4* b, const float4* c, i64 count) {
  for (i64 i = blockIdx.x * i64{blockDim.x} + threadIdx.x; i < count;
       i += i64{gridDim.x} * blockDim.x) {
    const float4 x = b[i], y = c[i];
    a[i] = make_float4(x.x + 3 * y.x, x.y + 3 * y.y, x.z + 3 * y.z, x.w + 3 * y.w);
  }
}

/// Runs `work` once unmeasured and once between two events.
template <class Work>
double timed(const Work& work) {
  cudaEvent_t begin, end;
  cudaEventCreate(&begin);
  cudaEventCreate(&end);
  work();
  cudaEventRecord(begin);
  work();
  cudaEventRecord(end);
  float ms = -1;
  if (cudaEventSynchronize(end) != cudaSuccess || cudaGetLastError() != cudaSuccess ||
      cudaEventElapsedTime(&ms, begin, end) != cudaSuccess) {
    ms = -1;
  }
  cudaEventDestroy(begin);
  cudaEventDestroy(end);
  return static_cast<double>(ms) * 1e-3;
}

struct Memory {
  explicit Memory(i64 bytes) {
    if (cudaMalloc(&data, static_cast<std::size_t>(bytes)) == cudaSuccess) {
      cudaMemset(data, 1, static_cast<std::size_t>(bytes));
    }
  }
  ~Memory() { cudaFree(data); }
  char* data = nullptr;
};

}  // namespace

double chase(int blocks, int shared_bytes, i64 lines, i64 loads) {
  const Memory chains(blocks * lines * 128), out(blocks * 8);
  link<<<512, 256>>>(chains.data, lines, blocks);
  cudaFuncSetAttribute(walk, cudaFuncAttributeMaxDynamicSharedMemorySize, shared_bytes);
  return timed([&] {
    walk<<<static_cast<unsigned>(blocks), 1, static_cast<std::size_t>(shared_bytes)>>>(
        chains.data, lines, loads, reinterpret_cast<char**>(out.data));
  });
}

double copy(i64 bytes, int count) {
  const Memory from(bytes), to(bytes);
  return timed([&] {
           for (int i = 0; i < count; ++i) {
             cudaMemcpyAsync(to.data, from.data, static_cast<std::size_t>(bytes),
                             cudaMemcpyDeviceToDevice);
           }
         }) /
         count;
}

double stream(char kind, int sms, i64 bytes) {
  const Memory a(kind == 'r' ? 16 : bytes), b(kind == 'w' ? 16 : bytes),
      c(kind == 't' ? bytes : 16);
  const i64 count = bytes / 16;
  auto* const to = reinterpret_cast<float4*>(a.data);
  const auto* const x = reinterpret_cast<const float4*>(b.data);
  const auto* const y = reinterpret_cast<const float4*>(c.data);
  const auto blocks = static_cast<unsigned>(2 * sms);
  return timed([&] {
    if (kind == 'r') read<<<blocks, 1024>>>(x, count, reinterpret_cast<float*>(a.data));
    if (kind == 'w') write<<<blocks, 1024>>>(to, count);
    if (kind == 'c') copy_kernel<<<blocks, 1024>>>(to, x, count);
    if (kind == 't') triad<<<blocks, 1024>>>(to, x, y, count);
  });
}

}  // namespace bare
