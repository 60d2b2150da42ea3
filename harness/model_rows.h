#pragma once

#include <string>
#include <vector>

#include "harness/model_published.h"
#include "harness/model_runs.h"

namespace sonde {

/// How the simulated value of a comparison is obtained, from the text of its `measure`:
///
/// - `finding NAME` of the quick run of the device, or `finding NAME of COMMAND`;
/// - `median METRIC of COMMAND`: the command has one point;
/// - `cores KIND`, `memory_total`, `roof NAME`: what the device says of itself;
/// - a comparison that needs more than one number, by its name (docs/check_model.md lists them).
///
/// `noise=off` or `noise=2%` before any of them: on the same chips with that noise. The best of a
/// thousand noisy medians is the luckiest one, not the best shape.
struct ModelMeasure {
  std::string device;              ///< selector
  std::vector<std::string> words;  ///< of the text before ` of `, without those that name a chip
  std::string command;             ///< after ` of `; empty: the quick run
  std::vector<std::string> peers;  ///< selectors of further chips that it names

  /// Asks for all that value() will read.
  void ask(ModelRuns& runs) const;
  /// Throws NoValue with the reason when the runs do not give it.
  ModelValue value(const ModelRuns& runs) const;
};

/// Selector of a published figure's chip: the one asked for where it is the study's own, else
/// `sim:<chip>` with the same options.
class ChipNames {
 public:
  explicit ChipNames(const std::string& asked);
  /// `noise`: the option that replaces the one asked for; empty: as asked.
  std::string selector(const std::string& chip, const std::string& noise = "") const;

 private:
  std::string asked_;    ///< without options
  std::string options_;  ///< "fault=corrupt", without noise
  std::string noise_;    ///< "noise=on"
};

/// Throws UsageError naming the line when the text is not a measure.
ModelMeasure measure_of(const Comparison& comparison, const ChipNames& names);

}  // namespace sonde
