#include "device/host/openmp_team.h"

#include <omp.h>

#include <exception>

#include "core/error.h"
#include "device/host/clock.h"

namespace sonde::host {

OpenMpTeam::OpenMpTeam(const std::vector<int>& cpus) : seats_(cpus.size()), pins_(cpus.size()) {
  const int wanted = static_cast<int>(cpus.size());
  omp_set_dynamic(0);
  omp_set_num_threads(wanted);
  int given = 0;
  std::vector<std::exception_ptr> failures(cpus.size());
#pragma omp parallel num_threads(wanted)
  {
    const auto me = static_cast<std::size_t>(omp_get_thread_num());
#pragma omp single
    given = omp_get_num_threads();
    try {
      pins_[me] = std::make_unique<PinnedThread>(cpus[me]);
      seats_[me] = Seat{cpus[me], current_cpu(), {}};
    } catch (...) {
      failures[me] = std::current_exception();
    }
  }
  for (const std::exception_ptr& failure : failures) {
    if (failure) std::rethrow_exception(failure);
  }
  if (given != wanted) {
    throw PointFailure("OpenMP gave " + std::to_string(given) + " threads for " +
                       std::to_string(wanted) + " cores");
  }
}

OpenMpTeam::~OpenMpTeam() {
  // Each thread must give back its own CPUs.
#pragma omp parallel num_threads(static_cast <int>(pins_.size()))
  pins_[static_cast<std::size_t>(omp_get_thread_num())].reset();
}

std::vector<Seat> OpenMpTeam::seats() {
#pragma omp parallel num_threads(static_cast <int>(pins_.size()))
  {
    Seat& seat = seats_[static_cast<std::size_t>(omp_get_thread_num())];
    seat.after = current_cpu();
    seat.clock = measure_core_clock();
  }
  return seats_;
}

}  // namespace sonde::host
