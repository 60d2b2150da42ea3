#include "core/terminal.h"

#include <unistd.h>

#include <cstdlib>
#include <string_view>

namespace sonde {

bool shows_colour(int fd) {
  const char* refused = std::getenv("NO_COLOR");
  if (refused != nullptr && *refused != '\0') return false;
  const char* term = std::getenv("TERM");
  return term != nullptr && std::string_view(term) != "dumb" && ::isatty(fd) == 1;
}

std::string paint(const std::string& text, Colour colour, bool on) {
  if (!on) return text;
  const char* code = colour == Colour::red ? "31" : colour == Colour::green ? "32" : "33";
  return std::string("\033[") + code + "m" + text + "\033[0m";
}

}  // namespace sonde
