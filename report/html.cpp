#include "report/html.h"

#include <cstdint>

#include "core/text.h"

namespace sonde {

std::string html_text(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (const char c : shown_text(text)) {
    switch (c) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '"':
        out += "&quot;";
        break;
      case '\'':
        out += "&#39;";
        break;
      default:
        out += c;
    }
  }
  return out;
}

std::string base64(std::string_view bytes) {
  static constexpr char kDigits[] =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string out;
  out.reserve((bytes.size() + 2) / 3 * 4);
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    const std::size_t have = bytes.size() - i < 3 ? bytes.size() - i : 3;
    std::uint32_t word = 0;
    for (std::size_t k = 0; k < 3; ++k) {
      word = (word << 8) | (k < have ? static_cast<unsigned char>(bytes[i + k]) : 0U);
    }
    for (std::size_t k = 0; k < 4; ++k) {
      out += k <= have ? kDigits[(word >> (18 - 6 * k)) & 63] : '=';
    }
  }
  return out;
}

std::string relative_link(const std::filesystem::path& file, const std::filesystem::path& from) {
  static constexpr char kDigits[] = "0123456789ABCDEF";
  std::error_code error;
  const std::filesystem::path whole = std::filesystem::weakly_canonical(file, error);
  const std::filesystem::path base = std::filesystem::weakly_canonical(from, error);
  std::string out;
  for (const char c : whole.lexically_relative(base).generic_string()) {
    const auto byte = static_cast<unsigned char>(c);
    if ((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
        c == '.' || c == '_' || c == '~' || c == '/') {
      out += c;
    } else {
      out += '%';
      out += kDigits[byte >> 4];
      out += kDigits[byte & 15];
    }
  }
  return out;
}

std::string notice_html(const std::string& kind, const std::string& head,
                        const std::vector<std::string>& lines) {
  if (lines.empty()) return "";
  std::string out = "<div class=\"notice" + kind + "\" role=\"note\"><strong>" + html_text(head) +
                    "</strong><ul>\n";
  for (const std::string& line : lines) out += "<li>" + html_text(line) + "</li>\n";
  return out + "</ul></div>\n";
}

}  // namespace sonde
