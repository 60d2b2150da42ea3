// Recorded machines: small trees of /proc and /sys, so that no test depends on where it runs.
#include <gtest/gtest.h>

#include <algorithm>

#include "core/error.h"
#include "core/units.h"
#include "device/host/buffer.h"
#include "device/host/describe.h"
#include "device/host/machine.h"
#include "device/host/sensors.h"
#include "tests/unit/machine_tree.h"

namespace sonde::host {
namespace {

TEST_F(RecordedMachine, OneCpuThatIsNotTheFirst) {
  const DeviceDescription d = describe_machine(read({3}));
  ASSERT_EQ(d.cores.size(), 1U);
  EXPECT_EQ(d.cores[0].str(), "cpu3");
  EXPECT_EQ(d.product, "Test CPU 9000");
  EXPECT_EQ(condition(d, "allowed_cpus"), "3");
  EXPECT_EQ(condition(d, "hypervisor"), "yes");
}

TEST_F(RecordedMachine, GapsAndAnOfflineCpu) {
  put("/sys/devices/system/cpu/online", "0,2-3,5");
  EXPECT_EQ(read({0, 1, 2, 5}).cpus, (std::vector<int>{0, 2, 5}));
}

TEST_F(RecordedMachine, NoCpuLeftIsRefusedNamingTheCpus) {
  put("/sys/devices/system/cpu/online", "0-1");
  try {
    read({4, 5});
    FAIL() << "not refused";
  } catch (const UsageError& error) {
    EXPECT_NE(std::string(error.what()).find("4-5"), std::string::npos) << error.what();
  }
}

TEST_F(RecordedMachine, MoreCpusThanAFixedMaskHolds) {
  put("/sys/devices/system/cpu/online", "0-1299");
  const Machine machine = read(count_to(1300));
  EXPECT_EQ(machine.cpus.size(), 1300U);
  EXPECT_EQ(describe_machine(machine).cores.back().str(), "cpu1299");
}

TEST_F(RecordedMachine, UnknownStaysAbsent) {
  const Machine machine = read({0});
  EXPECT_FALSE(machine.governor);
  EXPECT_FALSE(machine.turbo);
  EXPECT_FALSE(machine.smt);
  EXPECT_FALSE(machine.huge_page_bytes);
  EXPECT_TRUE(machine.caches.empty());
  const DeviceDescription d = describe_machine(machine);
  for (const char* name : {"governor", "turbo", "smt", "huge_pages", "numa_nodes", "kernel",
                           "cgroup_cpu_quota", "cgroup_memory_limit"}) {
    EXPECT_FALSE(condition(d, name)) << name;
  }
  ASSERT_EQ(d.memory.size(), 1U);
  EXPECT_EQ(d.memory[0].name, "DRAM");
  EXPECT_EQ(d.memory[0].capacity_bytes, 1000 * kKiB);
  EXPECT_EQ(d.chase_footprint_bytes, 16 * kMiB);
  EXPECT_EQ(d.chase_line_bytes, 64);
}

TEST_F(RecordedMachine, AnEmptyTreeStillDescribesADevice) {
  std::filesystem::remove_all(root_ / "proc");
  const DeviceDescription d = describe_machine(read({7}));
  EXPECT_EQ(d.product, "CPU of unknown model");
  EXPECT_FALSE(d.memory_bytes);
  EXPECT_FALSE(d.memory.at(0).capacity_bytes);
}

TEST_F(RecordedMachine, CachesOfTheFirstUsableCpu) {
  const std::string at = "/sys/devices/system/cpu/cpu5/cache/";
  auto cache = [&](const std::string& index, const char* level, const char* type,
                   const char* size) {
    put(at + index + "/level", level);
    put(at + index + "/type", type);
    put(at + index + "/size", size);
    put(at + index + "/coherency_line_size", "128");
  };
  cache("index3", "3", "Unified", "300M");
  cache("index0", "1", "Data", "48K");
  cache("index1", "1", "Instruction", "32K");
  cache("index2", "2", "Unified", "2048K");
  const DeviceDescription d = describe_machine(read({5, 9}));
  ASSERT_EQ(d.memory.size(), 4U);
  EXPECT_EQ(d.memory[0].name, "L1d");
  EXPECT_EQ(d.memory[0].capacity_bytes, 48 * kKiB);
  EXPECT_EQ(d.memory[1].name, "L2");
  EXPECT_EQ(d.memory[2].name, "L3");
  EXPECT_EQ(d.memory[2].capacity_bytes, 300 * kMiB);
  EXPECT_EQ(d.memory[3].name, "DRAM");
  EXPECT_EQ(d.chase_line_bytes, 128);
  EXPECT_EQ(d.chase_footprint_bytes, 16 * kMiB);
}

TEST_F(RecordedMachine, AbsurdCacheSizesAreLeftOut) {
  for (const char* size : {"", "K", "-4K", "0K", "9999999999999G", "48 apples"}) {
    put("/sys/devices/system/cpu/cpu0/cache/index0/level", "1");
    put("/sys/devices/system/cpu/cpu0/cache/index0/type", "Data");
    put("/sys/devices/system/cpu/cpu0/cache/index0/size", size);
    EXPECT_TRUE(read({0}).caches.empty()) << size;
  }
}

TEST_F(RecordedMachine, VersionTwoLimitsHoldFromEveryAncestor) {
  put("/proc/self/cgroup", "0::/outer/inner");
  put("/proc/self/mountinfo", "30 24 0:26 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw,nsdelegate");
  put("/sys/fs/cgroup/outer/cpu.max", "50000 100000");
  put("/sys/fs/cgroup/outer/inner/cpu.max", "max 100000");
  put("/sys/fs/cgroup/outer/inner/cpuset.cpus.effective", "1,4-5");
  put("/sys/fs/cgroup/outer/inner/memory.max", "409600");
  put("/sys/fs/cgroup/outer/inner/memory.current", "204800");
  put("/sys/fs/cgroup/outer/inner/memory.stat", "anon 1\ninactive_file 102400\n");
  put("/sys/fs/cgroup/outer/memory.max", "max");
  const Machine machine = read({0, 1, 5});
  EXPECT_EQ(machine.cpus, (std::vector<int>{1, 5}));
  EXPECT_EQ(machine.limits.memory_bytes, 409600);
  EXPECT_EQ(machine.limits.memory_left_bytes, 307200);
  const DeviceDescription d = describe_machine(machine);
  EXPECT_EQ(condition(d, "cgroup_cpu_quota"), "0.5 CPUs");
  EXPECT_EQ(condition(d, "cgroup_memory_limit"), "409,600 B");
  EXPECT_EQ(d.memory_bytes, 184320);  // 60 % of what is left, which is less than MemAvailable
}

TEST_F(RecordedMachine, VersionOneLimitsInAContainerWithTheHostsPaths) {
  put("/proc/self/cgroup",
      "9:memory:/docker/abc\n5:cpuset:/docker/abc\n4:cpu,cpuacct:/docker/abc\n0::/");
  put("/proc/self/mountinfo",
      "30 24 0:26 /docker/abc /cg/memory ro - cgroup cgroup rw,memory\n"
      "31 24 0:27 /docker/abc /cg/cpu ro master:1 - cgroup cgroup rw,cpu,cpuacct\n"
      "32 24 0:28 /docker/abc /cg/cpuset ro - cgroup cgroup rw,cpuset");
  put("/cg/memory/memory.limit_in_bytes", "102400");
  put("/cg/memory/memory.usage_in_bytes", "2400");
  put("/cg/cpu/cpu.cfs_quota_us", "250000");
  put("/cg/cpu/cpu.cfs_period_us", "100000");
  put("/cg/cpuset/cpuset.cpus", "2-3");
  const Machine machine = read({0, 1, 2});
  EXPECT_EQ(machine.cpus, (std::vector<int>{2}));
  EXPECT_EQ(machine.limits.cpu_quota, 2.5);
  EXPECT_EQ(machine.limits.memory_left_bytes, 100000);
}

TEST_F(RecordedMachine, NoLimitIsNoLimit) {
  put("/proc/self/cgroup", "9:memory:/\n4:cpu:/");
  put("/sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712");
  put("/sys/fs/cgroup/cpu/cpu.cfs_quota_us", "-1");
  put("/sys/fs/cgroup/cpu/cpu.cfs_period_us", "100000");
  const Machine machine = read({0});
  EXPECT_FALSE(machine.limits.memory_bytes);
  EXPECT_FALSE(machine.limits.cpu_quota);
  EXPECT_EQ(describe_machine(machine).memory_bytes, 500 * kKiB * 6 / 10);
}

TEST_F(RecordedMachine, NodesMayHaveGapsAndNoCpus) {
  put("/sys/devices/system/node/online", "0,2");
  put("/sys/devices/system/node/node0/cpulist", "0-3");
  put("/sys/devices/system/node/node0/meminfo", "Node 0 MemTotal:   2048 kB");
  put("/sys/devices/system/node/node2/cpulist", "");
  put("/sys/devices/system/node/node2/meminfo", "Node 2 MemTotal:   4096 kB");
  const Machine machine = read({1});
  ASSERT_EQ(machine.nodes.size(), 2U);
  EXPECT_EQ(machine.nodes[1].number, 2);
  EXPECT_TRUE(machine.nodes[1].cpus.empty());
  EXPECT_EQ(machine.node_of(1), 0);
  EXPECT_FALSE(machine.node_of(9));
  EXPECT_EQ(condition(describe_machine(machine), "numa_nodes"),
            "0: CPUs 0-3, 2 MiB; 2: no CPUs, 4 MiB");
}

TEST_F(RecordedMachine, SettingsThatMoveTheNumbers) {
  put("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor", "powersave");
  put("/sys/devices/system/cpu/cpu1/cpufreq/scaling_governor", "performance");
  put("/sys/devices/system/cpu/intel_pstate/no_turbo", "1");
  put("/sys/devices/system/cpu/smt/active", "1");
  put("/sys/kernel/mm/transparent_hugepage/enabled", "always [madvise] never");
  put("/sys/kernel/mm/transparent_hugepage/hpage_pmd_size", "2097152");
  const Machine machine = read({0, 1});
  EXPECT_EQ(machine.huge_page_bytes, 2 * kMiB);
  const DeviceDescription d = describe_machine(machine);
  EXPECT_EQ(condition(d, "governor"), "performance+powersave");
  EXPECT_EQ(condition(d, "turbo"), "off");
  EXPECT_EQ(condition(d, "smt"), "on");
  EXPECT_EQ(condition(d, "huge_pages"), "madvise");
  put("/sys/kernel/mm/transparent_hugepage/enabled", "always madvise [never]");
  EXPECT_FALSE(read({0}).huge_page_bytes);
}

TEST_F(RecordedMachine, ThrottlingIsCountedOverGroupsCoresAndPackages) {
  EXPECT_FALSE(throttle_events(files(), {0, 1}));
  put("/proc/self/cgroup", "0::/outer/inner");
  put("/proc/self/mountinfo", "30 24 0:26 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw,nsdelegate");
  EXPECT_FALSE(throttle_events(files(), {0, 1}));
  put("/sys/fs/cgroup/outer/inner/cpu.stat", "usage_usec 99\nnr_periods 50\nnr_throttled 0");
  EXPECT_EQ(throttle_events(files(), {0, 1}), 0);
  put("/sys/fs/cgroup/outer/cpu.stat", "nr_periods 50\nnr_throttled 7\nthrottled_usec 1000");
  EXPECT_EQ(throttle_events(files(), {0, 1}), 7);
  const std::string cpus = "/sys/devices/system/cpu/cpu";
  for (const char* cpu : {"0", "1", "2"}) {
    put(cpus + cpu + "/thermal_throttle/core_throttle_count", "100");
    put(cpus + cpu + "/thermal_throttle/package_throttle_count", "1000");
    put(cpus + cpu + "/topology/physical_package_id", "0");
  }
  EXPECT_EQ(throttle_events(files(), {0, 1}), 7 + 2 * 100 + 1000);
  put(cpus + "1/topology/physical_package_id", "1");
  EXPECT_EQ(throttle_events(files(), {0, 1}), 7 + 2 * 100 + 2 * 1000);
}

TEST_F(RecordedMachine, ThrottlingOfVersionOneGroups) {
  put("/proc/self/cgroup", "4:cpu,cpuacct:/docker/abc\n0::/");
  put("/proc/self/mountinfo",
      "31 24 0:27 /docker/abc /cg/cpu ro master:1 - cgroup cgroup rw,cpu,cpuacct");
  put("/cg/cpu/cpu.stat", "nr_periods 20\nnr_throttled 3\nthrottled_time 5");
  EXPECT_EQ(throttle_events(files(), {0}), 3);
}

TEST_F(RecordedMachine, HugePagesAreCountedForTheMappingAsked) {
  put("/proc/self/smaps",
      "7f0000000000-7f0000400000 rw-p 00000000 00:00 0\nSize: 4096 kB\nAnonHugePages: 2048 kB\n"
      "7f0000600000-7f0000a00000 rw-p 00000000 00:00 0\nSize: 4096 kB\nAnonHugePages: 4096 kB");
  EXPECT_EQ(huge_bytes_at(files(), 0x7f0000000000), 2 * kMiB);
  EXPECT_EQ(huge_bytes_at(files(), 0x7f0000600000), 4 * kMiB);
  EXPECT_EQ(huge_bytes_at(files(), 0x7f0000400000), 0);
}

TEST_F(RecordedMachine, AProfileStaysInsideAQuarterOfTheLastCache) {
  EXPECT_EQ(describe_machine(read({5})).profile_bytes, 32 * kMiB);
  const std::string at = "/sys/devices/system/cpu/cpu5/cache/index3";
  put(at + "/level", "3");
  put(at + "/type", "Unified");
  put(at + "/size", "32M");
  EXPECT_EQ(describe_machine(read({5})).profile_bytes, 8 * kMiB);
  put(at + "/size", "300M");
  EXPECT_EQ(describe_machine(read({5})).profile_bytes, 32 * kMiB);
}

TEST_F(RecordedMachine, PowerIsOfWholePackagesBetweenTwoReadings) {
  PowerMeter meter(files());
  EXPECT_FALSE(meter.since_last(0));
  put("/sys/class/powercap/intel-rapl:0/energy_uj", "1000000");
  put("/sys/class/powercap/intel-rapl:0:0/energy_uj", "900000");
  put("/sys/class/powercap/intel-rapl:1/energy_uj", "9999000");
  put("/sys/class/powercap/intel-rapl:1/max_energy_range_uj", "10000000");
  EXPECT_FALSE(meter.since_last(1'000'000'000));
  put("/sys/class/powercap/intel-rapl:0/energy_uj", "4000000");
  put("/sys/class/powercap/intel-rapl:1/energy_uj", "999000");  // past its range
  EXPECT_FALSE(meter.since_last(1'000'500'000)) << "too soon for the counters";
  const auto power = meter.since_last(3'000'000'000);
  ASSERT_TRUE(power);
  EXPECT_DOUBLE_EQ(power->value(), 2.0);
}

TEST_F(RecordedMachine, TemperatureIsOfTheHottestProcessorSensor) {
  EXPECT_FALSE(processor_temperature(files()));
  put("/sys/class/thermal/thermal_zone0/type", "acpitz");
  put("/sys/class/thermal/thermal_zone0/temp", "90000");
  put("/sys/class/thermal/thermal_zone1/type", "x86_pkg_temp");
  put("/sys/class/thermal/thermal_zone1/temp", "51500");
  put("/sys/class/hwmon/hwmon2/name", "k10temp");
  put("/sys/class/hwmon/hwmon2/temp1_input", "0");
  ASSERT_TRUE(processor_temperature(files()));
  EXPECT_DOUBLE_EQ(processor_temperature(files())->value(), 51.5);
}

TEST_F(RecordedMachine, ClockAsTheDriverStatesIt) {
  EXPECT_FALSE(stated_clock(files(), 2));
  put("/sys/devices/system/cpu/cpu2/cpufreq/scaling_cur_freq", "2400000");
  EXPECT_DOUBLE_EQ(stated_clock(files(), 2)->value(), 2.4e9);
}

TEST(FormatCpuList, JoinsRuns) {
  EXPECT_EQ(format_cpu_list({}), "");
  EXPECT_EQ(format_cpu_list({4}), "4");
  EXPECT_EQ(format_cpu_list({0, 1, 2, 5, 7, 8}), "0-2,5,7-8");
}

}  // namespace
}  // namespace sonde::host
