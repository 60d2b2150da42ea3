// Every command of README.md but the two set-up ones (CI runs those) does what it says.
#include <gtest/gtest.h>

#include <sstream>

#include "tests/support/programs.h"

namespace sonde {
namespace {

/// Lines of the README's ```sh blocks.
std::vector<std::string> readme_commands() {
  std::istringstream text(test::read_text(std::filesystem::path(SONDE_SOURCE_DIR) / "README.md"));
  std::vector<std::string> commands;
  bool inside = false;
  for (std::string line; std::getline(text, line);) {
    if (line.starts_with("```")) {
      inside = line == "```sh";
    } else if (inside && !line.empty()) {
      commands.push_back(line);
    }
  }
  return commands;
}

TEST(Readme, EveryCommandRuns) {
  test::TemporaryDirectory directory;
  // The commands are given from the top of a clone; data/ is copied so that nothing is written
  // there.
  const std::filesystem::path source = SONDE_SOURCE_DIR;
  const std::filesystem::path bin = SONDE_BIN_DIR;
  std::filesystem::copy(source / "data", directory / "data",
                        std::filesystem::copy_options::recursive);
  std::filesystem::copy_file(source / "Makefile.plots", directory / "Makefile.plots");
  std::filesystem::create_directories(directory / "build/measure");
  std::filesystem::create_directory_symlink(bin, directory / "build/measure/bin");

  const std::vector<std::string> commands = readme_commands();
  EXPECT_GE(commands.size(), 8u);
  int set_up = 0;
  for (const std::string& command : commands) {
    if (command == "make campaign" || command == "make test") {
      ++set_up;
      continue;
    }
    const test::Result result = test::run(directory.path(), {"/bin/sh", "-c", command},
                                          {{"PATH=" + bin.string() + ":/usr/bin:/bin"}});
    EXPECT_EQ(result.exit_code, 0) << command << "\n" << result.out << result.err;
  }
  EXPECT_EQ(set_up, 2);
  EXPECT_TRUE(std::filesystem::exists(directory / "both/index.html"));
  EXPECT_TRUE(std::filesystem::exists(directory / "build/plots/950pr_9579/chase_blocks.svg"));
  EXPECT_TRUE(std::filesystem::exists(directory / "build/plots/host_example/copy_bandwidth.png"));
}

TEST(Readme, PicturesAndDocumentsExist) {
  const std::filesystem::path source = SONDE_SOURCE_DIR;
  const std::string readme = test::read_text(source / "README.md");
  for (const char* name : {"docs/pictures/950pr_9579_profile_distance.png", "docs/measuring.md",
                           "docs/analysis.md", "docs/simulator.md", "docs/gemm_shapes.md",
                           "docs/data.md", "docs/architecture.md", "CONTRIBUTING.md"}) {
    EXPECT_NE(readme.find(name), std::string::npos) << name;
    EXPECT_TRUE(std::filesystem::exists(source / name)) << name;
  }
}

}  // namespace
}  // namespace sonde
