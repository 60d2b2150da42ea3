// Mutation testing: plants a small fault in one source at a time and asks whether the tests notice.
//   torture_mutation [--mutants 300] [--seed 1] [--jobs 1] [--only PREFIX] [--again survivors]
// Goes on where a stopped run left off. Needs the build folder it was built in, with the test
// programs of kSuites; nothing in the source tree is changed but data/score/mutation.csv.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <mutex>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>
#include <stdexcept>
#include <thread>

#include "core/csv_writer.h"
#include "core/files.h"
#include "core/rng.h"
#include "tests/torture/mutants.h"

namespace {

namespace fs = std::filesystem;
using sonde::mutation::Mutant;

constexpr std::size_t kUsualMutants = 300;
constexpr double kTarget = 0.85;

/// Which tests use a source, the quickest and most likely to notice first: the last of them are
/// slow, and asked only of what all before them did not notice.
struct Suite {
  const char* files;  ///< prefix of the path
  const char* program;
  const char* filter;
};
constexpr Suite kSuites[] = {
    {"core/", "test_recovery_stored",
     "StoredTexts.*:StoredFiles.*:StoredTables.Statistics:StoredMargins.Stops"},
    {"core/", "test_unit_core", "*"},
    {"core/", "test_recovery_stored", "*"},
    {"core/", "test_unit_stored", "*-*AnyDamagedByte*"},
    {"core/decide", "test_recovery_compare", "*"},
    {"core/line", "test_recovery_compare", "*"},
    {"core/samples", "test_recovery_compare", "*"},
    {"core/statistics", "test_recovery_compare", "*"},
    {"core/line", "test_recovery_analysis", "AnalysisCopy*"},
    {"core/description", "test_output_report", "Report*:Figure*-ReportPageInABrowser*"},
    {"core/manifest", "test_output_report", "Report*:Figure*-ReportPageInABrowser*"},
    {"core/samples", "test_output_report", "Report*:Figure*-ReportPageInABrowser*"},
    {"core/stored_run", "test_output_report", "Report*:Figure*-ReportPageInABrowser*"},
    {"topology/", "test_recovery_stored", "StoredTables.Topology:StoredTables.*Chips:StoredRuns.*"},
    {"topology/", "test_recovery_topology", "*"},
    {"topology/hwloc", "test_recovery_topology_hwloc", "*"},
    {"topology/", "test_recovery_analysis", "AnalysisPairs*:AnalysisProfile*"},
    {"report/copy_", "test_recovery_stored", "StoredTables.Copies:StoredRuns.*"},
    {"report/copy_", "test_recovery_analysis", "AnalysisCopy*"},
    {"report/copy_", "test_recovery_copy", "*"},
    {"report/copy_", "test_output_report", "Report*:Figure*-ReportPageInABrowser*"},
    {"membw/", "test_recovery_stored", "StoredTables.Copies"},
    {"membw/", "test_unit_common", "*"},
    {"membw/", "test_recovery_copy", "*"},
    {"gemm_sweep/", "test_unit_gemm_shapes", "*"},
    {"gemm_sweep/", "test_recovery_stored", "StoredTables.Gemms"},
    {"core/", "test_unit_harness", "*"},
    {"core/", "test_unit_report", "*"},
    {"core/", "test_unit_host_machine", "*"},
    {"core/", "test_recovery_compare", "*"},
    {"core/", "test_recovery_analysis", "*"},
    {"core/decide", "test_recovery_coverage", "*"},
    {"core/drift", "test_recovery_coverage", "*"},
    {"core/statistics", "test_recovery_coverage", "*"},
    {"core/byte", "test_unit_stored", "*AnyDamagedByte*"},
    {"core/checksum", "test_unit_stored", "*AnyDamagedByte*"},
    {"core/csv", "test_unit_stored", "*AnyDamagedByte*"},
    {"core/row_", "test_unit_stored", "*AnyDamagedByte*"},
    {"membw/", "test_unit_harness", "*"},
    {"report/copy_", "test_unit_report", "*"},
};

/// Left out: what only whole programs use, and what could signal or stop processes that are not its
/// own.
const std::set<std::string> kLeftOut = {
    "core/command_line.cpp", "core/process.cpp",     "core/terminal.cpp",
    "core/version.cpp",      "gemm_sweep/gemm.cpp",  "membw/copy.cpp",
    "membw/stream.cpp",      "membw/tuned_copy.cpp", "topology/main.cpp"};

struct Options {
  std::size_t mutants = kUsualMutants;
  std::uint64_t seed = 1;
  unsigned jobs = 1;
  std::string only;
  bool again = false;  ///< of a stopped run, the survivors are tried again
};

const fs::path kSource = SONDE_SOURCE_DIR;
const fs::path kBuild = fs::path(SONDE_BIN_DIR).parent_path();
const fs::path kWork = kBuild / "mutation";

std::string quoted(const fs::path& path) { return "'" + path.string() + "'"; }

/// Status of a shell command, run in the build folder.
int shell(const std::string& command) {
  return std::system(("cd " + quoted(kBuild) + " && { " + command + "; } >/dev/null 2>&1").c_str());
}

std::string output_of(const std::string& command) {
  const fs::path out = kWork / "output";
  if (std::system(("cd " + quoted(kBuild) + " && " + command + " > " + quoted(out)).c_str()) != 0)
    throw std::runtime_error("failed: " + command);
  return sonde::read_file(out);
}

void replace_all(std::string& text, const std::string& from, const std::string& to) {
  for (std::size_t at = text.find(from); at != std::string::npos;
       at = text.find(from, at + to.size()))
    text.replace(at, from.size(), to);
}

/// An index behind the end of a container is noticed, as by the sanitized build of the same tests.
constexpr const char* kChecked = " -O1 -D_GLIBCXX_ASSERTIONS";
/// With all that a compiler knows of what comes to the same.
constexpr const char* kOptimized = " -O3";

/// Sources in scope with their compile commands, which end before input and output.
std::map<std::string, std::string> compile_commands(const Options& options) {
  std::map<std::string, std::string> commands;
  const auto database = nlohmann::json::parse(sonde::read_file(kBuild / "compile_commands.json"));
  for (const auto& entry : database) {
    const std::string file =
        fs::path(entry.at("file")).lexically_relative(kSource).generic_string();
    const bool wanted =
        std::any_of(std::begin(kSuites), std::end(kSuites),
                    [&](const Suite& suite) { return file.rfind(suite.files, 0) == 0; });
    if (!wanted || kLeftOut.contains(file) || file.rfind(options.only, 0) != 0) continue;
    std::string command = entry.at("command");
    command = command.substr(0, command.find(" -o "));
    if (command.find("ccache ") < command.find(' ') + 1) command.erase(0, command.find(' ') + 1);
    commands[file] = command + " -w";
  }
  return commands;
}

/// Links of the test programs, with @OBJECT@ before everything else and @OUT@ as the program.
std::map<std::string, std::string> link_commands() {
  const bool lld = std::system("command -v ld.lld > /dev/null") == 0;
  std::map<std::string, std::string> commands;
  for (const Suite& suite : kSuites) {
    std::string command =
        output_of(std::string("ninja -t commands ") + suite.program + " | tail -n 1");
    command = command.substr(command.find("&& ") + 3);
    command = command.substr(0, command.find(" && "));
    replace_all(command, std::string("-o tests/") + suite.program, "-o @OUT@");
    command.insert(command.find(" -o @OUT@"), " @OBJECT@");
    commands[suite.program] = command + (lld ? " -fuse-ld=lld" : "");
  }
  return commands;
}

struct Verdict {
  std::string what;  ///< killed, survived, equal (the same object code) or uncompiled
  std::string by;    ///< the test program that noticed
};

class Bench {
 public:
  explicit Bench(const Options& options)
      : compile_(compile_commands(options)), link_(link_commands()) {
    for (const auto& [file, command] : compile_) texts_[file] = sonde::read_file(kSource / file);
  }

