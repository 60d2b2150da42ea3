// What `cmake --install` and `cpack` give is whole and runs from where it was put.
#include <nlohmann/json.hpp>

#include "tests/output/commands.h"

namespace sonde {
namespace {

class Install : public test::CommandLine {
 protected:
  /// Everything into `prefix`, as `cmake --install` does.
  std::filesystem::path install() {
    std::filesystem::path prefix = directory_ / "usr";
    const test::Result result =
        run({SONDE_CMAKE, "--install", SONDE_BUILD_DIR, "--prefix", prefix.string()});
    EXPECT_EQ(result.exit_code, 0) << result.out << result.err;
    return prefix;
  }
  /// Programs, data, pages and completions lie below `prefix` and the first runs with the second.
  void expect_whole(const std::filesystem::path& prefix) {
    const std::string sonde = (prefix / "bin/sonde").string();
    std::istringstream lines(run({sonde, "complete-words"}).out);
    int commands = 0;
    for (std::string line; std::getline(lines, line); ++commands) {
      const std::string name = "sonde-" + line.substr(0, line.find('\t'));
      const std::string page = test::read_text(prefix / "share/man/man1" / (name + ".1"));
      EXPECT_TRUE(page.starts_with(".TH")) << name;
      if (std::filesystem::exists(test::program(name))) {
        EXPECT_TRUE(std::filesystem::exists(prefix / "bin" / name)) << name;
      }
    }
    EXPECT_GE(commands, 14);
    for (const char* file :
         {"man/man1/sonde.1", "bash-completion/completions/sonde", "zsh/vendor-completions/_sonde",
          "fish/vendor_completions.d/sonde.fish", "sonde/models.csv", "sonde/chips/950pr_9579.toml",
          "sonde/published/skus.csv"}) {
      EXPECT_TRUE(std::filesystem::exists(prefix / "share" / file)) << file;
    }
    const auto checks = nlohmann::json::parse(run({sonde, "doctor", "--json"}).out);
    bool data = false;
    for (const auto& check : checks) {
      data = data || check.at("found") == (prefix / "share/sonde").string();
    }
    EXPECT_TRUE(data) << checks;
    const test::Result chase =
        run({sonde, "chase", "--device", test::kChip, "--cores", "vector0", "--blocks", "1",
             "--repetitions", "8", "--out", "r", "--quiet"});
    EXPECT_EQ(chase.exit_code, 0) << chase.err;
    const test::Result same = run({sonde, "compare", "r", "r"});
    EXPECT_EQ(same.exit_code, 0) << same.err;
  }
};

TEST_F(Install, RunsFromItsPrefix) { expect_whole(install()); }

TEST_F(Install, ADebianPackageUnpacksAndRuns) {
  if (!std::filesystem::exists("/usr/bin/dpkg-deb") ||
      !std::filesystem::exists("/usr/bin/dpkg-shlibdeps")) {
    GTEST_SKIP() << "dpkg-deb or dpkg-shlibdeps is not installed";
  }
  const test::Result pack =
      run({SONDE_CPACK, "--config", std::string(SONDE_BUILD_DIR) + "/CPackConfig.cmake", "-B",
           (directory_ / "packed").string()});
  ASSERT_EQ(pack.exit_code, 0) << pack.out << pack.err;
  std::string package;
  for (const auto& entry : std::filesystem::directory_iterator(directory_ / "packed")) {
    if (entry.path().extension() == ".deb") package = entry.path().string();
  }
  ASSERT_NE(package, "");
  const std::string depends = run({"/usr/bin/dpkg-deb", "-f", package, "Depends"}).out;
  for (const char* library : {"libc6", "libstdc++6", "libfmt", "gnuplot"}) {
    EXPECT_NE(depends.find(library), std::string::npos) << depends;
  }
  ASSERT_EQ(run({"/usr/bin/dpkg-deb", "-x", package, "unpacked"}).exit_code, 0);
  expect_whole(directory_ / "unpacked/usr");
}

}  // namespace
}  // namespace sonde
