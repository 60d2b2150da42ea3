#include "harness/campaign.h"

#include <algorithm>
#include <cstdio>
#include <iostream>
#include <nlohmann/json.hpp>

#include "core/command_line.h"
#include "core/files.h"
#include "core/manifest.h"
#include "core/parse.h"
#include "core/signals.h"
#include "core/terminal.h"
#include "core/text.h"
#include "core/version.h"
#include "device/registry.h"
#include "harness/child.h"
#include "harness/options.h"
#include "harness/run_directory.h"

namespace sonde {
namespace {

/// One step of a campaign.
struct CampaignStep {
  const char* probe;
  /// Whether the device has what it takes; a probe run by itself says so in a skipped row.
  bool (*offered)(const DeviceDescription&);
  /// Seconds given to it on a host CPU when no --budget is, where all of it would take hours;
  /// 0: all of it. The second is for --quick.
  double host_budget_s = 0;
  double quick_host_budget_s = 0;
  /// Further words for a card timed by its own events.
  std::vector<std::string> card_words = {};
};

/// In this order: latency first, while the machine is quiet and cool; heavy traffic later.
const CampaignStep kSteps[] = {
    {"chase", [](const DeviceDescription&) { return true; }},
    // The next three grow with the square of the cores: a quick run stays quick on a large host.
    // A card's latencies are whole cycles: 1,024 addresses tell its cores apart. One aggressor of
    // its many cores slows nothing down; a random half of them does.
    {"profile",
     [](const DeviceDescription& d) { return d.profile_bytes > 0; },
     0,
     4,
     {"--addresses", "1024"}},
    {"interfere",
     [](const DeviceDescription& d) { return !d.aggressor_works.empty(); },
     0,
     5,
     {"--design", "subsets", "--subsets", "200"}},
    {"handoff", [](const DeviceDescription& d) { return !d.handoff_kinds.empty(); }, 0, 3},
    {"stream", [](const DeviceDescription& d) { return !d.stream.kinds.empty(); }},
    {"copy", [](const DeviceDescription& d) { return !d.copies.empty(); }},
    // Under a power cap samples of a shape differ by 2 to 4 %, however many there are: eight each.
    {"gemm",
     [](const DeviceDescription& d) { return !d.gemm.kernels.empty(); },
     60,
     5,
     {"--repetitions", "8"}}};
/// Seconds that a step may take before it is taken for hung.
constexpr double kStepLimit = 3600;
constexpr double kReportLimit = 300;

std::string command_line_of(const std::string& name, const std::vector<std::string>& words) {
  std::string text = name;
  for (const std::string& word : words) text += " " + word;
  return text;
}

std::string failure_of(const std::string& name, const ChildResult& result) {
  if (result.timed_out) return name + ": ended after its time limit";
  if (result.signal != 0) return name + ": killed by signal " + std::to_string(result.signal);
  return name + ": exit " + std::to_string(result.exit_code);
}

/// A child's exit code as ours; a crash or time-out counts as a failed point: the other steps ran.
ExitCode code_of(const ChildResult& result) {
  if (result.timed_out || result.signal != 0) return ExitCode::point_failed;
  switch (result.exit_code) {
    case 0:
      return ExitCode::ok;
    case 1:
      return ExitCode::point_failed;
    case 2:
      return ExitCode::usage;
    case 3:
      return ExitCode::interrupted;
    case 4:
      return ExitCode::output;
    default:
      return ExitCode::internal;
  }
}

/// What the children of a campaign came to so far.
struct Tally {
  explicit Tally(const CommonOptions& given) : options(given) {}

  const CommonOptions& options;
  ExitCode code = ExitCode::ok;
  std::vector<std::string> failures;
  bool interrupted = false;
  nlohmann::ordered_json steps = nlohmann::ordered_json::array();

