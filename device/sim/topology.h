#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/core_name.h"
#include "device/sim/chip.h"

namespace sonde::sim {

/// Length of the row on which cores and channels lie where a chip has a gradient.
inline constexpr std::int64_t kRow = 1 << 16;

/// Where one core sits.
struct CoreSite {
  int number = 0;     ///< among the cores of its kind
  int subsystem = 0;  ///< logical id
  int group = 0;      ///< sharing group, numbered over all dies
  int die = 0;
  int stop = 0;                ///< of its group's port on the ring of its die
  int place = 0;               ///< among the cores of its kind in its subsystem
  Ticks offset = 0;            ///< that its loads take longer for its own sake
  std::int64_t along_row = 0;  ///< place in a row of all cores of its kind, 0 to kRow
  bool cube = false;           ///< of the second kind: it only loads and multiplies
  std::string kind{};          ///< "vector", "sm"
  CoreName name() const { return {kind, number}; }
};

/// The chip's cores: harvested subsystems are absent, logical ids are dealt over the dies. A core
/// is named inside the model by its index into cores().
class Topology {
 public:
  explicit Topology(const Chip& chip);

  /// The first kind of core (Vector cores), then the second (Cube cores), each in the order of
  /// their numbers. On a chip with one kind vectors() are all.
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
  std::span<const CoreSite> cores_of(const std::string& kind) const;
  void scatter(const Chip::Scatter& scatter, std::size_t first, std::size_t count);
  std::vector<int> order_blocks(std::span<const CoreSite> cores, int first, int each) const;

  std::vector<CoreSite> cores_;
  std::size_t vectors_ = 0;
  std::vector<int> vector_order_;
  std::vector<int> cube_order_;
  int groups_ = 0;
  int dies_ = 0;
};

}  // namespace sonde::sim
