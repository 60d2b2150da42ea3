// Trees of /proc and /sys as large machines have them. All are made up here, file by file, after
// what is known of such machines; none was recorded on one.
#include <algorithm>

#include "core/units.h"
#include "device/host/health.h"
#include "tests/unit/machine_tree.h"

namespace sonde::host {
namespace {

class LargeMachine : public RecordedMachine {
 protected:
  static std::string cpu_folder(int cpu) {
    return "/sys/devices/system/cpu/cpu" + std::to_string(cpu);
  }
  void put_core(int cpu, const std::string& siblings, int package) const {
    put(cpu_folder(cpu) + "/topology/thread_siblings_list", siblings);
    put(cpu_folder(cpu) + "/topology/physical_package_id", std::to_string(package));
  }
  void put_cache(int cpu, int index, int level, const std::string& size,
                 const std::string& sharers) const {
    const std::string at = cpu_folder(cpu) + "/cache/index" + std::to_string(index);
    put(at + "/level", std::to_string(level));
    put(at + "/type", level == 1 ? "Data" : "Unified");
    put(at + "/size", size);
    put(at + "/coherency_line_size", "64");
    put(at + "/shared_cpu_list", sharers);
  }
  void put_node(int node, const std::string& cpus, long long kib) const {
    const std::string at = "/sys/devices/system/node/node" + std::to_string(node);
    put(at + "/cpulist", cpus);
    put(at + "/meminfo",
        "Node " + std::to_string(node) + " MemTotal: " + std::to_string(kib) + " kB");
  }
  static const MemoryLevel* level(const DeviceDescription& d, const std::string& name) {
    const auto found = std::find_if(d.memory.begin(), d.memory.end(),
                                    [&](const MemoryLevel& one) { return one.name == name; });
    return found == d.memory.end() ? nullptr : &*found;
  }
};

TEST_F(LargeMachine, TwoSocketsOfSixtyFourCoresWithSmtAndCacheSlices) {
  // 256 threads: core c has threads c and c + 128; eight cores share a cache of 32 MiB; four
  // nodes a socket.
  const auto pair = [](int core) {
    return std::to_string(core) + "," + std::to_string(core + 128);
  };
  for (int cpu = 0; cpu < 256; ++cpu) {
    const int core = cpu % 128, slice = core / 8 * 8;
    put_core(cpu, pair(core), core / 64);
    put_cache(cpu, 0, 1, "32K", pair(core));
    put_cache(cpu, 2, 2, "512K", pair(core));
    const std::string low = std::to_string(slice) + "-" + std::to_string(slice + 7);
    const std::string high = std::to_string(slice + 128) + "-" + std::to_string(slice + 135);
    put_cache(cpu, 3, 3, "32768K", low + "," + high);
  }
  put("/sys/devices/system/cpu/online", "0-255");
  put("/sys/devices/system/cpu/offline", "");
  put("/sys/devices/system/node/online", "0-7");
  for (int node = 0; node < 8; ++node) {
    const int first = node * 16;
    put_node(node,
             std::to_string(first) + "-" + std::to_string(first + 15) + "," +
                 std::to_string(first + 128) + "-" + std::to_string(first + 143),
             65'000'000);
  }
  const Machine machine = read(count_to(256));
  const DeviceDescription d = describe_machine(machine);
  EXPECT_EQ(d.cores.size(), 256U);
  EXPECT_EQ(condition(d, "cores"), "256 CPUs on 128 cores in 2 packages");
  EXPECT_TRUE(condition(d, "smt_siblings")->starts_with("0,128; 1,129; "));
  EXPECT_TRUE(condition(d, "smt_siblings")->ends_with("; 127,255"));
  EXPECT_FALSE(condition(d, "core_kinds"));
  EXPECT_EQ(level(d, "L1d")->instances, 128);
  EXPECT_EQ(level(d, "L2")->instances, 128);
  EXPECT_EQ(level(d, "L3")->instances, 16);
  EXPECT_EQ(machine.node_of(143), 0);
  EXPECT_EQ(machine.node_of(144), 1);
  EXPECT_EQ(machine.node_of(127), 7);
  // Two siblings, and a container that got one thread of each of four cores.
  const DeviceDescription two = describe_machine(read({5, 133}));
  EXPECT_EQ(condition(two, "cores"), "2 CPUs on 1 core in 1 package");
  EXPECT_EQ(condition(two, "smt_siblings"), "5,133");
  const DeviceDescription four = describe_machine(read({60, 61, 192, 193}));
  EXPECT_EQ(condition(four, "cores"), "4 CPUs on 4 cores in 2 packages");
  EXPECT_FALSE(condition(four, "smt_siblings"));
  EXPECT_EQ(level(four, "L3")->instances, 2);
}

TEST_F(LargeMachine, NeighbouringSiblingsAndSomeSwitchedOff) {
  // Threads 2c and 2c + 1, as some firmware numbers them; the second thread of cores 2 and 3 and
  // all of core 0 are off. Numbers up to 63 could be taken by CPUs that are not there.
  for (int cpu = 0; cpu < 8; ++cpu) {
    std::filesystem::create_directories(root_ / cpu_folder(cpu).substr(1));
  }
  put("/sys/devices/system/cpu/online", "2-4,6");
  put("/sys/devices/system/cpu/offline", "0-1,5,7-63");
  put_core(2, "2-3", 0);
  put_core(3, "2-3", 0);
  put_core(4, "4", 0);
  put_core(6, "6", 0);
  const DeviceDescription d = describe_machine(read(count_to(8)));
  EXPECT_EQ(condition(d, "allowed_cpus"), "2-4,6");
  EXPECT_EQ(condition(d, "offline_cpus"), "0-1,5,7");
  EXPECT_EQ(condition(d, "smt_siblings"), "2-3");
  EXPECT_EQ(condition(d, "cores"), "4 CPUs on 3 cores in 1 package");
  EXPECT_EQ(d.cores.front().str(), "cpu2");
}

TEST_F(LargeMachine, HybridOfTwoDesigns) {
  // Eight fast cores of two threads (0-15), sixteen small ones (16-31) in clusters of four that
  // share an L2.
  put("/sys/devices/cpu_core/cpus", "0-15");
  put("/sys/devices/cpu_atom/cpus", "16-31");
  for (int cpu = 0; cpu < 32; ++cpu) {
    const bool fast = cpu < 16;
    const int first = fast ? cpu / 2 * 2 : cpu / 4 * 4;
    const std::string own =
        fast ? std::to_string(first) + "-" + std::to_string(first + 1) : std::to_string(cpu);
    const std::string cluster =
        std::to_string(first) + "-" + std::to_string(first + (fast ? 1 : 3));
    put_core(cpu, own, 0);
    put_cache(cpu, 0, 1, fast ? "48K" : "32K", own);
    put_cache(cpu, 2, 2, fast ? "2048K" : "4096K", cluster);
    put_cache(cpu, 3, 3, "36864K", "0-31");
  }
  const DeviceDescription d = describe_machine(read(count_to(32)));
  EXPECT_EQ(condition(d, "core_kinds"), "cpu_core: 0-15; cpu_atom: 16-31");
  EXPECT_EQ(condition(d, "cores"), "32 CPUs on 24 cores in 1 package");
  EXPECT_EQ(level(d, "L2")->instances, 12);
  EXPECT_EQ(level(d, "L3")->instances, 1);
  const DeviceDescription small = describe_machine(read({16, 17, 20}));
  EXPECT_EQ(condition(small, "core_kinds"), "cpu_atom: 16-17,20");
  EXPECT_EQ(level(small, "L2")->capacity_bytes, 4096 * kKiB);
  EXPECT_EQ(level(small, "L2")->instances, 2);
}

TEST_F(LargeMachine, ArmOfThreeCapacitiesStatesNumbersOnly) {
  put("/proc/cpuinfo",
      "processor\t: 0\nBogoMIPS\t: 50.00\nFeatures\t: fp asimd\nCPU implementer\t: 0x41\n"
      "CPU architecture: 8\nCPU part\t: 0xd0c\n\nprocessor\t: 1\nCPU part\t: 0xd46\n");
  for (int cpu = 0; cpu < 8; ++cpu) {
    put(cpu_folder(cpu) + "/cpu_capacity", cpu < 4 ? "250" : cpu < 7 ? "620" : "1024");
  }
  const DeviceDescription d = describe_machine(read(count_to(8)));
  EXPECT_EQ(d.product, "Arm CPU, implementer 0x41, part 0xd0c");
  EXPECT_EQ(condition(d, "core_kinds"), "capacity 250: 0-3; capacity 620: 4-6; capacity 1024: 7");
  EXPECT_FALSE(condition(d, "hypervisor")) << "not stated is unknown";
  EXPECT_FALSE(condition(d, "cores"));
}

TEST_F(LargeMachine, PowerWithNodesFarApartAndMemoryOfGpus) {
  // Two sockets of 16 cores with four threads, nodes 0 and 8; six GPUs lend memory as nodes
  // without CPUs; one core has only its first thread on.
  put("/proc/cpuinfo", "processor\t: 0\ncpu\t\t: POWER9, altivec supported\nclock\t: 3800MHz\n");
  put("/sys/devices/system/cpu/online", "0-60,64-127");
  put("/sys/devices/system/node/online", "0,8,250-255");
  put_node(0, "0-60", 16'000'000);
  put_node(8, "64-127", 16'000'000);
  for (int node = 250; node < 256; ++node) put_node(node, "", 16'000'000);
  for (int cpu = 0; cpu < 128; ++cpu) {
    if (cpu > 60 && cpu < 64) continue;
    const int first = cpu / 4 * 4;
    put_core(cpu, first == 60 ? "60" : std::to_string(first) + "-" + std::to_string(first + 3),
             cpu / 64 * 8);
    put_cache(cpu, 0, 1, "32K", std::to_string(first) + "-" + std::to_string(first + 3));
    put(cpu_folder(cpu) + "/cache/index0/coherency_line_size", "128");
  }
  const Machine machine = read(count_to(176));
  const DeviceDescription d = describe_machine(machine);
  EXPECT_EQ(d.product, "POWER9, altivec supported");
  EXPECT_EQ(d.chase_line_bytes, 128);
  EXPECT_EQ(condition(d, "allowed_cpus"), "0-60,64-127");
  EXPECT_EQ(condition(d, "cores"), "125 CPUs on 32 cores in 2 packages");
  EXPECT_EQ(machine.nodes.size(), 8U);
  EXPECT_EQ(machine.node_of(127), 8);
  EXPECT_TRUE(condition(d, "numa_nodes")->ends_with("; 255: no CPUs, 15,625 MiB"))
      << *condition(d, "numa_nodes");
}

TEST_F(LargeMachine, FourThousandCpusAndMoreThanAMaskHolds) {
  put("/sys/devices/system/cpu/online", "0-4095");
  put("/sys/devices/system/node/online", "0-63");
  for (int node = 0; node < 64; ++node) {
    put_node(node, std::to_string(node * 64) + "-" + std::to_string(node * 64 + 63), 1'000'000);
  }
  const Machine machine = read(count_to(4096));
  const DeviceDescription d = describe_machine(machine);
  EXPECT_EQ(d.cores.back().str(), "cpu4095");
  EXPECT_EQ(condition(d, "allowed_cpus"), "0-4095");
  EXPECT_EQ(machine.node_of(4095), 63);
  EXPECT_EQ(machine_health(machine).front().found, "0-4095");
}

TEST_F(LargeMachine, ACpuThatDoesNotStateItsCoreHidesTheCount) {
  put_core(0, "0", 0);
  EXPECT_EQ(condition(describe_machine(read({0})), "cores"), "1 CPU on 1 core in 1 package");
  EXPECT_FALSE(condition(describe_machine(read({0, 1})), "cores"));
  put_core(1, "1", -1);  // as some virtual machines say
  EXPECT_FALSE(condition(describe_machine(read({0, 1})), "cores"));
}

}  // namespace
}  // namespace sonde::host
