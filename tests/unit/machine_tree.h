#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <numeric>
#include <optional>
#include <string>
#include <vector>

#include "device/host/describe.h"
#include "device/host/machine.h"

namespace sonde::host {

/// A small tree of /proc and /sys that a test fills, so that nothing depends on where it runs.
class RecordedMachine : public testing::Test {
 public:
  ~RecordedMachine() override {
    std::error_code ignored;
    std::filesystem::remove_all(root_, ignored);
  }

 protected:
  RecordedMachine() {
    std::string pattern = testing::TempDir() + "sonde-machine-XXXXXX";
    root_ = mkdtemp(pattern.data());
    put("/proc/cpuinfo",
        "processor\t: 3\nmodel name\t: Test CPU 9000\nflags\t\t: fpu hypervisor\n");
    put("/proc/meminfo", "MemTotal:       1000 kB\nMemFree:  1 kB\nMemAvailable:    500 kB\n");
  }
  void put(const std::string& path, const std::string& text) const {
    const std::filesystem::path full = root_ / path.substr(1);
    std::filesystem::create_directories(full.parent_path());
    std::ofstream(full) << text << "\n";
  }
  FileRoot files() const { return FileRoot(root_); }
  Machine read(const std::vector<int>& affinity) const { return read_machine(files(), affinity); }

  std::filesystem::path root_;
};

inline std::optional<std::string> condition(const DeviceDescription& description,
                                            const std::string& name) {
  for (const auto& [key, value] : description.conditions) {
    if (key == name) return value;
  }
  return std::nullopt;
}

inline std::vector<int> count_to(int n) {
  std::vector<int> cpus(static_cast<std::size_t>(n));
  std::iota(cpus.begin(), cpus.end(), 0);
  return cpus;
}

}  // namespace sonde::host
