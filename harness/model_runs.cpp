#include "harness/model_runs.h"

#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <sstream>
#include <thread>

#include "core/csv_reader.h"
#include "core/error.h"
#include "core/files.h"
#include "core/parse.h"
#include "core/process.h"
#include "core/signals.h"
#include "core/statistics.h"

namespace sonde {
namespace {

/// How long one child may take before it is taken for hung.
constexpr auto kChildLimit = std::chrono::seconds(300);
/// In the order of a campaign.
constexpr const char* kProbes[] = {"chase", "profile", "interfere", "stream", "copy", "gemm"};

std::vector<std::string> words_of(const std::string& command) {
  std::istringstream text(command);
  std::vector<std::string> words;
  for (std::string word; text >> word;) words.push_back(word);
  return words;
}

/// How a child ended, in words; empty: well.
struct Ended {
  std::string problem;
  int exit_code = -1;
};

/// Runs a program of the suite with its standard error in `log` and its standard output nowhere.
Ended run_quietly(const std::string& name, const std::vector<std::string>& arguments,
                  const std::filesystem::path& log) {
  const int fd = ::open(log.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  if (fd < 0) throw OutputError(log.string() + ": cannot be written: " + std::strerror(errno));
  pid_t child = 0;
  try {
    child = spawn({program_directory() / name, arguments, {}}, fd);
  } catch (...) {
    ::close(fd);
    throw;
  }
  ::close(fd);
  const auto limit = std::chrono::steady_clock::now() + kChildLimit;
  bool timed_out = false;
  int status = 0;
  while (::waitpid(child, &status, WNOHANG) != child) {
    timed_out = timed_out || std::chrono::steady_clock::now() > limit;
    // Its rows are thrown away: nothing is lost by ending it at once.
    if (timed_out || caught_signal() != 0) ::kill(-child, SIGKILL);
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
  if (timed_out) return {name + ": ended after its time limit", -1};
  if (WIFSIGNALED(status)) {
    return {name + ": killed by signal " + std::to_string(WTERMSIG(status)), -1};
  }
  const int code = WEXITSTATUS(status);
  if (code == 0) return {"", 0};
  std::string said = read_file(log);
  while (!said.empty() && said.back() == '\n') said.pop_back();
  said.erase(0, said.rfind('\n') + 1);
  return {name + ": exit " + std::to_string(code) + (said.empty() ? "" : ": " + said), code};
}

}  // namespace

struct ModelRuns::Run {
  std::string device;
  std::string command;           ///< empty: the quick run of `probes`
  std::set<std::string> probes;  ///< of the quick run
  bool tree = false, findings = false;
  std::filesystem::path dir;
  std::vector<std::string> problems;
  std::optional<StoredRun> stored;
  std::size_t steps() const { return probes.size() + (findings ? 2 : 0); }
};

ModelRuns::ModelRuns(const std::string& seed) : seed_(seed) {
  std::error_code error;
  const std::filesystem::path folder = std::filesystem::temp_directory_path(error);
  if (error) {
    const char* chosen = std::getenv("TMPDIR");
    throw OutputError("TMPDIR " + std::string(chosen == nullptr ? "/tmp" : chosen) + ": " +
                      error.message());
  }
  std::string pattern = (folder / "sonde-check-model-XXXXXX").string();
  if (::mkdtemp(pattern.data()) == nullptr) {
    throw OutputError(pattern + ": cannot be created: " + std::strerror(errno));
  }
  root_ = pattern;
}

ModelRuns::~ModelRuns() {
  std::error_code ignored;
  std::filesystem::remove_all(root_, ignored);
}

ModelRuns::Run& ModelRuns::run_of(const std::string& device, const std::string& command) {
  Run& run = runs_[{device, command}];
  if (run.dir.empty()) {
    run.device = device;
    run.command = command;
    run.dir = root_ / ("run" + std::to_string(runs_.size()));
  }
  return run;
}

void ModelRuns::ask(const std::string& device, const std::string& probe, Need need) {
  Run& run = run_of(device, "");
  run.probes.insert(probe);
  run.tree = run.tree || need == Need::tree;
  run.findings = run.findings || need == Need::findings;
}

void ModelRuns::ask_command(const std::string& device, const std::string& command, Need need) {
  Run& run = run_of(device, command);
  run.findings = run.findings || need == Need::findings;
}

void ModelRuns::execute(Run& run) const {
  const std::filesystem::path log = run.dir.string() + ".log";
  const auto step = [&](const std::string& name, const std::vector<std::string>& arguments) {
    if (caught_signal() != 0) return Ended{"", 0};
    return run_quietly("sonde-" + name, arguments, log);
  };
  const auto note = [&](const Ended& ended) {
    if (!ended.problem.empty()) run.problems.push_back(run.device + ": " + ended.problem);
  };
  const std::vector<std::string> common = {"--device", run.device,       "--seed",       seed_,
                                           "--out",    run.dir.string(), "--no-progress"};
  if (run.command.empty()) {
    for (const char* probe : kProbes) {
      if (!run.probes.contains(probe)) continue;
      std::vector<std::string> words = common;
      words.emplace_back("--quick");
      note(step(probe, words));
    }
  } else {
    std::vector<std::string> words = words_of(run.command);
    const std::string probe = words.front();
    words.erase(words.begin());
    words.insert(words.end(), common.begin(), common.end());
    if (std::find(words.begin(), words.end(), "--repetitions") == words.end()) {
      words.insert(words.end(), {"--repetitions", std::to_string(kFewestSamples)});
    }
    note(step(probe, words));
  }
  const std::vector<std::string> reading = {"--run", run.dir.string()};
  if (run.tree) note(step("topology", reading));
  if (run.findings) {
    const Ended report = step("report", reading);
    // Findings are written before figures are drawn, and only figures need gnuplot.
    const bool only_figures = report.exit_code == static_cast<int>(ExitCode::output) &&
                              std::filesystem::exists(run.dir / "report/findings.csv");
    if (!only_figures) note(report);
  }
  try {
    run.stored = load_run(run.dir, {});
  } catch (const UsageError& error) {
    if (run.problems.empty()) run.problems.push_back(run.device + ": " + error.what());
  }
}

bool ModelRuns::run(void (*announce)(const std::string&)) {
  std::vector<Run*> order;
  for (auto& entry : runs_) order.push_back(&entry.second);
  // The longest first, so that none of them is left alone at the end.
  std::stable_sort(order.begin(), order.end(),
                   [](const Run* a, const Run* b) { return a->steps() > b->steps(); });
  std::atomic<std::size_t> next = 0;
  std::mutex mutex;
  std::exception_ptr failure;
  const auto work = [&] {
    for (std::size_t i = next++; i < order.size() && caught_signal() == 0; i = next++) {
      try {
        {
          const std::lock_guard<std::mutex> lock(mutex);
          const Run& run = *order[i];
          announce(run.device + ": " + (run.command.empty() ? "quick run" : run.command) + " (" +
                   std::to_string(i + 1) + " of " + std::to_string(order.size()) + ")");
        }
        execute(*order[i]);
      } catch (...) {
        const std::lock_guard<std::mutex> lock(mutex);
        failure = std::current_exception();
        next = order.size();
      }
    }
  };
  std::vector<std::thread> workers;
  const std::size_t count = std::max(1U, std::thread::hardware_concurrency());
  for (std::size_t i = 0; i < std::min(count, order.size()); ++i) workers.emplace_back(work);
  for (std::thread& worker : workers) worker.join();
  if (failure) std::rethrow_exception(failure);
  return caught_signal() == 0;
}

std::vector<std::string> ModelRuns::problems() const {
  std::vector<std::string> all;
  for (const auto& entry : runs_) {
    for (const std::string& problem : entry.second.problems) {
      if (std::find(all.begin(), all.end(), problem) == all.end()) all.push_back(problem);
    }
  }
  return all;
}

const ModelRuns::Run& ModelRuns::done(const std::string& device, const std::string& command) const {
  return runs_.at({device, command});
}

const StoredRun& ModelRuns::stored(const std::string& device, const std::string& command) const {
  const Run& run = done(device, command);
  if (run.stored) return *run.stored;
  throw NoValue(run.problems.empty() ? run.device + ": not run" : run.problems.front());
}

ModelValue ModelRuns::finding(const std::string& device, const std::string& command,
                              const std::string& name) const {
  const Run& run = done(device, command);
  const std::filesystem::path path = run.dir / "report/findings.csv";
  if (!std::filesystem::exists(path)) {
    throw NoValue(run.problems.empty() ? run.device + ": no findings" : run.problems.front());
  }
  std::istringstream text(read_file(path));
  std::vector<std::string> header;
  for (std::string line; std::getline(text, line);) {
    std::string problem;
    const auto cells = split_record(line, &problem);
    if (!cells) throw NoValue(path.filename().string() + ": " + problem);
    if (header.empty()) {
      header = *cells;
      continue;
    }
    const auto cell = [&](const char* column) {
      const auto at = std::find(header.begin(), header.end(), column) - header.begin();
      return static_cast<std::size_t>(at) < cells->size() ? (*cells)[static_cast<std::size_t>(at)]
                                                          : std::string();
    };
    if (cell("name") != name) continue;
    const auto value = parse_number(cell("value"));
    if (!value) throw NoValue(name + " is unknown on " + device);
    return {*value, cell("unit")};
  }
  throw NoValue("no finding " + name + " on " + device);
}

std::vector<ModelRuns::PointMedian> ModelRuns::medians(const std::string& device,
                                                       const std::string& command,
                                                       const std::string& probe,
                                                       const std::string& metric) const {
  const StoredRun& run = stored(device, command);
  const ProbeRows* rows = run.probe(probe);
  const std::vector<std::string>& problems = done(device, command).problems;
  if (rows == nullptr || !rows->table) {
    throw NoValue(problems.empty() ? "no rows of " + probe + " on " + device : problems.front());
  }
  bool known = false;
  for (std::size_t i = 0; i < rows->schema->size(); ++i) {
    known = known || rows->schema->column(i).name == metric;
  }
  if (!known) throw NoValue(probe + " has no column " + metric);
  std::vector<PointMedian> all;
  const GroupedRows grouped = group_rows(*rows, run.manifest.device.time_source);
  for (const PointRows& point : grouped.points) {
    if (const auto value = median(values_of(grouped, point, metric)))
      all.push_back({point.first, *value});
  }
  if (all.empty()) {
    std::string reason;
    for (const RowView row : rows->table->rows) {
      if (!row.reason().empty()) reason = ": " + row.reason();
    }
    throw NoValue(probe + " gave no " + metric + " on " + device + reason);
  }
  return all;
}

std::vector<ModelRuns::Level> ModelRuns::tree(const std::string& device) const {
  const Run& run = done(device, "");
  const std::filesystem::path path = run.dir / "topology.json";
  if (!std::filesystem::exists(path)) {
    throw NoValue(run.problems.empty() ? device + ": no topology" : run.problems.front());
  }
  StoredTree tree = parse_tree(read_file(path), path.string());
  if (tree.levels.empty()) throw NoValue(device + ": no tree of cores: " + tree.reason);
  return std::move(tree.levels);
}

}  // namespace sonde
