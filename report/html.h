#pragma once

#include <string>
#include <string_view>

namespace sonde {

/// Text for an element or a quoted attribute: the one way that data reaches the page. Control
/// characters become spaces, broken UTF-8 a question mark.
std::string html_text(std::string_view text);

/// Base 64 of RFC 4648, for a picture inside the page.
std::string base64(std::string_view bytes);

}  // namespace sonde
