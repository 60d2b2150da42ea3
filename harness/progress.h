#pragma once

#include <chrono>
#include <cstdint>
#include <string>

namespace sonde {

/// One line on standard error: points done, current point, time left. Redrawn in place on a
/// terminal; elsewhere a line every ten seconds, so that logs stay short.
class Progress {
 public:
  Progress(std::string title, bool enabled);
  ~Progress();
  /// `done` of `points` need no more samples; `share` (0 to 1) is the part of all expected samples
  /// taken.
  void update(std::int64_t done, std::int64_t points, double share, const std::string& current);
  void finish(const std::string& summary);

 private:
  std::string title_;
  bool enabled_;
  bool terminal_;
  bool drawn_ = false;
  std::chrono::steady_clock::time_point start_;
  std::chrono::steady_clock::time_point last_;
};

}  // namespace sonde
