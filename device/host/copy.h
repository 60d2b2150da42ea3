#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "device/device.h"
#include "device/host/buffer.h"
#include "device/host/cores.h"
#include "device/host/machine.h"
#include "device/host/operand_sets.h"

namespace sonde::host {

using CopyFunction = void* (*)(void*, const void*, std::size_t);

/// The C library's memcpy between two buffers, called as any program calls it, on the first core
/// this process may use. The elapsed time is that of one copy; copies that are short against the
/// clock are repeated inside the window, and the overhead cancelled by difference.
class CopyEngine final : public Engine<CopyWork> {
 public:
  /// `description` is of `machine`; both outlive the engine. A test may plant a faulty `copy`.
  CopyEngine(const Machine& machine, const DeviceDescription& description,
             CopyFunction copy = nullptr);

  void prepare(const CopyWork& work) override;
  Sample run(const Trial& trial) override;
  Check verify() override;

 private:
  /// Where the copies lie: slot i of each buffer begins at its offset plus i strides.
  struct Layout {
    std::int64_t bytes = 0;
    std::int64_t stride = 0;
    std::int64_t slots = 1;
    std::int64_t source_offset = 0;
    std::int64_t target_offset = 0;
    std::uint64_t seed = 0;
    std::int64_t span() const { return slots * stride; }
  };
  struct Buffers {
    Buffer source;
    Buffer target;
  };
  Layout layout_for(const CopyWork& work);
  void allocate(const CopyWork& work, const Layout& layout);
  void fill(const Layout& layout);
  std::byte* source_slot(std::int64_t slot) const;
  std::byte* target_slot(std::int64_t slot) const;
  std::int64_t copies_ns(std::int64_t count);

  const Machine& machine_;
  const DeviceDescription& description_;
  /// Volatile: a compiler that sees memcpy puts its own code in its place.
  CopyFunction volatile copy_;
  CopyWork work_;
  Layout layout_;
  Buffers small_;  ///< made anew for each small copy
  Buffers large_;  ///< kept while it is large enough
  Buffers* used_ = &small_;
  bool prepared_ = false;
  std::optional<Layout> filled_;  ///< what the large source holds
  std::uint64_t prepares_ = 0;
  Rotation rotation_;        ///< over the slots
  std::int64_t copies_ = 0;  ///< since prepare()
  Seat seat_;
};

}  // namespace sonde::host
