#pragma once

#include <compare>
#include <cstdint>
#include <string>

namespace sonde {

/// A double with a dimension. Values are in the base unit named by the tag (seconds, bytes a
/// second, hertz, ...): a prefix exists only in a column name or an axis label.
template <class Tag>
class Quantity {
 public:
  constexpr Quantity() = default;
  constexpr explicit Quantity(double value) : value_(value) {}
  constexpr double value() const { return value_; }
  friend constexpr Quantity operator+(Quantity a, Quantity b) {
    return Quantity(a.value_ + b.value_);
  }
  friend constexpr Quantity operator-(Quantity a, Quantity b) {
    return Quantity(a.value_ - b.value_);
  }
  friend constexpr Quantity operator*(Quantity a, double k) { return Quantity(a.value_ * k); }
  friend constexpr Quantity operator*(double k, Quantity a) { return a * k; }
  friend constexpr Quantity operator/(Quantity a, double k) { return Quantity(a.value_ / k); }
  friend constexpr double operator/(Quantity a, Quantity b) { return a.value_ / b.value_; }
  friend constexpr auto operator<=>(Quantity a, Quantity b) = default;

 private:
  double value_ = 0;
};

using Seconds = Quantity<struct SecondsTag>;
using BytesPerSecond = Quantity<struct BytesPerSecondTag>;
using Hertz = Quantity<struct HertzTag>;
using Watts = Quantity<struct WattsTag>;
using Celsius = Quantity<struct CelsiusTag>;

/// A count of bytes, 64 bits: products of sizes are formed in this type, never in int.
class Bytes {
 public:
  constexpr Bytes() = default;
  constexpr explicit Bytes(std::int64_t count) : count_(count) {}
  constexpr std::int64_t count() const { return count_; }
  friend constexpr auto operator<=>(Bytes a, Bytes b) = default;

 private:
  std::int64_t count_ = 0;
};

constexpr BytesPerSecond operator/(Bytes bytes, Seconds time) {
  return BytesPerSecond(static_cast<double>(bytes.count()) / time.value());
}

constexpr double nanoseconds(Seconds t) { return t.value() * 1e9; }
constexpr double megahertz(Hertz f) { return f.value() * 1e-6; }

inline constexpr std::int64_t kKiB = std::int64_t{1} << 10;
inline constexpr std::int64_t kMiB = std::int64_t{1} << 20;
inline constexpr std::int64_t kGiB = std::int64_t{1} << 30;

/// "16 KiB", "1.5 MiB", "400,000 B": binary prefix when the count is a short multiple of it, else
/// plain bytes with thousands separators, so that the text is always exact.
std::string format_size(Bytes size);

}  // namespace sonde
