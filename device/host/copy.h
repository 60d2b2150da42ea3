#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "device/device.h"
#include "device/host/buffer.h"
#include "device/host/copy_methods.h"
#include "device/host/cores.h"
#include "device/host/machine.h"
#include "device/host/operand_sets.h"

namespace sonde::host {

/// The C library's memcpy between two buffers, called as any program calls it, or one of the other
/// methods; on the first core this process may use, or in equal parts on the named ones at once,
/// from one barrier to the last finish. The elapsed time is that of one copy; copies that are short
/// against the clock are repeated inside the window, and the overhead cancelled by difference.
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
  /// What one core copies of each slot, and where it stands in the rotation.
  struct Part {
    Seat seat;
    std::int64_t offset = 0;
    std::int64_t bytes = 0;
    Rotation rotation;        ///< over the slots
    std::int64_t copies = 0;  ///< since prepare()
  };
  std::byte* source_slot(std::int64_t slot) const;
  std::byte* target_slot(std::int64_t slot) const;
  void deal(const std::vector<int>& cpus);
  void copy_part(Part& part, std::int64_t count) const;
  std::int64_t copies_ns(Part& part, std::int64_t count) const;
  double together_ns();
  std::optional<std::string> first_wrong(const Part& part) const;

  const Machine& machine_;
  const DeviceDescription& description_;
  const CopyFunction planted_;
  /// Volatile: a compiler that sees memcpy puts its own code in its place.
  CopyFunction volatile copy_ = nullptr;
  const CopyMethod* method_ = nullptr;
  CopyWork work_;
  Layout layout_;
  Buffers small_;  ///< made anew for each small copy
  Buffers large_;  ///< kept while it is large enough
  Buffers* used_ = &small_;
  bool prepared_ = false;
  std::optional<Layout> filled_;  ///< what the large source holds
  std::uint64_t prepares_ = 0;
  Rotation rotation_;  ///< over the slots, at its first place
  std::vector<Part> parts_;
};

}  // namespace sonde::host
