#include <libdeflate.h>

#include <algorithm>

#include "core/schema.h"

namespace sonde {

std::uint32_t extend_crc32(std::uint32_t crc, std::string_view more) {
  return libdeflate_crc32(crc, more.data(), more.size());
}

std::string hex_digits(std::uint32_t value) {
  std::string digits(8, '0');
  for (std::size_t i = 0; i < 8; ++i) digits[i] = "0123456789abcdef"[value >> (28 - 4 * i) & 0xf];
  return digits;
}

std::string checksum(std::string_view text) { return hex_digits(extend_crc32(0, text)); }

RowCheck::RowCheck(std::vector<std::string> names) : names_(std::move(names)) {
  order_.resize(names_.size());
  for (std::size_t i = 0; i < order_.size(); ++i) order_[i] = i;
  std::sort(order_.begin(), order_.end(),
            [this](std::size_t a, std::size_t b) { return names_[a] < names_[b]; });
}

std::string RowCheck::of(const std::vector<const std::string*>& cells) {
  lines_.clear();
  for (std::size_t i : order_) {
    if (cells[i] == nullptr || cells[i]->empty()) continue;
    lines_ += names_[i];
    lines_ += '=';
    lines_ += *cells[i];
    lines_ += '\n';
  }
  return checksum(lines_);
}

std::string RowCheck::of(const std::vector<std::string>& cells) {
  std::vector<const std::string*> pointers;
  pointers.reserve(cells.size());
  for (const std::string& cell : cells) pointers.push_back(&cell);
  return of(pointers);
}

}  // namespace sonde
