#include "harness/progress.h"

#include <unistd.h>

#include <cstdio>

#include "core/text.h"

namespace sonde {

using Clock = std::chrono::steady_clock;

Progress::Progress(std::string title, bool enabled)
    : title_(std::move(title)),
      enabled_(enabled),
      terminal_(::isatty(STDERR_FILENO) == 1),
      start_(Clock::now()),
      last_(terminal_ ? start_ - std::chrono::hours(1) : start_) {}

Progress::~Progress() {
  if (drawn_) std::fputs("\r\033[K", stderr);
}

void Progress::update(std::int64_t done, std::int64_t points, double share,
                      const std::string& current) {
  if (!enabled_) return;
  const auto now = Clock::now();
  // A log gets a line now and then, a terminal a line that changes.
  if (now - last_ < (terminal_ ? std::chrono::milliseconds(100) : std::chrono::seconds(10))) return;
  last_ = now;
  const double spent = std::chrono::duration<double>(now - start_).count();
  char left[32] = "";
  if (share > 0.02) {
    std::snprintf(left, sizeof left, ", at most %.0f s left", spent * (1 - share) / share);
  }
  std::fprintf(stderr, "%s%s: %lld of %lld points done, now %s%s%s", terminal_ ? "\r\033[K" : "",
               title_.c_str(), static_cast<long long>(done), static_cast<long long>(points),
               shown_text(current, 60).c_str(), left, terminal_ ? "" : "\n");
  std::fflush(stderr);
  drawn_ = terminal_;
}

void Progress::finish(const std::string& summary) {
  if (drawn_) std::fputs("\r\033[K", stderr);
  drawn_ = false;
  if (!enabled_) return;
  const double spent = std::chrono::duration<double>(Clock::now() - start_).count();
  std::fprintf(stderr, "%s: %s in %.1f s\n", title_.c_str(), summary.c_str(), spent);
}

}  // namespace sonde
