// sonde-topology: the tree of cores that stored rows show.
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <iostream>

#include "core/command_line.h"
#include "core/files.h"
#include "core/signals.h"
#include "core/terminal.h"
#include "core/text.h"
#include "topology/core_tree.h"

namespace sonde {
namespace {

/// The groups of level `depth` that lie inside `outer`, each with those inside it.
void print_groups(const CoreTree& tree, std::size_t depth, const std::vector<CoreName>* outer) {
  if (depth == tree.levels.size()) return;
  bool any = false;
  for (const std::vector<CoreName>& group : tree.levels[depth].groups) {
    const bool inside =
        outer == nullptr || std::any_of(group.begin(), group.end(), [&](auto& core) {
          return std::find(outer->begin(), outer->end(), core) != outer->end();
        });
    if (!inside) continue;
    any = true;
    std::cout << std::string(2 * depth + 2, ' ') << format_core_set(group) << '\n';
    print_groups(tree, depth + 1, &group);
  }
  // A finer level may be known where this one is not.
  if (!any) print_groups(tree, depth + 1, outer);
}

void print(const StoredRun& run, const CoreTree& tree) {
  std::cout << shown_text(run.manifest.device.name) << ": ";
  if (tree.levels.empty()) {
    std::cout << (tree.none_found ? "none found: " : "cannot tell: ") << shown_text(tree.reason) << '\n';
    return;
  }
  std::cout << "a tree of " << tree.levels.size()
            << (tree.levels.size() == 1 ? " level" : " levels") << '\n';
  for (const TreeLevel& level : tree.levels) {
    std::cout << level.name << ": " << level.groups.size() << " groups, stability "
              << (level.stability ? fmt::format("{:.2f}", *level.stability) : "unknown") << " ("
              << level.basis << ")\n";
  }
  print_groups(tree, 0, nullptr);
  std::cout << shown_text(tree.reason) << '\n';
}

ExitCode run(const std::vector<std::string>& arguments) {
  CommandLine line("sonde-topology",
                   "The tree of cores (groups that share something) from the stored profile, "
                   "interference and hand-off rows; written to DIR/topology.json and, for hwloc, "
                   "DIR/topology.xml, and printed.");
  std::optional<std::string> dir;
  ReadOptions read;
  line.text("--run", dir, "the run directory (required)");
  bool json = false, quiet = false, verbose = false;
  line.flag("--json", json, "print what is written to topology.json");
  line.verbosity(quiet, verbose);
  line.flag("--skip-bad-rows", read.skip_bad_rows,
            "leave bad rows out and count them, instead of refusing their file");
  line.flag("--accept-edited", read.accept_edited, "take rows whose check does not fit");
  if (!line.parse(arguments)) return ExitCode::ok;
  if (!dir || dir->empty()) throw UsageError("--run: name the run directory");
  catch_signals();
  const StoredRun stored = load_run(*dir, read);
  ExitCode code = ExitCode::ok;
  const auto say = [](const std::string& message) { print_error("sonde-topology: " + message); };
  const auto warn = [&](const std::string& message) {
    if (!quiet) say(message);
  };
  for (const std::string& warning : stored.warnings) warn(warning);
  for (const char* name : {"profile", "interfere", "handoff"}) {
    const ProbeRows& rows = *stored.probe(name);
    if (rows.table) {
      if (verbose) {
        say(fmt::format("read {}: {} rows", (stored.dir / rows.file).string(),
                        rows.table->rows.size()));
      }
      for (const std::string& warning : rows.table->warnings) warn(warning);
      if (rows.table->skipped > 0) {
        say(fmt::format("{}: {} bad rows left out", rows.file, rows.table->skipped));
      }
    }
    for (const std::string& problem : rows.problems) say(problem);
    // The rest is still used, but the caller must know that it was not all.
    if (rows.refused()) code = ExitCode::usage;
  }
  stop_if_interrupted();
  const CoreTree tree = infer_core_tree(stored);
  const std::string text = topology_json(stored, tree);
  stop_if_interrupted();
  write_file_atomically(stored.dir / "topology.json", text);
  write_file_atomically(stored.dir / "topology.xml", topology_xml(stored, tree));
  if (verbose) {
    say("wrote " + (stored.dir / "topology.json").string() + " and topology.xml: " + tree.reason);
  }
  if (json) {
    std::cout << text;
  } else {
    print(stored, tree);
  }
  std::cout.flush();
  if (!std::cout) throw OutputError("standard output: cannot be written");
  return code;
}

}  // namespace
}  // namespace sonde

int main(int argc, char** argv) {
  return sonde::run_program("sonde-topology", [&] { return sonde::run({argv + 1, argv + argc}); });
}
