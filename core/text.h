#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace sonde {

/// Text from outside made fit for a line that people read: valid UTF-8 in which nothing moves a
/// cursor or turns round what stands beside it. A control character becomes a blank; a broken byte
/// and each mark that changes the direction of writing become a question mark. Letters of every
/// script stay as they are. What a format needs beside that (an entity, a doubled quote) is the
/// business of its writer.
std::string shown_text(std::string_view text);

/// The same of at most `most` characters, then an ellipsis: what a message quotes.
std::string shown_text(std::string_view text, std::size_t most);

}  // namespace sonde
