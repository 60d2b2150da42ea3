#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "device/common/gemm_reference.h"
#include "device/cuda/product.h"
#include "device/cuda/telemetry.h"
#include "device/device.h"

namespace sonde::cuda {

/// Matrix products through cuBLASLt, replayed from a graph over operands that rotate beyond the L2.
/// `auto` is the heuristics' first choice, `best` the fastest of its list. Results lie in memory of
/// their own, which nothing reads as input.
class GemmEngine final : public Engine<GemmWork> {
 public:
  GemmEngine(Context& context, const DeviceDescription& description, Monitor& monitor)
      : context_(context), description_(description), monitor_(monitor) {}
  void prepare(const GemmWork& work) override;
  Sample run(const Trial& trial) override;
  Check verify() override;

 private:
  void build(const GemmWork& work);
  void lay_out(const GemmWork& work);
  void fill(const GemmWork& work);
  void choose_best();
  void sample_result(bool poison);
  std::int64_t not_finite();
  Seconds time_once(std::int64_t count);

  Context& context_;
  const DeviceDescription& description_;
  Monitor& monitor_;
  std::optional<LtHandle> handle_;
  const GemmFormat* format_ = nullptr;
  std::optional<GemmWork> built_;  ///< what all below is for
  DeviceBuffer inputs_, outputs_;
  std::vector<OperandSet> sets_;
  std::unique_ptr<Product> product_;
  std::unique_ptr<ProductGraph> graph_;
  std::int64_t replays_ = 1;  ///< of the graph in one window
  std::optional<GemmReference> reference_;
  DeviceBuffer table_, count_;
  PinnedBuffer indices_, values_;
  std::size_t checked_set_ = 0;
};

}  // namespace sonde::cuda