  std::vector<Mutant> all() const {
    std::vector<Mutant> mutants;
    for (const auto& [file, command] : compile_) {
      const auto found = sonde::mutation::find_mutants(file, texts_.at(file));
      mutants.insert(mutants.end(), found.begin(), found.end());
    }
    return mutants;
  }

  /// How long each suite takes without a mutant. Throws when one fails.
  void time_suites() {
    for (const Suite& suite : kSuites) {
      const std::string key = std::string(suite.program) + suite.filter;
      const bool used = std::any_of(compile_.begin(), compile_.end(), [&](const auto& file) {
        return file.first.rfind(suite.files, 0) == 0;
      });
      if (limits_.contains(key) || !used) continue;
      const auto begin = std::chrono::steady_clock::now();
      if (!runs(kBuild / "tests" / suite.program, suite, kWork, 300))
        throw std::runtime_error(std::string(suite.program) + " fails without a mutant");
      const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
      limits_[key] = 10 + 5 * static_cast<int>(std::ceil(took.count()));
    }
  }

  /// Object of a file as it is.
  std::string original(const std::string& file, const char* how, const fs::path& folder) {
    const std::lock_guard lock(mutex_);
    std::string& object = originals_[{file, how}];
    if (object.empty()) {
      if (!compile(file, texts_.at(file), folder, how))
        throw std::runtime_error(file + " does not compile");
      object = sonde::read_file(folder / "mutant.o");
    }
    return object;
  }

