#pragma once

#include <vector>

#include "device/sim/chip.h"

namespace sonde::sim {

/// Where one Vector core sits. Cube cores join as another kind with the same sites.
struct CoreSite {
  int number = 0;     ///< vector<number>
  int subsystem = 0;  ///< logical id
  int group = 0;      ///< sharing group, numbered over all dies
  int die = 0;
};

/// The chip's cores: harvested subsystems are absent, logical ids are dealt over the dies.
class Topology {
 public:
  explicit Topology(const Chip& chip);

  /// Vector cores; the index is the core's number.
  const std::vector<CoreSite>& vectors() const { return vectors_; }
  int groups() const { return groups_; }

  /// Vector cores in the order in which a launch fills them: one for each die in turn, then the
  /// next group, so that few blocks rarely share a group; inside a group the first core of each
  /// subsystem before the second.
  const std::vector<int>& block_order() const { return block_order_; }

 private:
  void place(const Chip& chip);
  void order_blocks(const Chip& chip);

  std::vector<CoreSite> vectors_;
  std::vector<int> block_order_;
  int groups_ = 0;
  int dies_ = 0;
};

}  // namespace sonde::sim
