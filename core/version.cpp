#include "core/version.h"

#include <ctime>

#include "revision.h"

namespace sonde {

std::string version() { return SONDE_VERSION; }
std::string revision() { return SONDE_REVISION; }
std::string build_preset() { return SONDE_PRESET; }

std::string utc_now() {
  const std::time_t now = std::time(nullptr);
  std::tm parts{};
  ::gmtime_r(&now, &parts);
  char text[32];
  std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &parts);
  return text;
}

}  // namespace sonde