  Verdict judge(const Mutant& mutant, const fs::path& folder) {
    const std::string& text = texts_.at(mutant.file);
    const std::string changed = sonde::mutation::apply(text, mutant);
    const std::string checked = original(mutant.file, kChecked, folder);
    if (!compile(mutant.file, changed, folder, kChecked)) return {"uncompiled", ""};
    if (sonde::read_file(folder / "mutant.o") == checked) return {"equal", ""};
    for (const Suite& suite : kSuites) {
      if (mutant.file.rfind(suite.files, 0) != 0) continue;
      if (!passes(suite, folder)) return {"killed", suite.program};
    }
    const std::string optimized = original(mutant.file, kOptimized, folder);
    const bool equal = compile(mutant.file, changed, folder, kOptimized) &&
                       sonde::read_file(folder / "mutant.o") == optimized;
    return {equal ? "equal" : "survived", ""};
  }

 private:
  bool compile(const std::string& file, const std::string& text, const fs::path& folder,
               const char* how) {
    const fs::path source = folder / "mutant.cpp";
    std::ofstream(source) << text;
    fs::remove(folder / "mutant.o");
    return shell(compile_.at(file) + how + " -o " + quoted(folder / "mutant.o") + " -c " +
                 quoted(source)) == 0;
  }

  bool passes(const Suite& suite, const fs::path& folder) {
    std::string link = link_.at(suite.program);
    const fs::path program = folder / suite.program;
    replace_all(link, "@OBJECT@", quoted(folder / "mutant.o"));
    replace_all(link, "@OUT@", quoted(program));
    if (shell(link) != 0) throw std::runtime_error("failed: " + link);
    return runs(program, suite, folder, limits_.at(std::string(suite.program) + suite.filter));
  }

  /// An endless loop or a flood of memory is noticed like a failed test.
  static bool runs(const fs::path& program, const Suite& suite, const fs::path& folder,
                   int limit_s) {
    fs::remove_all(folder / "tmp");
    fs::create_directories(folder / "tmp");
    return shell("ulimit -v 4000000; cd " + quoted(folder / "tmp") +
                 " && TMPDIR=" + quoted(folder / "tmp") + " timeout -s KILL " +
                 std::to_string(limit_s) + " " + quoted(program) +
                 " --gtest_brief=1 --gtest_fail_fast --gtest_filter='" + suite.filter + "'") == 0;
  }

  std::map<std::string, std::string> compile_, link_, texts_;
  std::map<std::pair<std::string, std::string>, std::string> originals_;  ///< by file and how
  std::map<std::string, int> limits_;
  std::mutex mutex_;
};

/// Wilson's interval of a share, 95 %.
std::pair<double, double> wilson(double part, double whole) {
  constexpr double z = 1.959964;
  const double p = part / whole, scale = 1 + z * z / whole;
  const double middle = p + z * z / (2 * whole);
  const double half = z * std::sqrt(p * (1 - p) / whole + z * z / (4 * whole * whole));
  return {(middle - half) / scale, (middle + half) / scale};
}

std::string line_of(std::size_t index, const Mutant& mutant, const Verdict& verdict) {
  std::string change = mutant.from + " -> " + mutant.to;
  std::replace(change.begin(), change.end(), '\n', ' ');
  return std::to_string(index) + "," + mutant.file + "," + std::to_string(mutant.line) + "," +
         mutant.kind + "," + sonde::quote_cell(change) + "," + verdict.what + "," + verdict.by;
}

constexpr const char* kHeader = "sample,file,line,kind,change,verdict,killed_by";

/// Verdicts of a stopped run over the same sources and seed.
class Progress {
 public:
  Progress(const Options& options, const std::vector<Mutant>& order) : order_(order) {
    std::size_t check = std::hash<std::string>{}(options.only) ^ options.seed;
    for (const Mutant& m : order)
      check = sonde::mix64(check ^ std::hash<std::string>{}(m.file + m.from + m.to) ^ m.at);
    path_ = kWork / ("progress-" + std::to_string(check) + ".csv");
    std::ifstream stored(path_);
    for (std::string line; std::getline(stored, line);) {
      std::istringstream cells(line);
      std::size_t index = 0;
      Verdict verdict;
      if (cells >> index >> verdict.what && index < order.size()) {
        cells >> verdict.by;
        verdicts_[index] = verdict;
      }
    }
  }
  void forget_survivors() {
    std::erase_if(verdicts_, [](const auto& v) { return v.second.what == "survived"; });
  }
  bool known(std::size_t index) const {
    const std::lock_guard lock(mutex_);
    return verdicts_.contains(index);
  }
  void add(std::size_t index, const Verdict& verdict) {
    const std::lock_guard lock(mutex_);
    verdicts_[index] = verdict;
    std::ofstream(path_, std::ios::app)
        << index << " " << verdict.what << " " << verdict.by << std::endl;
    if (verdict.what == "killed" || verdict.what == "survived") {
      std::printf("%s\n", line_of(index, order_[index], verdict).c_str());
      std::fflush(stdout);
    }
  }
  /// The first `most` that count, in the order of the sample; shorter while some are missing.
  std::vector<std::size_t> counted(std::size_t most) const {
    const std::lock_guard lock(mutex_);
    std::vector<std::size_t> indices;
    std::size_t next = 0;
    for (const auto& [index, verdict] : verdicts_) {
      if (index != next++ || indices.size() == most) break;
      if (verdict.what == "killed" || verdict.what == "survived") indices.push_back(index);
    }
    return indices;
  }
  const Verdict& verdict(std::size_t index) const { return verdicts_.at(index); }
  const fs::path& path() const { return path_; }

