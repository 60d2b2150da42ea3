#pragma once

#include <optional>
#include <string>
#include <vector>

#include "report/copy.h"

namespace sonde {

/// A curve that was taken with the C library's thresholds moved.
struct TunedShape {
  std::string tunables;     ///< as in the row: "glibc.cpu.x86_non_temporal_threshold=16777216"
  double from = 0, to = 0;  ///< sizes tested
  const CopyShape* shape = nullptr;
};

/// What one setting did: the switch that is now at the threshold.
struct MovedSwitch {
  std::string threshold;            ///< "x86_non_temporal_threshold"
  double bytes = 0;                 ///< what it was set to
  std::optional<CopySwitch> found;  ///< nearest to it, within a step of the ladder
  /// How far the bracket is from `bytes`, as a part of it; 0: it holds it.
  double off = 0;
};

/// A switch or an edge of the curve with the thresholds as they are, and what the others say of it.
struct BreakpointCause {
  double last_before = 0, first_after = 0;
  bool is_switch = false;
  bool stays = false;    ///< still there in every other curve that reaches there
  std::string moved_by;  ///< the threshold with which it goes away and comes up again elsewhere
  bool decided() const { return stays || !moved_by.empty(); }
};

struct ThresholdJudgement {
  std::vector<MovedSwitch> moved;       ///< one a setting
  std::vector<BreakpointCause> causes;  ///< by size
};

/// A switch of method goes where its threshold goes; the edge of a cache stays where it is.
ThresholdJudgement judge_thresholds(const CopyShape& usual, const std::vector<TunedShape>& tuned);

}  // namespace sonde
