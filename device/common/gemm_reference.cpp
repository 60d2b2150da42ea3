#include "device/common/gemm_reference.h"

#include <Eigen/Dense>
#include <algorithm>
#include <array>
#include <bit>
#include <cmath>

#include "core/parse.h"
#include "core/rng.h"

namespace sonde {
namespace {

/// Elements one 64-bit hash gives: a byte each.
constexpr std::int64_t kGroup = 8;
/// Rows and columns of the sampled block: 256 elements see a wrong tile of a sixteenth of C with
/// near certainty, and cost K x 32 hashes.
constexpr std::size_t kBlock = 16;

constexpr std::uint64_t row_key(std::uint64_t seed, GemmOperand operand, std::int64_t row) {
  return key_of({seed, static_cast<std::uint64_t>(operand), static_cast<std::uint64_t>(row)});
}

/// Random bits of the elements `group` x 8 to `group` x 8 + 7 of a row.
constexpr std::uint64_t group_bits(std::uint64_t key, std::int64_t group) {
  return mix64(key + static_cast<std::uint64_t>(group) * 0x9e3779b97f4a7c15ULL);
}

constexpr float value_of(std::uint64_t byte) {
  return (2.0F * static_cast<float>(byte) - 255.0F) / 256.0F;
}

template <class Element>
using Table = std::array<Element, 256>;

template <class Element>
void fill_row(std::uint64_t key, const Table<Element>& table, std::span<Element> out) {
  const auto count = static_cast<std::int64_t>(out.size());
  for (std::int64_t first = 0; first < count; first += kGroup) {
    std::uint64_t bits = group_bits(key, first / kGroup);
    const std::int64_t end = std::min(count, first + kGroup);
    for (std::int64_t i = first; i < end; ++i, bits >>= 8) {
      out[static_cast<std::size_t>(i)] = table[bits & 0xff];
    }
  }
}

/// Half a step of the result's type, and as much again for a neighbour that the sum's own error
/// tips over: 8 bits of precision in BF16, 11 in FP16, 24 in FP32.
double rounding_of(std::string_view dtype) {
  if (dtype == "fp32") return 0x1.0p-23;
  return dtype == "fp16" ? 0x1.0p-10 : 0x1.0p-7;
}

/// Share of K that summing may be off by; see tolerance(). Matrix units that sum FP8 products keep
/// about 14 bits of a partial sum (DeepSeek-V3 Technical Report, section 3.3.2) and cut the rest:
/// 2^-13 of sqrt(K)/3 at each of K/32 steps.
double summing_of(std::string_view dtype) { return dtype == "fp8" ? 0x1.0p-15 : 0x1.0p-22; }

/// Up to kBlock of 0 ... size - 1, sorted: the ends and random ones between.
std::vector<std::int64_t> sample_indices(std::int64_t size, Rng& rng) {
  std::vector<std::int64_t> picked{0};
  if (size > 1) picked.push_back(size - 1);
  while (picked.size() < kBlock && static_cast<std::int64_t>(picked.size()) < size) {
    const auto next = static_cast<std::int64_t>(rng.below(static_cast<std::uint64_t>(size)));
    if (std::find(picked.begin(), picked.end(), next) == picked.end()) picked.push_back(next);
  }
  std::sort(picked.begin(), picked.end());
  return picked;
}

}  // namespace

std::uint16_t to_bf16(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  // Rounding up could turn a NaN into an infinity: keep it one.
  if (std::isnan(value)) return static_cast<std::uint16_t>((bits >> 16) | 0x40U);
  return static_cast<std::uint16_t>((bits + 0x7fffU + ((bits >> 16) & 1U)) >> 16);
}

float from_bf16(std::uint16_t bits) {
  return std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16);
}

std::uint8_t to_fp8(float value) {
  const float size = std::abs(value);
  constexpr float kLeastNormal = 0x1.0p-6F;
  int bits = 0;
  if (size < kLeastNormal) {
    bits = static_cast<int>(std::nearbyint(size * 0x1.0p9F));  // 8 is the least normal number
  } else {
    const int exponent = std::ilogb(size);
    bits = ((exponent + 7) << 3) +
           static_cast<int>(std::nearbyint(std::ldexp(size, 3 - exponent))) -
           8;  // 16 carries into the exponent
  }
  return static_cast<std::uint8_t>(bits | (std::signbit(value) ? 0x80 : 0));
}

float from_fp8(std::uint8_t bits) {
  const int exponent = (bits >> 3) & 15;
  const int mantissa = bits & 7;
  const float size = exponent == 0 ? std::ldexp(static_cast<float>(mantissa), -9)
                                   : std::ldexp(static_cast<float>(8 + mantissa), exponent - 10);
  return (bits & 0x80) != 0 ? -size : size;
}

