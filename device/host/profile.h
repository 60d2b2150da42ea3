#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "device/device.h"
#include "device/host/buffer.h"
#include "device/host/cores.h"
#include "device/host/machine.h"

namespace sonde::host {

/// Load latency of one core at each of the sampled lines of one buffer. All cores are asked for
/// the same memory, so an address has the same home for each. Before every pass the core's private
/// caches are emptied by reading other memory; each load is timed alone, the clock's own reading
/// subtracted, and the mean of the middle half of the passes counts.
class ProfileEngine final : public Engine<ProfileWork> {
 public:
  /// `description` is of `machine`; both outlive the engine.
  ProfileEngine(const Machine& machine, const DeviceDescription& description)
      : machine_(machine), description_(description) {}

  void prepare(const ProfileWork& work) override;
  Sample run(const Trial& trial) override;
  Check verify() override;

  /// What is walked, for a test that plants a fault.
  std::span<std::byte> memory() const { return memory_.first(filled_bytes_); }

 private:
  void empty_private_caches() const;
  void pass(std::vector<std::uint32_t>& times);

  const Machine& machine_;
  const DeviceDescription& description_;
  ProfileWork work_;
  Seat seat_;
  Buffer memory_;
  std::int64_t filled_bytes_ = 0;
  std::uint64_t filled_seed_ = 0;
  Buffer evictor_;
  std::vector<std::int64_t> offsets_;
  std::vector<std::uint64_t> sums_;  ///< of the values loaded at each address since prepare()
  std::uint64_t passes_ = 0;
  bool prepared_ = false;
};

}  // namespace sonde::host
