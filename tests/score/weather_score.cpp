// Drift, throttling episodes and steps of the clock, planted in the simulator, must not become
// structure: what the probes and a report find under each is held against the same device without.
// docs/trust.md quotes the table.
#include <fmt/format.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <set>

#include "report/compare.h"
#include "report/findings.h"
#include "tests/support/programs.h"

namespace sonde {
namespace {

/// One question to the suite: which probe, on which device, and what in its findings is structure.
struct Question {
  const char* name;
  const char* device;  ///< {} is the seed of a random chip
  std::vector<std::vector<std::string>> commands;
  std::vector<std::string> structure;  ///< beginnings of names of findings
};

const std::vector<Question>& questions() {
  static const std::vector<Question> all = {
      {"topology of a chip without structure",
       "sim:random?seed={}&structure=none",
       {{"sonde-profile", "--addresses", "256", "--repetitions", "1"},
        {"sonde-interfere", "--repetitions", "3"}},
       {"topology."}},
      {"copies without a switch",
       "sim:h100_sxm?fault=none",
       {{"sonde-copy"}},
       {"copy.switch", "copy.class"}},
      {"copies with a switch",
       "sim:950pr_9579?fault=none",
       {{"sonde-copy"}},
       {"copy.switch_bytes", "copy.class"}},
      {"levels and waves of a chase",
       "sim:950pr_9579?fault=none",
       {{"sonde-chase"}},
       {"chase.level", "chase.wave"}},
      {"patterns of a GEMM sweep",
       "sim:950pr_9579?fault=none",
       {{"sonde-gemm", "--quick"}},
       {"gemm.pattern", "gemm.impossible"}}};
  return all;
}

/// Small chips only: a score, not a campaign.
constexpr std::size_t kMostCores = 24;

struct Answer {
  std::set<std::string> names;  ///< of structure
  std::map<std::string, std::pair<double, double>> brackets;
  std::int64_t rows = 0, throttled = 0;
};

StoredRun measure(const std::filesystem::path& scratch, const Question& question,
                  const std::string& device, const std::string& order, std::uint64_t seed) {
  const std::filesystem::path out = scratch / "run";
  std::filesystem::remove_all(out);
  for (std::vector<std::string> command : question.commands) {
    for (const std::string& word :
         {std::string("--device"), device, std::string("--order"), order, std::string("--seed"),
          std::to_string(seed), std::string("--no-progress"), std::string("--out"), out.string()}) {
      command.push_back(word);
    }
    const test::Result result = test::run(scratch, command);
    if (result.exit_code != 0) throw std::runtime_error(command[0] + ": " + result.err);
  }
  return load_run(out, {});
}

Answer ask(const StoredRun& run, const Question& question, bool drifts = false) {
  Answer answer;
  for (const Finding& finding : find_findings(analyse_run(run))) {
    for (const std::string& beginning : question.structure) {
      if (!finding.name.starts_with(beginning)) continue;
      if (finding.name.ends_with("_cost_ns") || finding.name.find("_dip_") != std::string::npos) {
        continue;
      }
      // A drift makes the chip faster than its datasheet now and then, which is said.
      if (finding.name == "gemm.impossible_shapes" && drifts) continue;
      // Impossible shapes are counted: none is no structure.
      if (finding.name == "gemm.impossible_shapes" && finding.value.value_or(0) == 0) continue;
      answer.names.insert(finding.name);
      if (finding.position && finding.low && finding.high) {
        answer.brackets[finding.name] = {*finding.low, *finding.high};
      }
    }
  }
  for (const ProbeRows& probe : run.probes) {
    if (!probe.table) continue;
    for (const Row& row : probe.table->rows.whole()) {
      ++answer.rows;
      answer.throttled += row.status == Status::throttled ? 1 : 0;
    }
  }
  return answer;
}

/// What is found under weather and not without it, or elsewhere: brackets must meet.
int made_up(const Answer& quiet, const Answer& found) {
  int count = 0;
  for (const std::string& name : found.names) {
    const auto here = found.brackets.find(name), there = quiet.brackets.find(name);
    const bool elsewhere =
        here != found.brackets.end() && there != quiet.brackets.end() &&
        (here->second.second < there->second.first || here->second.first > there->second.second);
    count += !quiet.names.contains(name) || elsewhere ? 1 : 0;
  }
  return count;
}

struct Tally {
  int runs = 0, wrong = 0, kept = 0, planted = 0;
  std::int64_t rows = 0, throttled = 0;
  std::int64_t compared = 0, called = 0, by_clock = 0;
};

std::string device_of(const Question& question, std::uint64_t seed, const std::string& noise) {
  std::string device = question.device;
  if (const auto at = device.find("{}"); at != std::string::npos) {
    device.replace(at, 2, std::to_string(seed));
  }
  return device + "&noise=" + noise;
}

int score(int part, const std::string& only) {
  const test::TemporaryDirectory scratch;
  std::ofstream file(SONDE_SOURCE_DIR "/data/score/weather.csv");
  const auto say = [&](const std::string& line) {
    file << line;
    std::fputs(line.c_str(), stdout);
    std::fflush(stdout);
  };
  say("question,weather,order,runs,runs_with_made_up,planted,kept,rows,throttled_rows,"
      "compared,called_by_compare,of_these_by_the_clock\n");
  int wrong = 0;
  for (const Question& question : questions()) {
    if (!only.empty() && std::string(question.name).find(only) == std::string::npos) continue;
    const bool random = std::string(question.device).find("{}") != std::string::npos;
    std::vector<std::uint64_t> seeds;
    for (std::uint64_t seed = 1; seeds.size() < static_cast<std::size_t>((random ? 20 : 8) / part);
         ++seed) {
      if (random) {
        const test::Result listed = test::run(
            scratch.path(), {"sonde-profile", "--device", device_of(question, seed, "off"),
                             "--dry-run", "--no-progress"});
        if (static_cast<std::size_t>(test::count_lines(listed.out)) > kMostCores + 1) continue;
      }
      seeds.push_back(seed);
    }
    std::map<std::uint64_t, Answer> quiet;  // one where all seeds are of one chip
    for (const char* noise : {"on", "on+drift", "on+episodes", "on+steps"}) {
      for (const char* order : {"random", "listed"}) {
        Tally tally;
        std::optional<StoredRun> before;
        for (const std::uint64_t seed : seeds) {
          const std::uint64_t chip = random ? seed : 0;
          if (!quiet.contains(chip)) {
            quiet[chip] = ask(
                measure(scratch.path(), question, device_of(question, seed, "off"), "random", seed),
                question);
          }
          StoredRun run =
              measure(scratch.path(), question, device_of(question, seed, noise), order, seed);
          const Answer answer = ask(run, question, std::string(noise) == "on+drift");
          ++tally.runs;
          tally.wrong += made_up(quiet[chip], answer) > 0 ? 1 : 0;
          for (const std::string& name : quiet[chip].names) {
            ++tally.planted;
            tally.kept += answer.names.contains(name) ? 1 : 0;
          }
          tally.rows += answer.rows;
          tally.throttled += answer.throttled;
          if (before && !random) {
            const Comparison compared = compare_runs(*before, run, {});
            for (const PointComparison& point : compared.points) {
              tally.compared += point.p ? 1 : 0;
              if (point.verdict != Verdict::slower && point.verdict != Verdict::faster) continue;
              ++tally.called;
              tally.by_clock += point.clock_explains ? 1 : 0;
            }
          }
          before = std::move(run);
        }
        // A ladder taken in order by a clock that steps in the middle of it is a jump: why the
        // usual order is random.
        const bool limit = std::string(noise) == "on+steps" && std::string(order) == "listed";
        wrong += limit ? 0 : tally.wrong;
        say(fmt::format("{},{},{},{},{},{},{},{},{},{},{},{}\n", question.name, noise, order,
                        tally.runs, tally.wrong, tally.planted, tally.kept, tally.rows,
                        tally.throttled, tally.compared, tally.called, tally.by_clock));
      }
    }
  }
  std::printf("%d runs found something that weather made\n", wrong);
  return wrong > 0 || !file.flush() ? 1 : 0;
}

}  // namespace
}  // namespace sonde

/// Arguments: divide the number of runs; only questions whose name holds a word.
int main(int argc, char** argv) {
  return sonde::score(argc > 1 ? std::max(1, std::atoi(argv[1])) : 1, argc > 2 ? argv[2] : "");
}
