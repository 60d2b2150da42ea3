#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "device/device.h"
#include "device/host/buffer.h"
#include "device/host/cores.h"
#include "device/host/machine.h"
#include "device/host/stream_kernels.h"

namespace sonde::host {

/// Kinds, stores and access widths of the processor this runs on.
StreamOffer stream_offer();

/// Streaming loops on pinned threads, from one barrier to the last finish. The arrays of a core
/// are touched and filled by it before; short work is repeated inside the window and its overhead
/// cancelled by difference.
class StreamEngine final : public Engine<StreamWork> {
 public:
  /// `description` is of `machine`; both outlive the engine. A test may plant faulty loops.
  StreamEngine(const Machine& machine, const DeviceDescription& description,
               const StreamKernels* planted = nullptr)
      : machine_(machine), description_(description), planted_(planted) {}

  void prepare(const StreamWork& work) override;
  Sample run(const Trial& trial) override;
  Check verify() override;

 private:
  /// Memory of one core, or of all where it is shared; kept for later.
  struct Arrays {
    Buffer target;
    Buffer source;
    Buffer second;
    std::optional<std::uint64_t> seed;  ///< what the sources are filled with
    std::int64_t filled_bytes = 0;
    std::int64_t held_bytes() const { return target.size() + source.size() + second.size(); }
  };
  struct Block {
    Seat seat;
    Arrays* memory = nullptr;
    StreamArrays arrays;
    std::uint64_t source_sum = 0;  ///< of all words
    std::uint64_t read_sum = 0;    ///< of all passes since prepare()
    std::uint64_t passes = 0;
  };
  const StreamKernels& kernels_for(const StreamWork& work) const;
  void allocate(const StreamWork& work, Arrays& memory) const;
  void fill(const StreamWork& work, Arrays& memory, std::uint64_t seed) const;
  std::optional<std::string> first_wrong(const Block& block) const;

  const Machine& machine_;
  const DeviceDescription& description_;
  const StreamKernels* planted_;
  StreamWork work_;
  StreamPass pass_ = nullptr;
  std::string instructions_;
  double written_ = 0;  ///< what `write` stores; another number at each prepare()
  std::vector<Block> blocks_;
  std::map<int, Arrays> memory_;  ///< by CPU; kShared is for all
};

}  // namespace sonde::host
