#include "device/cuda/formats.h"

#include <cmath>
#include <limits>

#include "device/common/gemm_reference.h"

namespace sonde::cuda {
namespace {

constexpr GemmFormat kFormats[] = {{"bf16", 2, 0x7f80}, {"fp16", 2, 0x7c00}, {"fp8", 1, 0x007f}};

bool is(const GemmFormat& format, const char* dtype) { return std::string(format.dtype) == dtype; }

}  // namespace

const GemmFormat* gemm_format(const std::string& dtype) {
  for (const GemmFormat& format : kFormats) {
    if (dtype == format.dtype) return &format;
  }
  return nullptr;
}

std::array<std::uint16_t, 256> operand_bits(const GemmFormat& format) {
  std::array<std::uint16_t, 256> bits{};
  for (std::size_t byte = 0; byte < bits.size(); ++byte) {
    const float value = gemm_value_of(static_cast<std::uint8_t>(byte));
    bits[byte] = is(format, "fp8")    ? to_fp8(value)
                 : is(format, "fp16") ? to_fp16(value)
                                      : to_bf16(value);
  }
  return bits;
}

double result_value(const GemmFormat& format, std::uint16_t bits) {
  return is(format, "fp16") ? from_fp16(bits) : static_cast<double>(from_bf16(bits));
}

std::uint16_t to_fp16(float value) {
  if (value == 0) return 0;
  const float size = std::abs(value);
  const int exponent = std::ilogb(size);
  const int mantissa = static_cast<int>(std::ldexp(size, 10 - exponent)) - 1024;
  return static_cast<std::uint16_t>((std::signbit(value) ? 0x8000 : 0) | ((exponent + 15) << 10) |
                                    mantissa);
}

double from_fp16(std::uint16_t bits) {
  const int exponent = (bits >> 10) & 31;
  const int mantissa = bits & 1023;
  double size =
      exponent == 0 ? std::ldexp(mantissa, -24) : std::ldexp(1024 + mantissa, exponent - 25);
  if (exponent == 31) {
    size = mantissa == 0 ? std::numeric_limits<double>::infinity()
                         : std::numeric_limits<double>::quiet_NaN();
  }
  return (bits & 0x8000) != 0 ? -size : size;
}

}  // namespace sonde::cuda
