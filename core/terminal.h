#pragma once

#include <string>

namespace sonde {

/// Writes a message to standard error, a line of shown_text for each of its lines: whatever text it
/// quotes, a terminal only shows it. A line is cut after 2,000 characters.
void print_error(const std::string& message);

/// Whether a descriptor shows colours: a terminal that is not dumb, and NO_COLOR is not set
/// (https://no-color.org).
bool shows_colour(int fd);

enum class Colour { red, green, yellow };
/// The text in a colour where `on`, else as it is.
std::string paint(const std::string& text, Colour colour, bool on);

}  // namespace sonde
