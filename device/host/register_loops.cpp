#include "device/host/register_loops.h"

#include <algorithm>

#include "device/common/gemm_reference.h"

#if defined(__x86_64__)
#include <cpuid.h>
#include <immintrin.h>
#include <sys/syscall.h>
#include <unistd.h>
#endif

namespace sonde::host {

#if defined(__x86_64__)
namespace {

constexpr std::uint64_t kSeed = 1;  // of the operands: any random values draw the same power

/// Vectors of A and of B in a vector loop: each sum is of one of A with one of B. 16 sums of 512
/// bits, or 8 of 256, hide the 4 cycles of a multiply-add on two ports and fit the registers.
constexpr int kA = 4;
constexpr int kB512 = 4;
constexpr int kB256 = 2;

/// Sums of a vector loop: `terms` neighbouring elements of each operand meet in one lane.
std::vector<double> vector_sums(int b_count, std::int64_t lanes, std::int64_t terms,
                                std::int64_t steps) {
  std::vector<double> sums;
  for (int a = 0; a < kA; ++a) {
    for (int b = 0; b < b_count; ++b) {
      for (std::int64_t lane = 0; lane < lanes; ++lane) {
        double sum = 0;
        for (std::int64_t i = lane * terms; i < (lane + 1) * terms; ++i) {
          sum += static_cast<double>(gemm_value(kSeed, GemmOperand::a, a, i)) *
                 static_cast<double>(gemm_value(kSeed, GemmOperand::b, b, i));
        }
        sums.push_back(sum * static_cast<double>(steps));
      }
    }
  }
  return sums;
}

template <class Element, std::size_t kRows, std::size_t kLanes>
void fill(GemmOperand operand, Element (&out)[kRows][kLanes]) {
  for (std::size_t row = 0; row < kRows; ++row) {
    fill_gemm_row(kSeed, operand, static_cast<std::int64_t>(row), std::span<Element>(out[row]));
  }
}

__attribute__((target("avx2,fma"))) void run_avx2(std::int64_t steps, float* results) {
  float values_a[kA][8], values_b[kB256][8];
  fill(GemmOperand::a, values_a);
  fill(GemmOperand::b, values_b);
  __m256 a[kA], b[kB256], c[kA][kB256];
  for (int i = 0; i < kA; ++i) a[i] = _mm256_loadu_ps(values_a[i]);
  for (int j = 0; j < kB256; ++j) b[j] = _mm256_loadu_ps(values_b[j]);
  for (std::int64_t left = steps; left > 0; left -= kStepsPerBlock) {
    for (auto& row : c) {
      for (auto& sum : row) sum = _mm256_setzero_ps();
    }
    for (std::int64_t step = std::min(left, kStepsPerBlock); step > 0; --step) {
#pragma GCC unroll 4
      for (int i = 0; i < kA; ++i) {
#pragma GCC unroll 2
        for (int j = 0; j < kB256; ++j) c[i][j] = _mm256_fmadd_ps(a[i], b[j], c[i][j]);
      }
    }
  }
  for (auto& row : c) {
    for (auto& sum : row) {
      _mm256_storeu_ps(results, sum);
      results += 8;
    }
  }
}

__attribute__((target("avx512f"))) void run_avx512(std::int64_t steps, float* results) {
  float values_a[kA][16], values_b[kB512][16];
  fill(GemmOperand::a, values_a);
  fill(GemmOperand::b, values_b);
  __m512 a[kA], b[kB512], c[kA][kB512];
  for (int i = 0; i < kA; ++i) a[i] = _mm512_loadu_ps(values_a[i]);
  for (int j = 0; j < kB512; ++j) b[j] = _mm512_loadu_ps(values_b[j]);
  for (std::int64_t left = steps; left > 0; left -= kStepsPerBlock) {
    for (auto& row : c) {
      for (auto& sum : row) sum = _mm512_setzero_ps();
    }
    for (std::int64_t step = std::min(left, kStepsPerBlock); step > 0; --step) {
#pragma GCC unroll 4
      for (int i = 0; i < kA; ++i) {
#pragma GCC unroll 4
        for (int j = 0; j < kB512; ++j) c[i][j] = _mm512_fmadd_ps(a[i], b[j], c[i][j]);
      }
    }
  }
  for (auto& row : c) {
    for (auto& sum : row) {
      _mm512_storeu_ps(results, sum);
      results += 16;
    }
  }
}

__attribute__((target("avx512f,avx512bf16"))) void run_avx512_bf16(std::int64_t steps,
                                                                   float* results) {
  std::uint16_t values_a[kA][32], values_b[kB512][32];
  fill(GemmOperand::a, values_a);
  fill(GemmOperand::b, values_b);
  __m512i a[kA], b[kB512];
  __m512 c[kA][kB512];
  for (int i = 0; i < kA; ++i) a[i] = _mm512_loadu_si512(values_a[i]);
  for (int j = 0; j < kB512; ++j) b[j] = _mm512_loadu_si512(values_b[j]);
  for (std::int64_t left = steps; left > 0; left -= kStepsPerBlock) {
    for (auto& row : c) {
      for (auto& sum : row) sum = _mm512_setzero_ps();
    }
    for (std::int64_t step = std::min(left, kStepsPerBlock); step > 0; --step) {
#pragma GCC unroll 4
      for (int i = 0; i < kA; ++i) {
#pragma GCC unroll 4
        for (int j = 0; j < kB512; ++j) {
          c[i][j] = _mm512_dpbf16_ps(c[i][j], reinterpret_cast<__m512bh>(a[i]),
                                     reinterpret_cast<__m512bh>(b[j]));
        }
      }
    }
  }
  for (auto& row : c) {
    for (auto& sum : row) {
      _mm512_storeu_ps(results, sum);
      results += 16;
    }
  }
}

/// Four sums of 16 x 16 from two tiles of A and two of B, the most that eight tiles allow.
constexpr int kTile = 16;
constexpr int kDepth = 32;
constexpr int kSide = 2 * kTile;

struct alignas(64) TileConfig {
  std::uint8_t palette = 1;
  std::uint8_t start_row = 0;
  std::uint8_t reserved[14] = {};
  std::uint16_t row_bytes[16] = {64, 64, 64, 64, 64, 64, 64, 64};
  std::uint8_t rows[16] = {16, 16, 16, 16, 16, 16, 16, 16};
};

__attribute__((target("amx-tile,amx-bf16"))) void run_amx(std::int64_t steps, float* results) {
  std::uint16_t a[kSide][kDepth], plain_b[kDepth][kSide], b[2][kTile][2 * kTile];
  fill(GemmOperand::a, a);
  fill(GemmOperand::b, plain_b);
  for (int half = 0; half < 2; ++half) {  // two rows of B lie side by side, element by element
    for (int row = 0; row < kDepth; ++row) {
      for (int col = 0; col < kTile; ++col) {
        b[half][row / 2][2 * col + row % 2] = plain_b[row][kTile * half + col];
      }
    }
  }
  const TileConfig config;
  _tile_loadconfig(&config);
  _tile_loadd(4, a[0], 64);
  _tile_loadd(5, a[kTile], 64);
  _tile_loadd(6, b[0], 64);
  _tile_loadd(7, b[1], 64);
  for (std::int64_t left = steps; left > 0; left -= kStepsPerBlock) {
    _tile_zero(0);
    _tile_zero(1);
    _tile_zero(2);
    _tile_zero(3);
    for (std::int64_t step = std::min(left, kStepsPerBlock); step > 0; --step) {
      _tile_dpbf16ps(0, 4, 6);
      _tile_dpbf16ps(1, 4, 7);
      _tile_dpbf16ps(2, 5, 6);
      _tile_dpbf16ps(3, 5, 7);
    }
  }
  constexpr int kRowBytes = kSide * 4;
  _tile_stored(0, results, kRowBytes);
  _tile_stored(1, results + kTile, kRowBytes);
  _tile_stored(2, results + std::ptrdiff_t{kTile} * kSide, kRowBytes);
  _tile_stored(3, results + std::ptrdiff_t{kTile} * kSide + kTile, kRowBytes);
  _tile_release();
}

std::vector<double> amx_sums(std::int64_t steps) {
  std::vector<double> sums;
  for (std::int64_t row = 0; row < kSide; ++row) {
    for (std::int64_t col = 0; col < kSide; ++col) {
      double sum = 0;
      for (std::int64_t i = 0; i < kDepth; ++i) {
        sum += static_cast<double>(gemm_value(kSeed, GemmOperand::a, row, i)) *
               static_cast<double>(gemm_value(kSeed, GemmOperand::b, i, col));
      }
      sums.push_back(sum * static_cast<double>(steps));
    }
  }
  return sums;
}

std::vector<double> avx2_sums(std::int64_t steps) { return vector_sums(kB256, 8, 1, steps); }
std::vector<double> avx512_sums(std::int64_t steps) { return vector_sums(kB512, 16, 1, steps); }
std::vector<double> bf16_sums(std::int64_t steps) { return vector_sums(kB512, 16, 2, steps); }

/// Whether the processor has the matrix units and the system lets this process use their state.
bool may_use_amx() {
  unsigned a = 0, b = 0, c = 0, d = 0;
  if (__get_cpuid_count(7, 0, &a, &b, &c, &d) == 0) return false;
  constexpr unsigned kBf16 = 1U << 22, kTiles = 1U << 24;
  if ((d & kBf16) == 0 || (d & kTiles) == 0) return false;
  constexpr long kRequestState = 0x1023,
                 kTileData = 18;  // Linux: arch/x86/include/uapi/asm/prctl.h
  return syscall(SYS_arch_prctl, kRequestState, kTileData) == 0;
}

constexpr RegisterLoop kAmx = {"AMX", std::int64_t{4} * 2 * kTile* kTile* kDepth,
                               std::int64_t{kSide} * kSide, run_amx, amx_sums};
constexpr RegisterLoop kAvx512Bf16 = {"AVX-512 BF16", std::int64_t{kA} * kB512 * 64,
                                      std::int64_t{kA} * kB512 * 16, run_avx512_bf16, bf16_sums};
constexpr RegisterLoop kAvx512 = {"AVX-512 FMA", std::int64_t{kA} * kB512 * 32,
                                  std::int64_t{kA} * kB512 * 16, run_avx512, avx512_sums};
constexpr RegisterLoop kAvx2 = {"AVX2 FMA", std::int64_t{kA} * kB256 * 16,
                                std::int64_t{kA} * kB256 * 8, run_avx2, avx2_sums};

}  // namespace

const RegisterLoop* register_loop(std::string_view dtype, bool vector_only) {
  if (dtype == "bf16") {
    static const bool amx = may_use_amx();
    if (amx && !vector_only) return &kAmx;
    return __builtin_cpu_supports("avx512bf16") ? &kAvx512Bf16 : nullptr;
  }
  if (dtype != "fp32") return nullptr;
  if (__builtin_cpu_supports("avx512f")) return &kAvx512;
  return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") ? &kAvx2 : nullptr;
}

#else

const RegisterLoop* register_loop(std::string_view, bool) { return nullptr; }

#endif

}  // namespace sonde::host
