#pragma once

#include <stdexcept>
#include <string>

#include "core/files.h"
#include "device/sim/chip.h"

namespace sonde::sim {

inline const std::string kChipFile = "950pr_9579.toml";

inline std::string chip_text() { return read_file(data_directory() / "chips" / kChipFile); }

/// `text` with the first `from` replaced; a test that replaces nothing tests nothing.
inline std::string with(std::string text, const std::string& from, const std::string& to) {
  const std::size_t at = text.find(from);
  if (at == std::string::npos) throw std::logic_error("chip file has no \"" + from + "\"");
  return text.replace(at, from.size(), to);
}

inline Chip shipped_chip() { return parse_chip(chip_text(), kChipFile); }

}  // namespace sonde::sim
