#pragma once

#include "device/cuda/kernels.h"

// What several kernels need. Loads that are measured are written in PTX, so that the compiler
// neither moves nor merges them and the cache they may use is the one named.
namespace sonde::cuda {

using u32 = unsigned;
using u64 = unsigned long long;
using i64 = std::int64_t;

inline constexpr u64 kPatienceNs = 2'000'000'000;

__device__ inline u32 sm_id() {
  u32 id;
  asm volatile("mov.u32 %0, %%smid;" : "=r"(id));
  return id;
}

__device__ inline u64 global_ns() {
  u64 ns;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(ns)::"memory");
  return ns;
}

__device__ inline u64 load_any(const void* at) {  // through the nearest cache
  u64 value;
  asm volatile("ld.global.ca.u64 %0, [%1];" : "=l"(value) : "l"(at) : "memory");
  return value;
}

__device__ inline u64 load_far(const void* at) {  // past it
  u64 value;
  asm volatile("ld.global.cg.u64 %0, [%1];" : "=l"(value) : "l"(at) : "memory");
  return value;
}

template <class T>
__device__ T watch(const T* at) {
  return *static_cast<const volatile T*>(at);
}

/// Role of the calling block, or -1. One thread of each block calls it.
__device__ inline int take_seat(const Seats& seats) {
  const u32 sm = sm_id();
  atomicAdd(seats.arrivals, 1ULL);
  const u64 given_up = global_ns() + kPatienceNs;
  while (watch(seats.arrivals) < seats.target) {
    if (global_ns() > given_up) return -1;
  }
  if (sm >= kMostSms || seats.role[sm] < 0) return -1;
  return atomicExch(&seats.taken[sm], seats.launch) != seats.launch ? seats.role[sm] : -1;
}

/// The same for a whole block.
__device__ inline int take_block_seat(const Seats& seats) {
  __shared__ int role;
  if (threadIdx.x == 0) role = take_seat(seats);
  __syncthreads();
  return role;
}

/// device/common/pattern.h, word by word.
__device__ inline u64 pattern_word_at(u64 seed, u64 i) {
  return (seed | 1) + (i + 1) * 0x9e3779b97f4a7c15ULL;
}

/// Whole numbers below 2^20: sums and triads of a few are exact.
__device__ inline float float_at(u64 seed, u64 i) {
  return static_cast<float>(static_cast<u32>(pattern_word_at(seed, i) >> 44));
}

}  // namespace sonde::cuda
