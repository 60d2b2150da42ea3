#include "core/terminal.h"

#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <string_view>

#include "core/text.h"

namespace sonde {

void print_error(const std::string& message) {
  constexpr std::size_t kMost = 2000;
  std::string_view rest = message;
  while (!rest.empty()) {
    const std::size_t end = rest.find('\n');
    std::fprintf(stderr, "%s\n", shown_text(rest.substr(0, end), kMost).c_str());
    rest = end == std::string_view::npos ? "" : rest.substr(end + 1);
  }
}

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
