#pragma once

#include <memory>
#include <vector>

#include "device/host/cores.h"
#include "device/host/pin.h"

namespace sonde::host {

/// Pins the OpenMP threads that work for the calling thread, itself the first of them, one to each
/// CPU while it lives. A library that uses OpenMP then runs on these.
class OpenMpTeam {
 public:
  /// Throws PointFailure when a thread cannot be had or pinned.
  explicit OpenMpTeam(const std::vector<int>& cpus);
  ~OpenMpTeam();
  OpenMpTeam(const OpenMpTeam&) = delete;
  OpenMpTeam& operator=(const OpenMpTeam&) = delete;

  /// Where each thread was when it was pinned and where it is now, with its core's clock.
  std::vector<Seat> seats();

 private:
  std::vector<Seat> seats_;
  std::vector<std::unique_ptr<PinnedThread>> pins_;
};

}  // namespace sonde::host
