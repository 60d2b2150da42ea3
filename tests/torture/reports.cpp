// A report with the real gnuplot that is stopped at random moments: exit 3, no gnuplot lives on,
// no draft stays, and the next report is whole.
#include <signal.h>

#include <chrono>
#include <cstdio>
#include <thread>

#include "core/rng.h"
#include "tests/support/disturb.h"

int main() {
  std::setvbuf(stdout, nullptr, _IOLBF, 0);
  using namespace sonde;
  using Clock = std::chrono::steady_clock;
  constexpr int kMoments = 60;
  constexpr int kSignals[] = {SIGINT, SIGTERM, SIGHUP, SIGKILL};
  const test::TemporaryDirectory scratch;
  const test::SmallCampaign campaign(scratch.path());
  const std::filesystem::path run = scratch / "undisturbed" / "run";
  const std::vector<std::string> command = {"sonde-report", "--run", run.string()};
  const auto begin = Clock::now();
  if (test::run(scratch.path(), command).exit_code != 0) return 1;
  const double whole = std::chrono::duration<double>(Clock::now() - begin).count();
  Rng rng(3);
  int problems = 0, stopped = 0;
  double slowest = 0;
  for (int moment = 0; moment < kMoments; ++moment) {
    const int signal = kSignals[moment % 4];
    const std::string problem = [&]() -> std::string {
      const test::Stopped end = test::stop_report(
          scratch.path(), run, signal, static_cast<double>(rng.below(1000)) * 1e-3 * whole);
      stopped += end.in_time;
      slowest = std::max(slowest, end.seconds);
      return end.problem;
    }();
    if (problem.empty()) continue;
    ++problems;
    std::printf("BROKEN by signal %d: %s\n", signal, problem.c_str());
  }
  const test::Result last = test::run(scratch.path(), command);
  const bool whole_again = last.exit_code == 0 && test::leftovers(run).empty();
  std::printf(
      "a report of %.2f s: %d moments, %d while it was at work, longest end %.2f s; "
      "%d broken; the last one is %s\n",
      whole, kMoments, stopped, slowest, problems, whole_again ? "whole" : "NOT WHOLE");
  return problems == 0 && whole_again ? 0 : 1;
}
