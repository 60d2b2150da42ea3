// Kernels of single SMs: chases, profiles and contention.
#include "device/cuda/device_code.cuh"

namespace sonde::cuda {
namespace {

__global__ void gate(const volatile u32* flag, u32 epoch, volatile u32* gave_up) {
  const u64 end = global_ns() + kPatienceNs;
  while (*flag != epoch) {
    if (global_ns() > end) {
      *gave_up = epoch;
      return;
    }
  }
}

__global__ void link_ring(Ring ring, const u32* next, i64 copies) {
  const i64 count = ring.lines * copies;
  const i64 step = static_cast<i64>(gridDim.x) * blockDim.x;
  for (i64 i = static_cast<i64>(blockIdx.x) * blockDim.x + threadIdx.x; i < count; i += step) {
    char* base = ring.nodes + i / ring.lines * ring.lines * ring.line_bytes;
    const i64 line = i % ring.lines;
    *reinterpret_cast<char**>(base + line * ring.line_bytes) = base + next[line] * ring.line_bytes;
  }
}

__device__ u64 node_at(const Ring& ring, i64 position) {
  return reinterpret_cast<u64>(ring.nodes + ring.order[position % ring.lines] * ring.line_bytes);
}

__device__ void walk(u64 at, i64 loads, ChaseResult& result, u32 launch) {
  const u64 ns = global_ns();
  const long long cycles = clock64();
  for (i64 i = loads; i > 0; --i) at = load_any(reinterpret_cast<const void*>(at));
  result.cycles = static_cast<u64>(clock64() - cycles);
  result.ns = global_ns() - ns;
  result.end = at;
  result.sm = static_cast<std::int32_t>(sm_id());
  result.launch = launch;
}

__global__ void __launch_bounds__(kSeatThreads, 1)
    placed_chase(const __grid_constant__ Seats seats, Ring ring, const i64* positions, i64 lap,
                 i64 loads, ChaseResult* results) {
  const int role = take_block_seat(seats);
  if (role < 0) return;
  ring.nodes += role * ring.lines * ring.line_bytes;
  const i64 position = positions[role];
  // All threads read the lap in the order of the walk, so that the caches hold what a lap of the
  // walk itself leaves in them; one thread would take as long as the walk.
  // What is read must be used, or the assembler leaves the loads out.
  u64 sum = 0;
  for (i64 i = threadIdx.x; i < lap; i += blockDim.x) {
    const u32 line = __ldcg(ring.order + (position + i) % ring.lines);
    sum += load_any(ring.nodes + line * ring.line_bytes);
  }
  const int never = __syncthreads_or(sum == 1);
  if (threadIdx.x == 0) walk(node_at(ring, position), loads + never, results[role], seats.launch);
}

__global__ void free_chase(Ring ring, i64 loads, u32 launch, ChaseResult* results) {
  ring.nodes += blockIdx.x * ring.lines * ring.line_bytes;
  walk(node_at(ring, 0), loads, results[blockIdx.x], launch);
}

constexpr int kDependent = 8;

__global__ void __launch_bounds__(kSeatThreads, 1)
    profile(const __grid_constant__ Seats seats, char* base, const i64* offsets, i64 count,
            int passes, float* cycles, ProfileResult* result) {
  if (threadIdx.x != 0 || take_seat(seats) < 0) return;
  u32 overhead = ~0U;
  for (int i = 0; i < 64; ++i) {
    const u32 begin = static_cast<u32>(clock64());
    const u32 end = static_cast<u32>(clock64());
    overhead = min(overhead, end - begin);
  }
  u32 wrong = 0;
  const u64 ns = global_ns();
  const long long all = clock64();
  for (i64 i = 0; i < count; ++i) {
    const u64 line = reinterpret_cast<u64>(base + offsets[i]);
    u64 at = line;
    u32 best = ~0U;
    for (int pass = 0; pass < passes; ++pass) {
      const u32 begin = static_cast<u32>(clock64());
#pragma unroll
      for (int load = 0; load < kDependent; ++load) at = load_far(reinterpret_cast<void*>(at));
      const u32 end = static_cast<u32>(clock64() + (at != line));
      best = min(best, end - begin);
    }
    if (at != line) ++wrong;
    cycles[i] = static_cast<float>(best - overhead) / kDependent;
  }
  result->cycles = static_cast<u64>(clock64() - all);
  result->ns = global_ns() - ns;
  result->overhead = overhead;
  result->wrong = wrong;
  result->sm = static_cast<std::int32_t>(sm_id());
  result->launch = seats.launch;
}

/// 16-byte accesses that a thread has under way at once.
constexpr int kInFlight = 4;
constexpr i64 kStep = 16 * kSeatThreads;

__device__ u64 load_pass(const char* region, i64 bytes) {
  u64 sum = 0;
  for (i64 at = threadIdx.x * 16; at < bytes; at += kInFlight * kStep) {
    u64 a[kInFlight], b[kInFlight];
#pragma unroll
    for (int i = 0; i < kInFlight; ++i) {
      a[i] = b[i] = 0;
      if (at + i * kStep < bytes) {
        asm volatile("ld.global.cg.v2.u64 {%0, %1}, [%2];"
                     : "=l"(a[i]), "=l"(b[i])
                     : "l"(region + at + i * kStep)
                     : "memory");
      }
    }
#pragma unroll
    for (int i = 0; i < kInFlight; ++i) sum += a[i] + b[i];
  }
  return sum;
}

__device__ void store_pass(char* region, i64 bytes, u64 value) {
  for (i64 at = threadIdx.x * 16; at < bytes; at += kStep) {
    asm volatile("st.global.v2.u64 [%0], {%1, %1};" ::"l"(region + at), "l"(value) : "memory");
  }
}

__device__ float register_pass(float x) {
  float a = x, b = x + 1, c = x + 2, d = x + 3;
#pragma unroll 1
  for (int i = 0; i < 64; ++i) {
    asm volatile(
        "fma.rn.f32 %0, %0, 0f3F7FFFFF, 0f3F800000;\n\tfma.rn.f32 %1, %1, 0f3F7FFFFF, 0f3F800000;"
        "\n\tfma.rn.f32 %2, %2, 0f3F7FFFFF, 0f3F800000;\n\tfma.rn.f32 %3, %3, 0f3F7FFFFF, "
        "0f3F800000;"
        : "+f"(a), "+f"(b), "+f"(c), "+f"(d));
  }
  return a + b + c + d;
}

__device__ void aggress(const Duel& duel, u32 launch, int role) {
  __shared__ volatile bool stop;
  if (threadIdx.x == 0) stop = false;
  __syncthreads();
  char* const region = duel.regions + role * duel.region_bytes;
  const bool first_warp = threadIdx.x < 32;
  const u64 given_up = global_ns() + kPatienceNs;
  u64 passes = 0, at_opening = 0, begin = 0;
  bool opened = false;
  float kept = threadIdx.x;
  u64 sum = 0;
  // Warps go on each for itself; the first one watches the flags for all of them.
  while (!stop) {
    switch (duel.aggressor) {
      case DuelWork::load:
        sum += load_pass(region, duel.region_bytes);
        break;
      case DuelWork::store:
        store_pass(region, duel.region_bytes, passes);
        break;
      default:
        kept = register_pass(kept);
    }
    ++passes;
    if (!first_warp) continue;
    if (passes == 1) {
      begin = global_ns();
      if (threadIdx.x == 0) atomicAdd(&duel.state->at_work, 1ULL);
    }
    if (!opened && watch(&duel.state->opened) == launch) {
      opened = true;
      at_opening = passes;
    }
    if (watch(&duel.state->closed) == launch || global_ns() > given_up) stop = true;
  }
  if (kept == 12345.0F && sum == 12345) duel.results[role].end = sum;  // keeps the work
  if (threadIdx.x != 0) return;
  const u64 lines = duel.aggressor == DuelWork::register_only
                        ? 64
                        : static_cast<u64>(duel.region_bytes / 128 / (kSeatThreads / 32));
  DuelResult& result = duel.results[role];
  result.begin_ns = begin;
  result.end_ns = global_ns();
  result.operations = opened ? (passes - at_opening) * lines : 0;
  result.sm = static_cast<std::int32_t>(sm_id());
  result.launch = launch;
}

__device__ void suffer(const Duel& duel, u32 launch) {
  __shared__ u64 total;
  __shared__ u32 wrong;
  char* const region = duel.regions;
  const i64 bytes = duel.ring.lines * duel.ring.line_bytes;
  const int never = __syncthreads_or(load_pass(duel.ring.nodes, bytes) == 1);
  if (threadIdx.x == 0) {
    total = static_cast<u64>(never);
    wrong = 0;
    const u64 given_up = global_ns() + kPatienceNs;
    while (watch(&duel.state->at_work) < duel.at_work && global_ns() < given_up) {
    }
    *static_cast<volatile u32*>(&duel.state->opened) = launch;
    __threadfence();
  }
  __syncthreads();
  DuelResult result{};
  result.begin_ns = global_ns();
  const long long cycles = clock64();
  u64 value = 0;
  if (duel.victim == DuelWork::load) {
    if (threadIdx.x == 0) {
      value = node_at(duel.ring, duel.position);
      for (i64 i = duel.loads; i > 0; --i) value = load_far(reinterpret_cast<const void*>(value));
    }
  } else if (duel.victim == DuelWork::store) {
    for (i64 pass = 0; pass < duel.loads; ++pass) {
      store_pass(region, bytes, (static_cast<u64>(launch) << 32) + static_cast<u64>(pass));
    }
    __threadfence();
  } else {
    for (i64 pass = 0; pass < duel.loads; ++pass) value += load_pass(duel.ring.nodes, bytes);
  }
  __syncthreads();
  result.cycles = static_cast<u64>(clock64() - cycles);
  result.end_ns = global_ns();
  if (threadIdx.x == 0) {
    *static_cast<volatile u32*>(&duel.state->closed) = launch;
    __threadfence();
  }
  if (duel.victim == DuelWork::store) {
    const u64 expected = (static_cast<u64>(launch) << 32) + static_cast<u64>(duel.loads - 1);
    for (i64 at = threadIdx.x * 16; at < bytes; at += kStep) {
      if (load_far(region + at) != expected || load_far(region + at + 8) != expected) {
        atomicAdd(&wrong, 1U);
      }
    }
  }
  atomicAdd(&total, value);
  __syncthreads();
  if (threadIdx.x != 0) return;
  result.end = total;
  result.wrong = wrong;
  result.sm = static_cast<std::int32_t>(sm_id());
  result.launch = launch;
  duel.results[0] = result;
}

__global__ void __launch_bounds__(kSeatThreads, 1)
    duel_kernel(const __grid_constant__ Seats seats, const __grid_constant__ Duel duel) {
  const int role = take_block_seat(seats);
  if (role == 0) suffer(duel, seats.launch);
  if (role > 0) aggress(duel, seats.launch, role);
}

}  // namespace

cudaError_t count_latency_seats(int* chase, int* profiles, int* duels) {
  cudaError_t code =
      cudaOccupancyMaxActiveBlocksPerMultiprocessor(chase, placed_chase, kSeatThreads, 0);
  if (code != cudaSuccess) return code;
  code = cudaOccupancyMaxActiveBlocksPerMultiprocessor(profiles, profile, kSeatThreads, 0);
  if (code != cudaSuccess) return code;
  return cudaOccupancyMaxActiveBlocksPerMultiprocessor(duels, duel_kernel, kSeatThreads, 0);
}

cudaError_t launch_gate(cudaStream_t stream, const volatile unsigned* flag, unsigned epoch,
                        volatile unsigned* gave_up) {
  gate<<<1, 1, 0, stream>>>(flag, epoch, gave_up);
  return cudaGetLastError();
}

cudaError_t launch_ring(cudaStream_t stream, const Ring& ring, const std::uint32_t* next,
                        std::int64_t copies) {
  link_ring<<<1024, 256, 0, stream>>>(ring, next, copies);
  return cudaGetLastError();
}

cudaError_t launch_placed_chase(cudaStream_t stream, int blocks, const Seats& seats,
                                const Ring& ring, const std::int64_t* positions, std::int64_t lap,
                                std::int64_t loads, ChaseResult* results) {
  placed_chase<<<static_cast<unsigned>(blocks), kSeatThreads, 0, stream>>>(seats, ring, positions,
                                                                           lap, loads, results);
  return cudaGetLastError();
}

cudaError_t launch_free_chase(cudaStream_t stream, std::int64_t blocks, int shared_bytes,
                              const Ring& ring, std::int64_t loads, unsigned launch,
                              ChaseResult* results) {
  const cudaError_t code =
      cudaFuncSetAttribute(free_chase, cudaFuncAttributeMaxDynamicSharedMemorySize, shared_bytes);
  if (code != cudaSuccess) return code;
  free_chase<<<static_cast<unsigned>(blocks), 1, static_cast<std::size_t>(shared_bytes), stream>>>(
      ring, loads, launch, results);
  return cudaGetLastError();
}

cudaError_t launch_profile(cudaStream_t stream, int blocks, const Seats& seats, char* base,
                           const std::int64_t* offsets, std::int64_t count, int passes,
                           float* cycles, ProfileResult* result) {
  profile<<<static_cast<unsigned>(blocks), kSeatThreads, 0, stream>>>(seats, base, offsets, count,
                                                                      passes, cycles, result);
  return cudaGetLastError();
}

cudaError_t launch_duel(cudaStream_t stream, int blocks, const Seats& seats, const Duel& duel) {
  duel_kernel<<<static_cast<unsigned>(blocks), kSeatThreads, 0, stream>>>(seats, duel);
  return cudaGetLastError();
}

}  // namespace sonde::cuda
