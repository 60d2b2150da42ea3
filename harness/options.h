#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/command_line.h"
#include "core/core_name.h"
#include "core/description.h"

namespace sonde {

/// The flags every probe shares, as typed text first (so that a refusal names the flag) and
/// resolved by resolve().
struct CommonOptions {
  std::string device = "host";
  std::optional<std::string> out;
  std::optional<std::string> csv;
  std::string seed_text = "1";
  std::optional<std::string> cores_text;
  std::optional<std::string> repetitions_text;
  std::string confidence_width_text = "5";
  std::optional<std::string> budget_text;
  std::string order = "random";
  bool quick = false;
  bool dry_run = false;
  bool no_progress = false;
  bool verbose = false;
  bool json = false;
  bool skip_bad_rows = false;
  bool accept_edited = false;

  std::uint64_t seed = 1;
  std::optional<std::int64_t> repetitions;  ///< exactly so many; none: adaptive
  double confidence_width = 0.05;           ///< of the median
  std::optional<double> budget_s;

  /// What a campaign takes; a probe takes all of it and more.
  void add_campaign_flags(CommandLine& line);
  void add_probe_flags(CommandLine& line);
  /// The same choices as words of a command line, for the probes that a campaign runs; --out and
  /// --cores are not among them.
  std::vector<std::string> forwarded() const;
  /// Checks and converts; throws UsageError naming the flag.
  void resolve();
  /// One line on standard error where --verbose is given: what is decided or started, and why.
  void tell(const std::string& who, const std::string& text) const;
  /// What decides the rows, for the manifest: resumed steps must agree in all of it.
  std::map<std::string, std::string> deciding() const;
};

}  // namespace sonde
