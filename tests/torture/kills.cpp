// Signals at random moments of a campaign, several in a row on one directory, also while it
// resumes: nothing stored is lost, nobody survives, and the resume ends with the same files.
#include <cstdio>
#include <map>

#include "tests/support/disturb.h"

namespace {

using namespace sonde;

constexpr int kMoments = 200;
constexpr std::uint64_t kSeed = 10;

struct Count {
  int struck = 0;
  int in_time = 0;
  std::map<int, int> exits;
};

}  // namespace

int main() {
  std::setvbuf(stdout, nullptr, _IOLBF, 0);
  test::TemporaryDirectory scratch;
  const test::SmallCampaign campaign(scratch.path());
  std::printf("undisturbed: %.2f s, %zu files of rows\n", campaign.seconds(),
              campaign.rows().size());
  Rng rng(kSeed);
  std::map<std::string, Count> counts;
  int problems = 0, directories = 0, in_a_row = 0;
  const auto report = [&](const std::string& what, const std::string& problem) {
    if (problem.empty()) return;
    ++problems;
    std::printf("BROKEN after %s: %s\n", what.c_str(), problem.c_str());
  };
  for (int moment = 0; moment < kMoments;) {
    const std::filesystem::path run = scratch / std::to_string(moment) / "run";
    ++directories;
    // One blow in two is followed by another on the same directory.
    std::string history;
    do {
      const test::Blow& blow = test::kBlowKinds[moment % test::kBlows];
      const double at = static_cast<double>(rng.below(1'000'000)) * 1e-6 * campaign.seconds();
      const test::Struck struck = test::strike(campaign, run, blow, at, rng);
      Count& count = counts[blow.name];
      ++count.struck;
      count.in_time += struck.in_time;
      ++count.exits[struck.exit_code];
      if (!history.empty()) ++in_a_row;
      history += std::string(history.empty() ? "" : ", then ") + blow.name;
      report(history, struck.problem);
      ++moment;
    } while (moment < kMoments && rng.below(2) == 0);
    report(history + ", then the resume", test::finish(campaign, run));
    std::error_code ignored;
    std::filesystem::remove_all(run.parent_path(), ignored);
  }
  std::printf("%-15s %7s %8s  exits of the front (-1: ended by the signal)\n", "blow", "struck",
              "at work");
  for (const auto& [name, count] : counts) {
    // A signal that is not noticed ends as if nothing had been.
    const auto unmoved = count.exits.find(0);
    if (unmoved != count.exits.end() && 2 * unmoved->second > count.struck) {
      report(name, "most were not noticed");
    }
    std::printf("%-15s %7d %8d ", name.c_str(), count.struck, count.in_time);
    for (const auto& [code, times] : count.exits) std::printf(" %d: %d", code, times);
    std::printf("\n");
  }
  std::printf("%d moments on %d directories, %d of them during a resume; %d broken\n", kMoments,
              directories, in_a_row, problems);
  return problems == 0 ? 0 : 1;
}
