#include "device/host/sensors.h"

#include <algorithm>
#include <array>

#include "device/host/cgroup.h"

namespace sonde::host {
namespace {

/// The counters are refreshed about every millisecond; below two of them a difference is noise.
constexpr std::int64_t kShortestWindowNs = 2'000'000;

bool names_processor(const std::string& type) {
  constexpr std::array<const char*, 6> kNames = {"pkg_temp", "cpu",     "soc",
                                                 "coretemp", "k10temp", "zenpower"};
  return std::any_of(kNames.begin(), kNames.end(),
                     [&type](const char* name) { return type.find(name) != std::string::npos; });
}

void keep_hottest(std::optional<Celsius>& hottest, const std::optional<long long>& milli) {
  // A sensor that is off reads 0 or absurd.
  if (!milli || *milli <= 0 || *milli > 150'000) return;
  const Celsius read(static_cast<double>(*milli) / 1000.0);
  if (!hottest || *hottest < read) hottest = read;
}

}  // namespace

std::optional<Watts> PowerMeter::since_last(std::int64_t at_ns) {
  const std::string folder = "/sys/class/powercap/";
  const std::int64_t window = at_ns - at_ns_;
  if (!energy_uj_.empty() && window < kShortestWindowNs) return std::nullopt;
  std::map<std::string, long long> now;
  double used_uj = 0;
  bool complete = true;
  for (const std::string& name : root_.list(folder)) {
    // Packages are "intel-rapl:0"; "intel-rapl:0:1" is a part of one and would count twice.
    if (name.rfind("intel-rapl:", 0) != 0 || std::count(name.begin(), name.end(), ':') != 1) {
      continue;
    }
    const auto energy = root_.integer(folder + name + "/energy_uj");
    if (!energy) return std::nullopt;  // a sum without one package is not the power
    now[name] = *energy;
    const auto before = energy_uj_.find(name);
    if (before == energy_uj_.end()) {
      complete = false;
      continue;
    }
    long long used = *energy - before->second;
    if (used < 0) used += root_.integer(folder + name + "/max_energy_range_uj").value_or(0);
    if (used < 0) complete = false;
    used_uj += static_cast<double>(used);
  }
  complete = complete && !now.empty();
  energy_uj_ = std::move(now);
  at_ns_ = at_ns;
  if (!complete) return std::nullopt;
  return Watts(used_uj * 1e3 / static_cast<double>(window));
}

std::optional<Celsius> processor_temperature(const FileRoot& root) {
  std::optional<Celsius> hottest;
  for (const std::string& name : root.list("/sys/class/thermal")) {
    const std::string at = "/sys/class/thermal/" + name;
    if (names_processor(root.text(at + "/type").value_or(""))) {
      keep_hottest(hottest, root.integer(at + "/temp"));
    }
  }
  for (const std::string& name : root.list("/sys/class/hwmon")) {
    const std::string at = "/sys/class/hwmon/" + name;
    if (names_processor(root.text(at + "/name").value_or(""))) {
      keep_hottest(hottest, root.integer(at + "/temp1_input"));
    }
  }
  return hottest;
}

std::optional<Hertz> stated_clock(const FileRoot& root, int cpu) {
  const auto khz = root.integer("/sys/devices/system/cpu/cpu" + std::to_string(cpu) +
                                "/cpufreq/scaling_cur_freq");
  if (!khz || *khz <= 0) return std::nullopt;
  return Hertz(static_cast<double>(*khz) * 1e3);
}

std::optional<std::int64_t> throttle_events(const FileRoot& root, const std::vector<int>& cpus) {
  std::optional<std::int64_t> sum = cgroup_throttled(root);
  std::map<long long, long long> packages;  // each of its CPUs states the package's count
  for (int cpu : cpus) {
    const std::string folder = "/sys/devices/system/cpu/cpu" + std::to_string(cpu);
    if (const auto count = root.integer(folder + "/thermal_throttle/core_throttle_count")) {
      sum = sum.value_or(0) + *count;
    }
    if (const auto count = root.integer(folder + "/thermal_throttle/package_throttle_count")) {
      packages[root.integer(folder + "/topology/physical_package_id").value_or(0)] = *count;
    }
  }
  for (const auto& [package, count] : packages) sum = sum.value_or(0) + count;
  return sum;
}

}  // namespace sonde::host
