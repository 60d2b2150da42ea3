#pragma once

#include <string>

namespace sonde {

/// Whether a descriptor shows colours: a terminal that is not dumb, and NO_COLOR is not set
/// (https://no-color.org).
bool shows_colour(int fd);

enum class Colour { red, green, yellow };
/// The text in a colour where `on`, else as it is.
std::string paint(const std::string& text, Colour colour, bool on);

}  // namespace sonde
