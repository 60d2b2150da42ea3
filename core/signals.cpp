#include "core/signals.h"

#include <atomic>
#include <csignal>
#include <initializer_list>
#include <string>

#include "core/error.h"

namespace sonde {
namespace {

// A signal may arrive on one thread while another asks: sig_atomic_t holds within one thread alone.
std::atomic<int> g_signal{0};
static_assert(std::atomic<int>::is_always_lock_free, "what a signal handler may touch");

extern "C" void on_signal(int number) {
  g_signal = number;
  std::signal(number, SIG_DFL);  // the next one ends the program
}

}  // namespace

void catch_signals() {
  struct sigaction action {};
  action.sa_handler = on_signal;
  sigemptyset(&action.sa_mask);
  for (int number : {SIGINT, SIGTERM, SIGHUP}) {
    struct sigaction before {};
    // nohup leaves SIGHUP ignored on purpose.
    if (sigaction(number, nullptr, &before) == 0 && before.sa_handler != SIG_IGN) {
      sigaction(number, &action, nullptr);
    }
  }
  std::signal(SIGPIPE, SIG_IGN);
}

int caught_signal() { return g_signal; }

void stop_if_interrupted() {
  if (g_signal != 0) {
    throw Error(ExitCode::interrupted, "interrupted by signal " + std::to_string(g_signal.load()));
  }
}

}  // namespace sonde
