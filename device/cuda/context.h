#pragma once

#include <cuda_runtime_api.h>

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "core/core_name.h"
#include "core/units.h"
#include "device/cuda/buffers.h"
#include "device/cuda/kernels.h"

namespace sonde::cuda {

/// Kernels whose blocks are seated on named SMs.
enum class Seated { chase, profile, duel };

/// Number of a core of this card. Throws Skip naming a core that it does not have.
int sm_of(const CoreName& core, int sms);
CoreName core_of(int sm);

/// One stream of one card, its events, and what places blocks on SMs. Everything an engine holds
/// belongs to the context it was made in.
class Context {
 public:
  Context(int ordinal, int sms, int shared_bytes);
  ~Context();
  Context(const Context&) = delete;
  Context& operator=(const Context&) = delete;

  cudaStream_t stream() const { return stream_; }
  int sms() const { return sms_; }
  /// Shared memory of which one block leaves no room for a second on the same SM.
  int shared_bytes() const { return shared_bytes_; }

  /// Device time of what `enqueue` puts into the stream, by events. The device waits until all of
  /// it is queued, so that the host's time to queue it stays outside; `before` is queued between
  /// that wait and the timed work, `meanwhile` runs on the host while the device works.
  Seconds time(const std::function<void()>& enqueue, const std::function<void()>& before = nullptr,
               const std::function<void()>& meanwhile = nullptr);
  /// The same without waiting: for calls that return only when the work is done.
  Seconds time_ungated(const std::function<void()>& enqueue);
  void synchronize(const char* what);

  /// Throws Skip for a core that is not there or is named twice.
  void refuse_impossible(const std::vector<CoreName>& cores) const;
  /// Places for one launch, which must follow: cores[i] gets role i. `blocks` is the grid that goes
  /// with it. Throws as refuse_impossible() does.
  Seats seat(const std::vector<CoreName>& cores, Seated kernel, int* blocks);
  Seats seat(const std::vector<CoreName>& cores, int blocks_an_sm, int* blocks);
  unsigned next_launch() { return ++launch_; }

 private:
  Seconds elapsed(const char* what);

  int sms_;
  int shared_bytes_;
  cudaStream_t stream_ = nullptr;
  cudaEvent_t begin_ = nullptr;
  cudaEvent_t end_ = nullptr;
  PinnedBuffer gate_;        ///< the flag, and where the gate says that it gave up
  DeviceBuffer seat_state_;  ///< arrivals, then one word an SM
  std::map<Seated, int> blocks_an_sm_;
  unsigned long long arrivals_ = 0;
  unsigned launch_ = 0;
  unsigned epoch_ = 0;
};

}  // namespace sonde::cuda
