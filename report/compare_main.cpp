// sonde-compare: two stored runs point by point, or the halves of one.
#include <unistd.h>

#include <cstdio>
#include <iostream>

#include "core/command_line.h"
#include "core/parse.h"
#include "core/terminal.h"
#include "report/compare.h"
#include "report/compare_text.h"

namespace sonde {
namespace {

StoredRun load(const std::string& dir, const ReadOptions& read, bool verbose, ExitCode& code) {
  StoredRun stored = load_run(dir, read);
  for (const ProbeRows& rows : stored.probes) {
    if (!verbose || !rows.table) continue;
    std::fprintf(stderr, "sonde-compare: read %s: %s rows\n", (stored.dir / rows.file).c_str(),
                 format_count(static_cast<std::int64_t>(rows.table->rows.size())).c_str());
  }
  for (const ProbeRows& rows : stored.probes) {
    for (const std::string& problem : rows.problems) {
      print_error("sonde-compare: " + problem);
    }
  }
  // The rest is still compared, but the caller must know that it was not all.
  if (stored.any_refused()) code = ExitCode::usage;
  return stored;
}

ExitCode run(const std::vector<std::string>& arguments) {
  CommandLine line("sonde-compare",
                   "Two runs point by point: slower, faster, same, or cannot tell, with the effect "
                   "and its 95 % interval. A is the run before, B the one after.");
  line.footer(
      "Exit: 0 compared, 1 --fail-on was met, 2 usage or unreadable input.\n"
      "Example: sonde compare before after --fail-on slower:5%");
  std::vector<std::string> dirs;
  std::optional<std::string> self, fail_on;
  std::string margin = "1";
  bool json = false, all = false, quiet = false, verbose = false;
  ReadOptions read;
  line.words("runs", dirs, "two run directories, A and B");
  line.text("--self", self,
            "deal the samples of one run to two halves and print the false-alarm rate");
  line.text("--fail-on", fail_on,
            "slower:P% or faster:P%: exit 1 when any point is so by more than P % beyond doubt");
  line.text("--margin", margin, "same: the whole interval within this many percent");
  line.flag("--json", json, "everything as JSON");
  line.verbosity(quiet, verbose);
  line.flag("--all", all, "list every point, not only the slower and faster");
  line.flag("--skip-bad-rows", read.skip_bad_rows,
            "leave bad rows out and count them, instead of refusing their file");
  line.flag("--accept-edited", read.accept_edited, "take rows whose check does not fit");
  if (!line.parse(arguments)) return ExitCode::ok;
  CompareOptions options;
  const auto percent = parse_number(margin);
  if (!percent || *percent < 0 || *percent >= 100) {
    throw UsageError("--margin: '" + margin + "' is not a percentage from 0 to below 100");
  }
  options.margin = *percent / 100;
  if (fail_on) options.fail_on = parse_fail_on(*fail_on);
  const bool colours = shows_colour(STDOUT_FILENO);
  ExitCode code = ExitCode::ok;
  if (self) {
    if (!dirs.empty()) throw UsageError("--self takes one run: leave out " + join_names(dirs));
    if (fail_on) throw UsageError("--self and --fail-on exclude each other");
    const StoredRun stored = load(*self, read, verbose, code);
    const Comparison halves = compare_halves(stored, options);
    std::cout << (json  ? comparison_json(halves, true)
                  : all ? halves_text(halves) + comparison_text(halves, true, colours)
                        : halves_text(halves));
    return code;
  }
  if (dirs.size() != 2) {
    throw UsageError("name two run directories, or --self and one; " + std::to_string(dirs.size()) +
                     " given");
  }
  const StoredRun a = load(dirs[0], read, verbose, code), b = load(dirs[1], read, verbose, code);
  const Comparison comparison = compare_runs(a, b, options);
  std::cout << (json ? comparison_json(comparison, false)
                     : comparison_text(comparison, all, colours));
  return comparison.fails() ? worse(code, ExitCode::point_failed) : code;
}

}  // namespace
}  // namespace sonde

int main(int argc, char** argv) {
  return sonde::run_program("sonde-compare", [&] { return sonde::run({argv + 1, argv + argc}); });
}