float gemm_value_of(std::uint8_t byte) { return value_of(byte); }

std::uint64_t gemm_key(std::uint64_t seed, GemmOperand operand) {
  return key_of({seed, static_cast<std::uint64_t>(operand)});
}

float gemm_value(std::uint64_t seed, GemmOperand operand, std::int64_t row, std::int64_t col) {
  const std::uint64_t bits = group_bits(row_key(seed, operand, row), col / kGroup);
  return value_of((bits >> (8 * (col % kGroup))) & 0xff);
}

void fill_gemm_row(std::uint64_t seed, GemmOperand operand, std::int64_t row,
                   std::span<std::uint16_t> out) {
  static const Table<std::uint16_t> table = [] {
    Table<std::uint16_t> bits{};
    for (std::size_t byte = 0; byte < bits.size(); ++byte) bits[byte] = to_bf16(value_of(byte));
    return bits;
  }();
  fill_row(row_key(seed, operand, row), table, out);
}

void fill_gemm_row(std::uint64_t seed, GemmOperand operand, std::int64_t row,
                   std::span<float> out) {
  static const Table<float> table = [] {
    Table<float> values{};
    for (std::size_t byte = 0; byte < values.size(); ++byte) values[byte] = value_of(byte);
    return values;
  }();
  fill_row(row_key(seed, operand, row), table, out);
}

GemmReference::GemmReference(std::int64_t m, std::int64_t n, std::int64_t k, std::uint64_t seed,
                             std::string_view dtype)
    : k_(k), rounding_(rounding_of(dtype)), summing_(summing_of(dtype)) {
  Rng rng(key_of({seed, static_cast<std::uint64_t>(m), static_cast<std::uint64_t>(n),
                  static_cast<std::uint64_t>(k)}));
  rows_ = sample_indices(m, rng);
  cols_ = sample_indices(n, rng);
  const auto height = static_cast<Eigen::Index>(rows_.size());
  const auto width = static_cast<Eigen::Index>(cols_.size());
  const bool rounded = dtype == "fp8";
  const auto value = [&](GemmOperand operand, std::int64_t row, std::int64_t col) {
    const float exact = gemm_value(seed, operand, row, col);
    return static_cast<double>(rounded ? from_fp8(to_fp8(exact)) : exact);
  };
  // In parts of K: the sampled rows and columns of a long thin product would fill a memory.
  constexpr std::int64_t kPart = 1 << 16;
  Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor> c =
      Eigen::MatrixXd::Zero(height, width);
  for (std::int64_t from = 0; from < k; from += kPart) {
    const std::int64_t count = std::min(kPart, k - from);
    Eigen::MatrixXd a(height, count);
    Eigen::MatrixXd b(count, width);
    for (Eigen::Index inner = 0; inner < count; ++inner) {
      for (Eigen::Index i = 0; i < height; ++i) {
        a(i, inner) = value(GemmOperand::a, rows_[static_cast<std::size_t>(i)], from + inner);
      }
      for (Eigen::Index j = 0; j < width; ++j) {
        b(inner, j) = value(GemmOperand::b, from + inner, cols_[static_cast<std::size_t>(j)]);
      }
    }
    c += a * b;
  }
  values_.assign(c.data(), c.data() + c.size());
}

double GemmReference::at(std::size_t row_index, std::size_t col_index) const {
  return values_[row_index * cols_.size() + col_index];
}

double GemmReference::tolerance(double expected) const {
  // The result is rounded to its type. The sum: partial sums of random operands are about
  // sqrt(K)/3, each FP32 step rounds by at most 2^-24 of one, and K such errors of random sign add
  // up to sqrt(K) of them: K / 3 x 2^-24 together; 12 times that leaves room for any order of
  // summing. Against C's own size of sqrt(K)/3 it grows as sqrt(K) and stays below 1e-3 up to K =
  // 10^6.
  return rounding_ * std::abs(expected) + summing_ * static_cast<double>(k_);
}

std::optional<std::string> GemmReference::first_wrong(
    const std::function<double(std::int64_t, std::int64_t)>& element) const {
  for (std::size_t i = 0; i < rows_.size(); ++i) {
    for (std::size_t j = 0; j < cols_.size(); ++j) {
      const double expected = at(i, j);
      const double found = element(rows_[i], cols_[j]);
      // Not ">": a NaN is wrong too.
      if (std::abs(found - expected) <= tolerance(expected)) continue;
      return "C[" + std::to_string(rows_[i]) + ", " + std::to_string(cols_[j]) + "] is " +
             (std::isfinite(found) ? format_number(found) : "not finite") + ", expected " +
             format_number(expected) + " within " + format_number(tolerance(expected));
    }
  }
  return std::nullopt;
}

}  // namespace sonde
