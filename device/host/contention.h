#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <limits>
#include <map>
#include <memory>
#include <vector>

#include "device/device.h"
#include "device/host/buffer.h"
#include "device/host/chain.h"
#include "device/host/cores.h"
#include "device/host/machine.h"

namespace sonde::host {

/// What aggressors can do on this processor, beside `none`.
std::vector<std::string> aggressor_works();

/// A pinned victim's pointer chase while other pinned cores work. The victim's window opens when
/// every aggressor is at work, and they go on until it has closed; each counts its operations (one
/// cache line, or one step of arithmetic) and notes when it began and ended.
class ContentionEngine final : public Engine<ContentionWork> {
 public:
  static constexpr std::int64_t kWithoutEnd = std::numeric_limits<std::int64_t>::max();
  /// `description` is of `machine`; both outlive the engine. A test may plant aggressors that stop
  /// of themselves after `stop_after` operations.
  ContentionEngine(const Machine& machine, const DeviceDescription& description,
                   std::int64_t stop_after = kWithoutEnd)
      : machine_(machine), description_(description), stop_after_(stop_after) {}

  void prepare(const ContentionWork& work) override;
  Sample run(const Trial& trial) override;
  Check verify() override;

 private:
  /// On lines of its own: the counter is written all the time.
  struct alignas(128) Aggressor {
    Seat seat;
    Buffer* buffer = nullptr;  ///< null where the work needs no memory
    std::int64_t begin_ns = 0;
    std::int64_t end_ns = 0;
    double per_ns = 0;        ///< operations, just before the victim's window opened
    std::int64_t before = 0;  ///< operations when it opened
    std::int64_t after = 0;   ///< and when it closed
    alignas(128) std::atomic<std::int64_t> operations{0};
  };
  void attack(Aggressor& aggressor);
  double chase();
  bool all_at_work();
  bool one_was_held_up() const;

  const Machine& machine_;
  const DeviceDescription& description_;
  std::int64_t loads_done_ = 0;  ///< in the last window
  const std::int64_t stop_after_;
  ContentionWork work_;
  Seat victim_;
  std::shared_ptr<const Chain> chain_;
  const std::byte* at_ = nullptr;
  std::int64_t position_ = 0;
  std::int64_t begin_ns_ = 0;  ///< the victim's window
  std::int64_t end_ns_ = 0;
  std::deque<Aggressor> aggressors_;  ///< none when they do nothing; a deque never moves them
  alignas(128) std::atomic<bool> stop_{false};
  ChainStore store_;
  std::map<int, Buffer> buffers_;  ///< private memory of each core, kept for later
};

}  // namespace sonde::host
