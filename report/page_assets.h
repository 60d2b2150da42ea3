#pragma once

#include <string_view>

namespace sonde {

/// Style and script of the page, report/page/* joined by page/embed.cmake, and the SHA-256 of each
/// in hexadecimal digits: the page allows these two texts to act and nothing else.
extern const std::string_view kPageStyle;
extern const std::string_view kPageScript;
extern const std::string_view kPageStyleHash;
extern const std::string_view kPageScriptHash;

}  // namespace sonde
