// `sonde doctor` on recorded machines.
#include <gtest/gtest.h>

#include "core/terminal.h"
#include "device/host/health.h"
#include "harness/doctor.h"
#include "tests/support/programs.h"

namespace sonde {
namespace {

using State = HealthCheck::State;

const HealthCheck* find(const std::vector<HealthCheck>& all, const std::string& name) {
  for (const HealthCheck& check : all) {
    if (check.name == name) return &check;
  }
  return nullptr;
}

class Doctor : public testing::Test {
 protected:
  void put(const std::string& path, const std::string& text, bool program = false) {
    const std::filesystem::path full = directory_ / path;
    std::filesystem::create_directories(full.parent_path());
    test::write_text(full, text + "\n");
    if (program) std::filesystem::permissions(full, std::filesystem::perms::owner_all);
  }
  FileRoot root() const { return FileRoot(directory_.path()); }
  test::TemporaryDirectory directory_;
};

TEST_F(Doctor, NamesTheToolThatIsMissingAndItsFix) {
  put("opt/bin/lstopo", "#!", true);
  put("usr/bin/gnuplot", "not a program");
  const auto tools = check_tools(root(), "/usr/bin:/opt/bin");
  EXPECT_EQ(find(tools, "lstopo")->state, State::ok);
  EXPECT_EQ(find(tools, "lstopo")->found, "/opt/bin/lstopo");
  EXPECT_EQ(find(tools, "gnuplot")->state, State::missing);
  EXPECT_NE(find(tools, "gnuplot")->fix.find("gnuplot-nox"), std::string::npos);
  put("usr/bin/gnuplot", "#!", true);
  EXPECT_EQ(find(check_tools(root(), "/usr/bin:/opt/bin"), "gnuplot")->state, State::ok);
  EXPECT_EQ(find(check_tools(root(), ""), "gnuplot")->state, State::missing);
}

TEST_F(Doctor, AGpuIsNotNeeded) {
  for (const HealthCheck& check : check_gpu(root(), "/usr/bin")) {
    EXPECT_EQ(check.state, State::warn) << check.name;
    EXPECT_FALSE(check.fix.empty()) << check.name;
  }
  put("proc/driver/nvidia/version", "NVRM version: 550.1\nGCC version");
  put("usr/local/cuda/bin/nvcc", "#!", true);
  const auto gpu = check_gpu(root(), "/usr/bin");
  EXPECT_EQ(find(gpu, "GPU driver")->found, "NVRM version: 550.1");
  EXPECT_EQ(find(gpu, "nvcc")->state, State::ok);
}

TEST_F(Doctor, SaysWhatMakesNumbersWorse) {
  put("proc/cpuinfo", "processor\t: 0\nflags\t\t: fpu hypervisor");
  put("sys/devices/system/cpu/online", "0-3");
  put("sys/devices/system/cpu/cpu0/cpufreq/scaling_governor", "powersave");
  put("sys/kernel/mm/transparent_hugepage/enabled", "always madvise [never]");
  const auto all = host::machine_health(host::read_machine(root(), {0}));
  for (const char* name : {"CPUs", "governor", "huge pages", "hypervisor"}) {
    ASSERT_NE(find(all, name), nullptr) << name;
    EXPECT_EQ(find(all, name)->state, State::warn) << name;
    EXPECT_FALSE(find(all, name)->fix.empty()) << name;
  }
  EXPECT_EQ(find(all, "CPU quota")->state, State::ok);
  put("proc/cpuinfo", "processor\t: 0\nflags\t\t: fpu");
  put("sys/devices/system/cpu/cpu0/cpufreq/scaling_governor", "performance");
  put("sys/devices/system/cpu/cpu1/cpufreq/scaling_governor", "performance");
  put("sys/kernel/mm/transparent_hugepage/enabled", "always [madvise] never");
  for (const HealthCheck& check : host::machine_health(host::read_machine(root(), {0, 1}))) {
    EXPECT_EQ(check.state, State::ok) << check.name << ": " << check.found;
  }
}

TEST(Terminal, PaintsOnlyWhereAsked) {
  EXPECT_EQ(paint("x", Colour::red, false), "x");
  EXPECT_EQ(paint("x", Colour::red, true), "\033[31mx\033[0m");
}

}  // namespace
}  // namespace sonde
