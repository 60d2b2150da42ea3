#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <stdexcept>
#include <string>
#include <vector>

#include "core/core_name.h"
#include "core/samples.h"
#include "core/stored_run.h"
#include "core/stored_tree.h"

namespace sonde {

/// A value that cannot be given, with the reason.
class NoValue : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// A simulated value in the unit that its source states.
struct ModelValue {
  double value = 0;
  std::string unit;
  std::string note = {};  ///< what a reader of a row that is outside has to know
};

/// The runs that a check of a model stands on: programs of the suite as children, each device with
/// one directory for the quick run of its probes and one for every command of its own. Asked for
/// first, run at once, read afterwards.
class ModelRuns {
 public:
  /// What has to be made of the rows.
  enum class Need { rows, tree, findings };

  explicit ModelRuns(const std::string& seed);
  ~ModelRuns();
  ModelRuns(const ModelRuns&) = delete;
  ModelRuns& operator=(const ModelRuns&) = delete;

  /// The quick run of `probe` on `device`.
  void ask(const std::string& device, const std::string& probe, Need need);
  /// A command with arguments of its own: "stream --cores vector0-63 --bytes 4MiB".
  void ask_command(const std::string& device, const std::string& command, Need need);

  /// Runs everything asked for, as many children at once as there are processors. False when a
  /// signal stopped it. `announce` is called with a line for each directory begun.
  bool run(void (*announce)(const std::string&));

  /// One line for each child that went wrong.
  std::vector<std::string> problems() const;

  /// Below, `command` is empty for the quick run of the device. Each throws NoValue when the run
  /// did not give it.
  const StoredRun& stored(const std::string& device, const std::string& command = "") const;
  ModelValue finding(const std::string& device, const std::string& command,
                     const std::string& name) const;
  /// Median of a metric over the repetitions, one a point that has it, with the point's axes.
  struct PointMedian {
    RowView axes;
    double value = 0;
  };
  std::vector<PointMedian> medians(const std::string& device, const std::string& command,
                                   const std::string& probe, const std::string& metric) const;
  /// Groups of each level of topology.json, coarsest level first.
  using Level = CoreGroups;
  std::vector<Level> tree(const std::string& device) const;

 private:
  struct Run;
  Run& run_of(const std::string& device, const std::string& command);
  const Run& done(const std::string& device, const std::string& command) const;
  void execute(Run& run) const;

  std::filesystem::path root_;
  std::string seed_;
  std::map<std::pair<std::string, std::string>, Run> runs_;  ///< by device and command
};

}  // namespace sonde
