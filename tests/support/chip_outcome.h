#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "device/registry.h"
#include "device/sim/random_chip.h"
#include "tests/support/chip_rows.h"
#include "tests/support/decidable.h"
#include "topology/core_tree.h"

namespace sonde {

/// One random chip measured and inferred, beside its truth.
struct ChipOutcome {
  std::uint64_t seed = 0;
  std::size_t cores = 0;
  std::vector<TrueLevel> levels;
  std::vector<bool> found;  ///< each of `levels`, exactly
  CoreTree tree;
  std::vector<bool> right;  ///< each level of the tree is a planted one
  std::int64_t launches = 0;
  double seconds = 0, infer_seconds = 0;

  int made_up() const;
  bool every_decidable() const;
};

ChipOutcome measure_chip(std::uint64_t seed, sim::Selector::Structure kind,
                         const ChipDesign& design);

std::set<std::set<CoreName>> sets_of(const TreeLevel& level);

/// One line: what was planted (how clearly; ! not found), what was found (X not planted).
std::string text_of(const ChipOutcome& outcome);

}  // namespace sonde
