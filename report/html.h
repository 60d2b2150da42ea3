#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace sonde {

/// Text for an element or a quoted attribute: the one way that data reaches the page. Control
/// characters become spaces, broken UTF-8 a question mark.
std::string html_text(std::string_view text);

/// Base 64 of RFC 4648, for a picture inside the page.
std::string base64(std::string_view bytes);

/// Address of `file` for a page inside the folder `from`: relative, so that both may be moved
/// together, every byte that is no plain letter percent-encoded.
std::string relative_link(const std::filesystem::path& file, const std::filesystem::path& from);

/// A list of remarks under a heading; `kind` is empty or " bad". Empty without lines.
std::string notice_html(const std::string& kind, const std::string& head,
                        const std::vector<std::string>& lines);

}  // namespace sonde
