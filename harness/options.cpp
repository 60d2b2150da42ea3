#include "harness/options.h"

#include <cstdio>

#include "core/error.h"
#include "core/parse.h"
#include "core/statistics.h"
#include "device/registry.h"

namespace sonde {

void CommonOptions::add_campaign_flags(CommandLine& line) {
  line.text("--device", device, "host, sim:<chip> or cuda:<n> (see `sonde devices`)");
  line.suggest("--device", [] {
    std::vector<std::string> names;
    for (const Listing& listing : list_devices()) {
      if (listing.usable) names.push_back(listing.name);
    }
    return names;
  });
  line.text("--out", out,
            "run directory; an existing one is resumed "
            "(default: sonde-<device>-<UTC>, created and printed)");
  line.text("--seed", seed_text, "seed of every random choice");
  line.text("--repetitions", repetitions_text,
            "exactly N samples a point (default: 8 to 60, until the interval is narrow or 2 s are "
            "spent; 1 for a profile and for random subsets)");
  line.text("--confidence-width", confidence_width_text,
            "stop a point when its 95 % interval is within P % of the median");
  line.flag("--quick", quick, "the fewest points that still find every finding, 8 samples each");
  line.flag("--no-progress,--quiet", no_progress, "no progress on standard error");
  line.flag("--verbose", verbose,
            "on standard error what is read, planned and started, and why a point ends");
  line.flag("--json", json, "what is printed, as JSON: the plan of --dry-run, or what was done");
  line.text("--budget", budget_text,
            "seconds of one step (modelled ones where time is); what does not fit is skipped");
  line.choice("--order", order, {"random", "listed"},
              "random (rounds over all points, shuffled by the seed) or listed");
  line.flag("--dry-run", dry_run, "print the points and a time estimate, measure nothing");
  line.flag("--skip-bad-rows", skip_bad_rows,
            "on resume: leave out stored rows that cannot be read");
  line.flag("--accept-edited", accept_edited,
            "on resume: take stored rows whose check does not fit");
}

void CommonOptions::add_probe_flags(CommandLine& line) {
  add_campaign_flags(line);
  line.text("--csv", csv, "'-': rows to standard output, no run directory");
  line.text("--cores", cores_text,
            "cores by name, e.g. cpu0-3 or vector0-55 (copies and GEMMs are placed by the device)");
}

std::vector<std::string> CommonOptions::forwarded() const {
  std::vector<std::string> words = {"--device", device, "--seed", seed_text, "--order", order};
  if (repetitions_text) {
    words.insert(words.end(), {"--repetitions", *repetitions_text});
  } else {
    words.insert(words.end(), {"--confidence-width", confidence_width_text});
  }
  if (budget_text) words.insert(words.end(), {"--budget", *budget_text});
  if (quick) words.emplace_back("--quick");
  if (dry_run) words.emplace_back("--dry-run");
  if (no_progress) words.emplace_back("--no-progress");
  if (verbose) words.emplace_back("--verbose");
  if (skip_bad_rows) words.emplace_back("--skip-bad-rows");
  if (accept_edited) words.emplace_back("--accept-edited");
  return words;
}

void CommonOptions::tell(const std::string& who, const std::string& text) const {
  if (verbose) std::fprintf(stderr, "%s: %s\n", who.c_str(), text.c_str());
}

void CommonOptions::resolve() {
  const auto refuse = [](const std::string& flag, const std::string& text,
                         const std::string& want) {
    return UsageError(flag + ": '" + text + "' is not " + want);
  };
  const auto seed_value = parse_integer(seed_text);
  if (!seed_value || *seed_value < 0)
    throw refuse("--seed", seed_text, "a whole number from 0 to 2^63 - 1");
  seed = static_cast<std::uint64_t>(*seed_value);
  if (repetitions_text) {
    constexpr std::int64_t kMost = 1'000'000;
    const auto value = parse_integer(*repetitions_text);
    if (!value || *value < 1 || *value > kMost) {
      throw refuse("--repetitions", *repetitions_text,
                   "a whole number between 1 and " + format_count(kMost));
    }
    repetitions = *value;
  }
  if (quick && !repetitions) repetitions = kFewestSamples;
  const auto width = parse_number(confidence_width_text);
  if (!width || *width <= 0 || *width > 100) {
    throw refuse("--confidence-width", confidence_width_text, "a percentage above 0, at most 100");
  }
  confidence_width = *width / 100;
  if (budget_text) {
    const auto value = parse_number(*budget_text);
    if (!value || *value <= 0)
      throw refuse("--budget", *budget_text, "a number of seconds above 0");
    budget_s = *value;
  }
  if (csv && *csv != "-") throw refuse("--csv", *csv, "'-' (a run directory is chosen with --out)");
  if (out && out->empty()) throw refuse("--out", *out, "a directory name");
  if (csv && json) throw UsageError("--csv - and --json exclude each other");
  if (csv && out) throw UsageError("--csv - and --out exclude each other");
}

std::map<std::string, std::string> CommonOptions::deciding() const {
  std::map<std::string, std::string> all = {{"order", order}, {"quick", quick ? "yes" : "no"}};
  if (cores_text) all["cores"] = *cores_text;
  if (repetitions)
    all["repetitions"] = std::to_string(*repetitions);
  else
    all["confidence-width"] = format_number(confidence_width * 100);
  if (budget_s) all["budget"] = format_number(*budget_s);
  return all;
}

}  // namespace sonde
