#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace sonde {

/// Bits of a BF16 number, and back. Rounds to nearest, ties to even.
std::uint16_t to_bf16(float value);
float from_bf16(std::uint16_t bits);
/// Bits of an FP8 number with 4 exponent and 3 mantissa bits (E4M3 of OCP's 8-bit floating point
/// specification), and back; |value| <= 448. Rounds to nearest, ties to even.
std::uint8_t to_fp8(float value);
float from_fp8(std::uint8_t bits);

/// The two factors of C[M,N] = A[M,K] x B[K,N].
enum class GemmOperand : std::uint64_t { a = 1, b = 2 };

/// Element of a factor: a pure function of its arguments, so that each device fills its own
/// memory and the reference needs none. Uniform over the odd multiples of 1/256 in (-1, 1): mean
/// 0, never 0, exact in BF16, and products and usual sums are exact in FP32.
/// FP8 operands are these values rounded.
inline constexpr const char* kGemmFill = "seeded, uniform over odd multiples of 1/256 in (-1, 1)";
float gemm_value(std::uint64_t seed, GemmOperand operand, std::int64_t row, std::int64_t col);

/// The 256 values of which all are made, by the byte of the hash that chooses one; and the state of
/// the hash before the row is mixed in. For devices that fill their own memory.
float gemm_value_of(std::uint8_t byte);
std::uint64_t gemm_key(std::uint64_t seed, GemmOperand operand);

/// Columns 0, 1, ... of one row of a factor, as BF16 bits or as floats; about 2 GB/s a core.
void fill_gemm_row(std::uint64_t seed, GemmOperand operand, std::int64_t row,
                   std::span<std::uint16_t> out);
void fill_gemm_row(std::uint64_t seed, GemmOperand operand, std::int64_t row, std::span<float> out);

/// A block of C computed in double: up to 16 rows and 16 columns, first and last always among
/// them, the rest random.
class GemmReference {
 public:
  /// `dtype`: of the operands, one of kGemmTypes; the type of the result follows from it.
  GemmReference(std::int64_t m, std::int64_t n, std::int64_t k, std::uint64_t seed,
                std::string_view dtype = "bf16");

  const std::vector<std::int64_t>& rows() const { return rows_; }
  const std::vector<std::int64_t>& cols() const { return cols_; }
  double at(std::size_t row_index, std::size_t col_index) const;

  /// Largest difference from `expected` that FP32 accumulation and the type of the result explain.
  double tolerance(double expected) const;

  /// Says what is wrong with the first sampled element that is; `element` gives C[row, col].
  std::optional<std::string> first_wrong(
      const std::function<double(std::int64_t row, std::int64_t col)>& element) const;

 private:
  std::int64_t k_;
  double rounding_;  ///< of the result, relative
  double summing_;   ///< share of K
  std::vector<std::int64_t> rows_;
  std::vector<std::int64_t> cols_;
  std::vector<double> values_;  ///< row by row
};

}  // namespace sonde
