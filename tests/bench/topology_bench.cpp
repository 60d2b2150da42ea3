// Inference alone: levels of address profiles of many cores.
#include <benchmark/benchmark.h>

#include "core/rng.h"
#include "topology/levels.h"

namespace sonde {
namespace {

/// Two dies, groups of eight, pairs; noise of 2 %.
ProfileTable profiles(std::size_t cores, std::size_t addresses) {
  Rng rng(key_of({cores, addresses}));
  const auto gauss = [&] { return static_cast<double>(rng.gaussian_q16()) / 65536; };
  ProfileTable table;
  table.latency_ns = Matrix(addresses, cores);
  std::vector<double> home(addresses);
  for (std::size_t a = 0; a < addresses; ++a) {
    table.addresses.push_back(static_cast<std::int64_t>(a) * 64);
    home[a] = 140 + 10 * gauss() + (rng.below(2) == 1 ? 180 : 0);
  }
  for (const auto& [size, ns] : {std::pair<std::size_t, double>{cores / 2, 16}, {8, 6}, {2, 4}}) {
    std::vector<double> pattern(addresses);
    for (std::size_t c = 0; c < cores; ++c) {
      if (c % size == 0) {
        for (double& value : pattern) value = ns * gauss();
      }
      for (std::size_t a = 0; a < addresses; ++a) table.latency_ns(a, c) += pattern[a];
    }
  }
  for (std::size_t c = 0; c < cores; ++c) {
    table.cores.push_back({"sm", static_cast<int>(c)});
    for (std::size_t a = 0; a < addresses; ++a) {
      table.latency_ns(a, c) = (table.latency_ns(a, c) + home[a]) * (1 + 0.02 * gauss());
    }
  }
  return table;
}

void infer(benchmark::State& state) {
  const ProfileTable table =
      profiles(static_cast<std::size_t>(state.range(0)), static_cast<std::size_t>(state.range(1)));
  std::size_t levels = 0;
  for (auto _ : state) levels = find_levels(*profile_evidence(table), 1).size();
  state.counters["levels"] = static_cast<double>(levels);
}
BENCHMARK(infer)->Args({84, 4096})->Args({1024, 4096})->Unit(benchmark::kSecond)->Iterations(1);

}  // namespace
}  // namespace sonde
