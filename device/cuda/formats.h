#pragma once

#include <array>
#include <cstdint>
#include <string>

namespace sonde::cuda {

/// How operands and results of a product are stored.
struct GemmFormat {
  const char* dtype;
  std::int64_t operand_bytes;
  std::uint16_t not_finite;  ///< all of these bits set: not a number, or infinite
};
/// Null for a type without a format here.
const GemmFormat* gemm_format(const std::string& dtype);

/// Stored bits of the 256 values that operands are made of.
std::array<std::uint16_t, 256> operand_bits(const GemmFormat& format);

/// Value of a stored element of the result: FP16 of FP16 operands, else BF16.
double result_value(const GemmFormat& format, std::uint16_t bits);

/// FP16 of a value that it holds exactly and that is zero or normal there; and back.
std::uint16_t to_fp16(float value);
double from_fp16(std::uint16_t bits);

}  // namespace sonde::cuda
