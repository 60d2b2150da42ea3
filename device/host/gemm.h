#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "device/common/gemm_reference.h"
#include "device/device.h"
#include "device/host/gemm_product.h"
#include "device/host/machine.h"

namespace sonde::host {

/// Types and kernels of the host's matrix engine.
GemmOffer gemm_offer();

/// Matrix products on all usable cores, or those that are named. A sampled block of C is compared
/// with a product in double.
class GemmEngine final : public Engine<GemmWork> {
 public:
  /// `description` is of `machine`; both outlive the engine.
  GemmEngine(const Machine& machine, const DeviceDescription& description)
      : machine_(machine), description_(description) {}

  void prepare(const GemmWork& work) override;
  Sample run(const Trial& trial) override;
  Check verify() override;

  /// What the last prepare() chose, for a test that plants a fault; null before.
  GemmProduct* product() const { return product_; }

 private:
  GemmProduct& product_for(const std::string& kernel);
  std::string kernel_of(const GemmTask& task);
  GemmTask task_of(const GemmWork& work) const;
  /// Throws Skip when the memory of a measurement does not hold the operands.
  void make_room(const GemmTask& task);

  const Machine& machine_;
  const DeviceDescription& description_;
  GemmWork work_;
  std::map<std::string, std::unique_ptr<GemmProduct>> products_;  ///< the one in use
  GemmProduct* product_ = nullptr;
  std::string kernel_;  ///< of `work_`: never auto
  std::optional<GemmReference> reference_;
  GemmWork reference_of_;
};

}  // namespace sonde::host
