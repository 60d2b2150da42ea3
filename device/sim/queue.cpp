#include "device/sim/queue.h"

#include <algorithm>
#include <cstddef>
#include <functional>
#include <queue>

namespace sonde::sim {

namespace {

/// The next thing that happens on a core: it issues a load, or, after the last, it is free.
struct Event {
  Ticks time;
  int core;
  bool operator>(const Event& other) const {
    return time != other.time ? time > other.time : core > other.core;
  }
};

struct Running {
  std::int64_t block = 0;
  std::int64_t index = 0;  ///< of the next load
};

}  // namespace

Ticks ServerPool::admit(Ticks arrival) {
  const auto soonest = std::min_element(free_at_.begin(), free_at_.end());
  const Ticks start = std::max(arrival, *soonest);
  *soonest = start + service_;
  busy_ += service_;
  ++served_;
  return start;
}

Launch run_launch(const Chip& chip, const Topology& topology, BlockScheduler scheduler,
                  std::int64_t blocks, std::int64_t loads, const LoadSource& source) {
  Launch launch;
  launch.core.resize(static_cast<std::size_t>(blocks));
  launch.start.resize(static_cast<std::size_t>(blocks));
  launch.end.resize(static_cast<std::size_t>(blocks));
  std::vector<ServerPool> ports(static_cast<std::size_t>(topology.groups()),
                                ServerPool(chip.group_port.servers, chip.group_port.service));
  std::vector<Running> running(topology.cores().size());
  std::priority_queue<Event, std::vector<Event>, std::greater<>> events;

  const auto begin = [&](const BlockStart& start) {
    const auto block = static_cast<std::size_t>(start.block);
    launch.core[block] = start.core;
    launch.start[block] = start.time;
    running[static_cast<std::size_t>(start.core)] = {start.block, 0};
    events.push({start.time, start.core});
  };
  for (const BlockStart& start : scheduler.first_wave()) begin(start);

  while (!events.empty()) {
    const Event event = events.top();
    events.pop();
    Running& on = running[static_cast<std::size_t>(event.core)];
    if (on.index == loads) {
      launch.end[static_cast<std::size_t>(on.block)] = event.time;
      launch.elapsed = std::max(launch.elapsed, event.time);
      if (const auto next = scheduler.on_free(event.core, event.time)) begin(*next);
      continue;
    }
    const CoreSite& site = topology.cores()[static_cast<std::size_t>(event.core)];
    const Load load = source.load(site, on.block, on.index++);
    Ticks begins = event.time;
    if (load.port) begins = ports[static_cast<std::size_t>(site.group)].admit(event.time);
    launch.waited += begins - event.time;
    events.push({begins + load.latency, event.core});
  }
  for (const ServerPool& port : ports) launch.port_busy.push_back(port.busy());
  return launch;
}

}  // namespace sonde::sim
