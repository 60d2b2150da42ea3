#include "device/host/cores.h"

#include <algorithm>

#include "core/error.h"
#include "device/host/pin.h"

namespace sonde::host {

std::vector<int> usable_cpus(const Machine& machine, const std::vector<CoreName>& cores) {
  std::vector<int> cpus;
  for (const CoreName& core : cores) {
    if (core.kind != "cpu" ||
        !std::binary_search(machine.cpus.begin(), machine.cpus.end(), core.number)) {
      std::vector<CoreName> usable;
      for (int cpu : machine.cpus) usable.push_back(core_of(cpu));
      throw Skip(core.str() +
                 " is not among the cores this process may use: " + format_core_set(usable));
    }
    if (std::find(cpus.begin(), cpus.end(), core.number) != cpus.end()) {
      throw Skip(core.str() + " is named twice; one thread runs on each core");
    }
    cpus.push_back(core.number);
  }
  return cpus;
}

CoreName Seat::core() const { return core_of(after.value_or(cpu)); }

std::optional<std::string> Seat::misplaced(const std::string& name) const {
  for (const std::optional<int>& seen : {before, after}) {
    if (seen == cpu) continue;
    return name + " was placed on " + core_of(cpu).str() + " but ran on " +
           (seen ? core_of(*seen).str() : "a core the system does not name");
  }
  return std::nullopt;
}

}  // namespace sonde::host
