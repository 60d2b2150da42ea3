#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "device/device.h"
#include "device/host/buffer.h"
#include "device/host/cores.h"
#include "device/host/machine.h"

namespace sonde::host {

/// Cache lines handed to and fro between two pinned threads that wait for each other in a tight
/// loop. `read`: each stores the turn's number to a line of its own and reads the other's until it
/// is there. `write`: both try to exchange the number on one line, so the line never moves but to
/// be written. The lines are chosen anew for each pair and address index, anywhere in a pool.
class HandoffEngine final : public Engine<HandoffWork> {
 public:
  static constexpr std::int64_t kGiveUpNs = 2'000'000'000;
  /// `description` is of `machine`; both outlive the engine. A wait for the other core longer than
  /// `give_up_ns` is a PointFailure. A test may plant that `to` does not answer a turn.
  HandoffEngine(const Machine& machine, const DeviceDescription& description,
                std::int64_t give_up_ns = kGiveUpNs, std::uint64_t unanswered = ~std::uint64_t{0})
      : machine_(machine),
        description_(description),
        give_up_ns_(give_up_ns),
        unanswered_(unanswered) {}

  void prepare(const HandoffWork& work) override;
  Sample run(const Trial& trial) override;
  Check verify() override;

  /// The word that `from` writes, or both do; for a test that plants a fault.
  std::uint64_t& word_of_from() const;
  std::uint64_t& word_of_to() const;

 private:
  /// One side of `count` round trips from `turn` on; false when the other side did not answer.
  bool from_side(std::uint64_t turn, std::uint64_t count) const;
  bool to_side(std::uint64_t turn, std::uint64_t count) const;
  template <class Ready>
  bool await(const Ready& ready) const;

  const Machine& machine_;
  const DeviceDescription& description_;
  const std::int64_t give_up_ns_;
  const std::uint64_t unanswered_;
  HandoffWork work_;
  Seat from_;
  Seat to_;
  Buffer pool_;
  std::int64_t slot_ = 0;
  std::uint64_t turn_ = 0;  ///< round trips done since prepare()
  mutable std::atomic<bool> failed_{false};
  bool prepared_ = false;
};

}  // namespace sonde::host
