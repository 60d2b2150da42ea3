#include <zlib.h>

#include <algorithm>
#include <cstdio>

#include "core/schema.h"

namespace sonde {

std::string row_check(std::vector<std::pair<std::string, std::string>> cells) {
  std::sort(cells.begin(), cells.end());
  uLong crc = crc32(0L, Z_NULL, 0);
  for (const auto& [name, value] : cells) {
    if (value.empty()) continue;
    const std::string line = name + "=" + value + "\n";
    crc = crc32(crc, reinterpret_cast<const Bytef*>(line.data()), static_cast<uInt>(line.size()));
  }
  char text[9];
  std::snprintf(text, sizeof text, "%08lx", crc & 0xffffffffUL);
  return text;
}

}  // namespace sonde