  /// Runs one to its end; its exit code as ours, none when it could not be started.
  std::optional<ExitCode> run(const std::string& name, const std::vector<std::string>& words,
                              double limit_s) {
    try {
      options.tell("sonde campaign", "running " + command_line_of(name, words));
      const ChildResult result =
          run_child(program_directory() / name, words, limit_s, options.json);
      interrupted = result.interrupted;
      const ExitCode ended = interrupted ? ExitCode::interrupted : code_of(result);
      if (ended != ExitCode::ok && !interrupted) failures.push_back(failure_of(name, result));
      code = worse(code, ended);
      steps.push_back({{"program", name}, {"exit", static_cast<int>(ended)}});
      return ended;
    } catch (const OutputError& error) {
      failures.emplace_back(error.what());
      code = worse(code, error.code());
      return std::nullopt;
    }
  }
};

}  // namespace

ExitCode run_campaign(const std::vector<std::string>& arguments) {
  catch_signals();
  CommandLine line(
      "sonde campaign",
      "All probes the device offers, then topology and report. The same command resumes.");
  line.footer(
      "On a host CPU the GEMM sweep gets 60 s (with --quick 5 s, and profile, interference and\n"
      "hand-off 4, 5 and 3 s) unless --budget says otherwise.");
  CommonOptions options;
  options.add_campaign_flags(line);
  std::string limit_text = format_number(kStepLimit);
  line.text("--step-limit", limit_text, "seconds after which a step is taken for hung and ended");
  if (!line.parse(arguments)) return ExitCode::ok;
  options.resolve();
  if (options.json && options.dry_run) {
    throw UsageError("--json with --dry-run: ask each probe for its plan (sonde chase --dry-run)");
  }
  const auto step_limit = parse_number(limit_text);
  if (!step_limit || *step_limit <= 0) {
    throw UsageError("--step-limit: '" + limit_text + "' is not a number of seconds above 0");
  }
  const DeviceDescription device = open_device(options.device)->description();

  std::vector<std::string> common = options.forwarded();
  std::filesystem::path out = options.out.value_or("");
  std::optional<FileLock> lock;
  if (!options.dry_run) {
    if (!options.out) {
      out = create_run_directory(device.name);
      if (!options.json) std::cout << out.string() << std::endl;
    } else if (!create_directory_exclusively(out) && !std::filesystem::is_directory(out)) {
      throw OutputError(out.string() + ": is not a directory");
    }
    lock.emplace(out / ".campaign.lock");
    common.insert(common.end(), {"--out", out.string()});
  }
  Tally tally(options);
  for (const CampaignStep& step : kSteps) {
    const std::string name = std::string("sonde-") + step.probe;
    if (!step.offered(device)) {
      options.tell("sonde campaign", "leaving out " + name + ": the device does not offer it");
      continue;
    }
    std::vector<std::string> words = common;
    const double budget = options.quick ? step.quick_host_budget_s : step.host_budget_s;
    if (budget > 0 && !options.budget_text && device.time_source == TimeSource::host_clock) {
      words.insert(words.end(), {"--budget", format_number(budget)});
    }
    const std::vector<std::string>& card = step.card_words;
    const bool asked =
        !card.empty() && std::find(words.begin(), words.end(), card.front()) != words.end();
    if (device.time_source == TimeSource::device_event && !asked) {
      words.insert(words.end(), card.begin(), card.end());
    }
    if (lock) lock->check_in_place();
    const std::optional<ExitCode> ended = tally.run(name, words, *step_limit);
    if (ended == ExitCode::output) break;  // what cannot be written will not be written later
    if (tally.interrupted) break;
  }
  if (options.dry_run) return tally.code;
  std::vector<std::string> reading = {"--run", out.string()};
  if (options.skip_bad_rows) reading.emplace_back("--skip-bad-rows");
  if (options.accept_edited) reading.emplace_back("--accept-edited");
  if (options.verbose) reading.emplace_back("--verbose");
  for (const char* name : {"sonde-topology", "sonde-report"}) {
    if (tally.interrupted) break;
    lock->check_in_place();
    tally.run(name, reading, kReportLimit);
  }
  for (const std::string& failure : tally.failures) {
    print_error("sonde campaign: " + failure);
  }
  if (tally.interrupted) {
    std::fprintf(stderr, "sonde campaign: interrupted; the same command with --out %s resumes\n",
                 out.c_str());
  }
  if (options.json) {
    const nlohmann::ordered_json json = {{"schema", "campaign.1"},
                                         {"out", out.string()},
                                         {"page", (out / "report/index.html").string()},
                                         {"steps", tally.steps},
                                         {"messages", tally.failures},
                                         {"exit", static_cast<int>(tally.code)}};
    std::cout << json.dump(1, ' ', false, nlohmann::ordered_json::error_handler_t::replace) << '\n';
  }
  return tally.code;
}

ExitCode run_devices(const std::vector<std::string>& arguments) {
  CommandLine line("sonde devices",
                   "Every device usable here, and each backend that is built but has no device.");
  bool json = false;
  line.flag("--json", json, "as JSON, each device with what it says of itself");
  if (!line.parse(arguments)) return ExitCode::ok;
  const std::vector<Listing> all = list_devices();
  if (!json) {
    std::size_t width = 0;
    for (const Listing& listing : all) width = std::max(width, listing.name.size());
    for (const Listing& listing : all) {
      std::cout << listing.name << std::string(width + 2 - listing.name.size(), ' ')
                << shown_text(listing.usable ? listing.product : "not usable: " + listing.reason)
                << '\n';
    }
    return ExitCode::ok;
  }
  std::vector<DeviceEntry> entries;
  for (const Listing& listing : all) {
    DeviceEntry entry{listing.name, listing.reason, std::nullopt};
    if (listing.usable) entry.device = open_device(listing.name)->description();
    entries.push_back(std::move(entry));
  }
  std::cout << device_list_json(entries);
  return ExitCode::ok;
}

}  // namespace sonde
