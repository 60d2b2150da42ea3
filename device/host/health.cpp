#include "device/host/health.h"

#include "core/parse.h"
#include "core/units.h"

namespace sonde::host {
namespace {

using Health = HealthCheck::State;

HealthCheck governor_health(const Machine& machine) {
  if (!machine.governor) return {"governor", Health::ok, "not stated by this kernel", ""};
  if (*machine.governor == "performance") return {"governor", Health::ok, *machine.governor, ""};
  return {"governor", Health::warn, *machine.governor + ": the clock follows the load",
          "cpupower frequency-set -g performance"};
}

HealthCheck huge_page_health(const Machine& machine) {
  const std::string mode = machine.huge_page_mode.value_or("not offered");
  if (mode == "always" || mode == "madvise") return {"huge pages", Health::ok, mode, ""};
  return {"huge pages", Health::warn, mode + ": large footprints also measure address translation",
          "echo madvise > /sys/kernel/mm/transparent_hugepage/enabled"};
}

}  // namespace

std::vector<HealthCheck> machine_health(const Machine& machine) {
  std::vector<HealthCheck> all;
  const std::string cpus = format_cpu_list(machine.cpus);
  if (machine.cpus.size() > 1) {
    all.push_back({"CPUs", Health::ok, cpus, ""});
  } else {
    all.push_back({"CPUs", Health::warn, "only " + cpus + ": no hand-off and no interference",
                   "allow more: taskset, cpuset or the container's --cpuset-cpus"});
  }
  if (const auto& quota = machine.limits.cpu_quota) {
    all.push_back({"CPU quota", Health::warn,
                   format_number(*quota) + " CPUs of time: threads are stopped while they measure",
                   "lift cpu.max of the control group, or run outside of it"});
  } else {
    all.push_back({"CPU quota", Health::ok, "none", ""});
  }
  if (const auto& bytes = machine.limits.memory_bytes) {
    all.push_back({"memory limit", Health::ok, format_count(*bytes / kMiB) + " MiB", ""});
  }
  all.push_back(governor_health(machine));
  all.push_back(huge_page_health(machine));
  if (machine.hypervisor.value_or(false)) {
    all.push_back({"hypervisor", Health::warn,
                   "a virtual machine: clocks, caches and neighbours are the host's",
                   "measure on the machine itself where numbers must hold"});
  }
  return all;
}

}  // namespace sonde::host
