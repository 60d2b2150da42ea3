// How fast the simulator itself is, on one core of this computer.
#include <benchmark/benchmark.h>

#include <algorithm>

#include "device/registry.h"
#include "device/sim/chase.h"
#include "gemm_sweep/shapes.h"

namespace sonde::sim {
namespace {

using benchmark::Counter;

/// One core alone on a chain of state.range(0) bytes, one lap after the warm one.
void lone_loads(benchmark::State& state) {
  const Chip chip = load_chip("950pr_9579");
  const Topology topology(chip);
  const AddressMap map(chip);
  ChaseWork work;
  work.cores = {{"vector", 0}};
  work.footprint_bytes = state.range(0);
  work.loads = std::max<std::int64_t>(work.footprint_bytes / chip.data_cache.line_bytes, 1 << 20);
  const Chains chains(chip, map, work);
  for (auto _ : state) benchmark::DoNotOptimize(chains.lone(topology.cores().front()));
  state.counters["loads/s"] =
      Counter(static_cast<double>(work.loads), Counter::kIsIterationInvariantRate);
}
BENCHMARK(lone_loads)->Arg(16 << 10)->Arg(1 << 20)->Arg(128 << 20)->Unit(benchmark::kMillisecond);

/// A launch of state.range(0) blocks that wait for each other, load by load.
void contended_requests(benchmark::State& state) {
  const Chip chip = load_chip("950pr_9579");
  const Topology topology(chip);
  const AddressMap map(chip);
  ChaseWork work;
  work.blocks = state.range(0);
  work.kind = "vector";
  work.footprint_bytes = 1 << 20;
  work.loads = 4096;
  work.warm = false;
  const Chains chains(chip, map, work);
  for (auto _ : state) {
    const BlockScheduler scheduler(topology.block_order("vector"), work.blocks, chip.wave_cost);
    benchmark::DoNotOptimize(
        run_launch(chip, topology, scheduler, work.blocks, work.loads, chains).elapsed);
  }
  state.counters["requests/s"] =
      Counter(static_cast<double>(work.blocks * work.loads), Counter::kIsIterationInvariantRate);
}
BENCHMARK(contended_requests)->Arg(2)->Arg(56)->Arg(112)->Unit(benchmark::kMillisecond);

/// The standard sweep through the device, a sample of each shape, nothing kept from before.
void gemm_sweep(benchmark::State& state) {
  for (auto _ : state) {
    const auto device = open_device("sim:950pr_9579");
    for (const Shape& shape : standard_shapes()) {
      device->gemm()->prepare(work_of(shape));
      benchmark::DoNotOptimize(device->gemm()->run({}).elapsed);
    }
  }
  state.counters["shapes"] = static_cast<double>(standard_shapes().size());
}
BENCHMARK(gemm_sweep)->Unit(benchmark::kMillisecond);

/// Every core alone over the whole chain of the address profile, as a chase and as a profile.
void all_cores_over_the_chain(benchmark::State& state) {
  const auto device = open_device("sim:950pr_9579");
  const DeviceDescription& d = device->description();
  for (auto _ : state) {
    for (const CoreName& core : d.cores) {
      ChaseWork chase;
      chase.cores = {core};
      chase.footprint_bytes = d.profile_bytes;
      chase.loads = chase.footprint_bytes / d.chase_line_bytes;
      device->chase()->prepare(chase);
      benchmark::DoNotOptimize(device->chase()->run({}).elapsed);
    }
  }
  state.counters["cores"] = static_cast<double>(d.cores.size());
}
BENCHMARK(all_cores_over_the_chain)->Unit(benchmark::kSecond)->Iterations(1);

}  // namespace
}  // namespace sonde::sim
