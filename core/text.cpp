#include "core/text.h"

#include <limits>

#include "core/parse.h"

namespace sonde {
namespace {

unsigned byte_at(std::string_view text, std::size_t i) {
  return static_cast<unsigned char>(text[i]);
}

/// Value of the valid sequence at `i`.
char32_t character(std::string_view text, std::size_t i, std::size_t length) {
  if (length == 1) return byte_at(text, i);
  char32_t value = byte_at(text, i) & (0x7fU >> length);
  for (std::size_t k = 1; k < length; ++k) value = value << 6 | (byte_at(text, i + k) & 0x3fU);
  return value;
}

bool is_control(char32_t c) {
  return c < 0x20 || (c >= 0x7f && c < 0xa0) || c == 0x2028 || c == 0x2029;  // C0, C1, line breaks
}

/// Embeddings, overrides, isolates and marks of direction (Unicode Standard Annex 9, table 1).
bool turns_direction(char32_t c) {
  return (c >= 0x202a && c <= 0x202e) || (c >= 0x2066 && c <= 0x2069) || c == 0x200e ||
         c == 0x200f || c == 0x061c;
}

}  // namespace

std::size_t utf8_length(std::string_view text, std::size_t i) {
  const unsigned byte = byte_at(text, i);
  const std::size_t length = byte < 0x80         ? 1
                             : (byte >> 5) == 6  ? 2
                             : (byte >> 4) == 14 ? 3
                             : (byte >> 3) == 30 ? 4
                                                 : 0;
  if (length == 0 || i + length > text.size()) return 0;
  for (std::size_t k = 1; k < length; ++k) {
    if ((byte_at(text, i + k) >> 6) != 2) return 0;
  }
  constexpr char32_t kLeast[] = {0, 0, 0x80, 0x800, 0x10000};
  const char32_t c = character(text, i, length);
  const bool surrogate = c >= 0xd800 && c < 0xe000;
  return c < kLeast[length] || c > 0x10ffff || surrogate ? 0 : length;
}

std::string shown_text(std::string_view text) {
  return shown_text(text, std::numeric_limits<std::size_t>::max());
}

std::string shown_text(std::string_view text, std::size_t most) {
  std::string out;
  std::size_t count = 0;
  for (std::size_t i = 0; i < text.size(); ++count) {
    if (count == most) return out + "\u2026";
    const std::size_t length = utf8_length(text, i);
    if (length == 0) {
      out += '?';
      ++i;
      continue;
    }
    const char32_t c = character(text, i, length);
    if (is_control(c)) {
      out += ' ';
    } else if (turns_direction(c)) {
      out += '?';
    } else {
      out += text.substr(i, length);
    }
    i += length;
  }
  return out;
}

}  // namespace sonde
