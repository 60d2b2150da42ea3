#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "device/device.h"
#include "device/sim/gemm_model.h"
#include "device/sim/machine.h"

namespace sonde::sim {

/// Types that the chip multiplies, the first of kGemmTypes first.
std::vector<std::string> gemm_dtypes(const Chip& chip);

/// Kernels that can be forced: `auto` first, then one a tile, "256x256".
std::vector<std::string> gemm_kernels(const Chip& chip);

/// Engine of GemmWork on the modelled Cube cores. Numbers are not computed: what a run leaves to
/// verify is the count of multiply-adds that its units cover.
class GemmEngine final : public Engine<GemmWork> {
 public:
  explicit GemmEngine(Machine& machine) : machine_(machine) {}

  void prepare(const GemmWork& work) override;
  Sample run(const Trial& trial) override;
  Check verify() override;

 private:
  using Key = std::tuple<std::int64_t, std::int64_t, std::int64_t, std::string, std::string,
                         std::int64_t>;  ///< shape, type, kernel and cores
  const GemmPlan& plan_for(const GemmWork& work, const Chip::Tile* tile);

  Machine& machine_;
  std::optional<GemmWork> work_;
  GemmPlan plan_;
  std::map<Key, std::optional<GemmPlan>> plans_;
  std::optional<std::int64_t> macs_;  ///< done by the last run
};

}  // namespace sonde::sim
