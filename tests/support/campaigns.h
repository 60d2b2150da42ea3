#pragma once

#include <sys/types.h>

#include <map>
#include <string>
#include <vector>

#include "tests/support/programs.h"

namespace sonde::test {

/// Text of each <probe>.csv of a run directory, up to its last newline.
using StoredRows = std::map<std::string, std::string>;
StoredRows whole_rows(const std::filesystem::path& run);

/// Processes that have the variable `entry` ("NAME=value") in their environment, zombies left out.
std::vector<pid_t> processes_with(const std::string& entry);

/// Files that only a program at work may leave: temporary ones and drafts of pictures.
std::vector<std::string> leftovers(const std::filesystem::path& folder);

/// A small complete campaign of a simulated chip, run once undisturbed, and what every disturbed
/// one is held against. Its pictures are drawn by a stand-in for gnuplot, which takes milliseconds.
class SmallCampaign {
 public:
  /// Runs the undisturbed one below `scratch`. Throws when it does not end with 0.
  explicit SmallCampaign(const std::filesystem::path& scratch,
                         const std::string& device = "sim:random?seed=38");

  const std::string& device() const { return device_; }
  double seconds() const { return seconds_; }  ///< that it took
  const StoredRows& rows() const { return rows_; }

  /// The command for `run`; a run directory must be named "run", as findings hold its name.
  std::vector<std::string> command(const std::filesystem::path& run) const;
  /// Finds the stand-in for gnuplot; `more` is added.
  Environment environment(std::vector<std::string> more = {}) const;

  /// What is wrong with what a disturbed campaign left so far, or empty: each file is readable by
  /// its checks, and its whole rows are the first of the undisturbed one.
  std::string check_stored(const std::filesystem::path& run) const;
  /// What is wrong with a campaign that ended, or empty: rows, findings and trees are those of the
  /// undisturbed one byte for byte, every step is complete, nothing is left over.
  std::string check_complete(const std::filesystem::path& run) const;

 private:
  std::filesystem::path scratch_;
  std::string device_;
  std::filesystem::path undisturbed_;
  StoredRows rows_;
  double seconds_ = 0;
};

}  // namespace sonde::test
