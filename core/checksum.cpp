#include <zlib.h>

#include <algorithm>
#include <cstdio>

#include "core/schema.h"

namespace sonde {

std::string checksum(std::string_view text) {
  const uLong crc =
      crc32_z(crc32(0L, Z_NULL, 0), reinterpret_cast<const Bytef*>(text.data()), text.size());
  char digits[9];
  std::snprintf(digits, sizeof digits, "%08lx", crc & 0xffffffffUL);
  return digits;
}

std::string row_check(std::vector<std::pair<std::string, std::string>> cells) {
  std::sort(cells.begin(), cells.end());
  std::string lines;
  for (const auto& [name, value] : cells) {
    if (!value.empty()) lines += name + "=" + value + "\n";
  }
  return checksum(lines);
}

}  // namespace sonde
