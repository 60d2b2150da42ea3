#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/core_name.h"
#include "device/sim/chip.h"

namespace sonde::sim {

/// Where one core sits.
struct CoreSite {
  int number = 0;     ///< vector<number> or cube<number>
  int subsystem = 0;  ///< logical id
  int group = 0;      ///< sharing group, numbered over all dies
  int die = 0;
  int stop = 0;  ///< of its group's port on the ring of its die
  bool cube = false;

  std::string kind() const { return cube ? "cube" : "vector"; }
  CoreName name() const { return {kind(), number}; }
};

/// The chip's cores: harvested subsystems are absent, logical ids are dealt over the dies. A core
/// is named inside the model by its index into cores().
class Topology {
 public:
  explicit Topology(const Chip& chip);

  /// Vector cores first, then Cube cores, each in the order of their numbers.
  const std::vector<CoreSite>& cores() const { return cores_; }
  std::span<const CoreSite> vectors() const { return {cores_.data(), vectors_}; }
  std::span<const CoreSite> cubes() const {
    return std::span<const CoreSite>(cores_).subspan(vectors_);
  }
  int groups() const { return groups_; }
  int dies() const { return dies_; }

  /// Index of a core; none when there is no such core.
  std::optional<int> find(const CoreName& name) const;

  /// "cores are vector0 to vector55 and cube0 to cube27": the end of a refusal.
  std::string names() const;

  /// Cores of one kind in the order in which a launch fills them: one for each die in turn, then
  /// the next group, so that few blocks rarely share a group; inside a group the first core of each
  /// subsystem before the second. Empty for an unknown kind.
  const std::vector<int>& block_order(const std::string& kind) const;

 private:
  void place(const Chip& chip);
  std::vector<int> order_blocks(std::span<const CoreSite> cores, int first, int each) const;

  std::vector<CoreSite> cores_;
  std::size_t vectors_ = 0;
  std::vector<int> vector_order_;
  std::vector<int> cube_order_;
  int groups_ = 0;
  int dies_ = 0;
};

}  // namespace sonde::sim