 private:
  const std::vector<Mutant>& order_;
  fs::path path_;
  std::map<std::size_t, Verdict> verdicts_;
  mutable std::mutex mutex_;
};

int run(const Options& options) {
  fs::create_directories(kWork);
  Bench bench(options);
  bench.time_suites();
  std::vector<Mutant> order = bench.all();
  std::printf("%zu possible mutants\n", order.size());
  sonde::Rng rng(options.seed);
  sonde::shuffle(order, rng);
  Progress progress(options, order);
  if (options.again) progress.forget_survivors();

  std::atomic<std::size_t> next{0};
  std::atomic<bool> failed{false};
  const auto work = [&](unsigned job) {
    const fs::path folder = kWork / ("job" + std::to_string(job));
    fs::create_directories(folder);
    try {
      while (!failed && progress.counted(options.mutants).size() < options.mutants) {
        const std::size_t index = next++;
        if (index >= order.size()) return;
        if (!progress.known(index)) progress.add(index, bench.judge(order[index], folder));
      }
    } catch (const std::exception& error) {
      std::fprintf(stderr, "%s\n", error.what());
      failed = true;
    }
  };
  std::vector<std::thread> jobs;
  for (unsigned job = 0; job < options.jobs; ++job) jobs.emplace_back(work, job);
  for (std::thread& job : jobs) job.join();
  if (failed) return 1;

  const std::vector<std::size_t> counted = progress.counted(options.mutants);
  std::string csv = std::string(kHeader) + "\n";
  std::size_t killed = 0;
  std::map<std::string, std::pair<int, int>> kinds;  // killed of how many
  for (const std::size_t index : counted) {
    csv += line_of(index, order[index], progress.verdict(index)) + "\n";
    const bool noticed = progress.verdict(index).what == "killed";
    killed += noticed;
    kinds[order[index].kind].first += noticed;
    ++kinds[order[index].kind].second;
  }
  for (const auto& [kind, count] : kinds) {
    std::printf("%-12s %3d of %3d\n", kind.c_str(), count.first, count.second);
  }
  const auto [low, high] = wilson(static_cast<double>(killed), static_cast<double>(counted.size()));
  const double share = static_cast<double>(killed) / static_cast<double>(counted.size());
  std::printf("killed %zu of %zu: %.1f %% (95 %%: %.1f to %.1f %%), target %.0f %%\n", killed,
              counted.size(), 100 * share, 100 * low, 100 * high, 100 * kTarget);
  // A part of the sample, or of the sources, is no score.
  if (counted.size() == kUsualMutants && options.only.empty()) {
    sonde::write_file_atomically(kSource / "data/score/mutation.csv", csv);
    fs::remove(progress.path());
  }
  return share >= kTarget ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  Options options;
  for (int i = 1; i + 1 < argc; i += 2) {
    const std::string name = argv[i], value = argv[i + 1];
    if (name == "--mutants") options.mutants = std::stoul(value);
    if (name == "--seed") options.seed = std::stoull(value);
    if (name == "--jobs") options.jobs = static_cast<unsigned>(std::stoul(value));
    if (name == "--only") options.only = value;
    if (name == "--again") options.again = value == "survivors";
  }
  return run(options);
}
