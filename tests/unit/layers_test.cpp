// The arrows of docs/architecture.md: every quoted include is read, and one that is not drawn
// fails.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <string>

namespace {

using Graph = std::map<std::string, std::set<std::string>>;

/// What each folder may include beside itself.
const Graph kArrows = {
    {"core", {}},
    {"device", {"core"}},
    {"device/common", {"core"}},
    {"device/cuda", {"core", "device", "device/common"}},
    {"device/host", {"core", "device", "device/common"}},
    {"device/sim", {"core", "device", "device/common"}},
    {"harness", {"core", "device"}},
    {"probes", {"core", "device", "harness"}},
    {"gemm_sweep", {"core", "device", "harness"}},
    {"membw", {"core", "device", "harness"}},
    {"topology", {"core"}},
    {"report", {"core", "topology"}},
    {"report/figures", {"core", "report", "topology"}},
};

std::string folder_of(const std::string& path) {
  std::string folder = path.substr(0, path.rfind('/'));
  while (!folder.empty() && !kArrows.contains(folder)) {
    const std::size_t slash = folder.rfind('/');
    folder = slash == std::string::npos ? "" : folder.substr(0, slash);
  }
  return folder;
}

/// Empty when the arrow is drawn.
std::string judge(const std::string& file, const std::string& include) {
  const std::string from = folder_of(file);
  if (from.empty()) return file + ": lies in no known folder";
  if (include.find('/') == std::string::npos) {
    // Only what the build writes has no folder.
    return include == "revision.h" ? "" : file + ": \"" + include + "\" is not from the root";
  }
  const std::string to = folder_of(include);
  if (to.empty()) return file + ": \"" + include + "\" lies in no known folder";
  if (from == to || kArrows.at(from).contains(to)) return "";
  return file + ": " + from + "/ may not use " + to + "/ (\"" + include + "\")";
}

/// The project's own name in an include line, quoted or in angles; empty for others.
std::string own_include(const std::string& line) {
  if (!line.starts_with("#include ") || line.size() < 12) return "";
  const char closing = line[9] == '"' ? '"' : '>';
  const std::string name = line.substr(10, line.find(closing, 10) - 10);
  if (closing == '"') return name;
  return folder_of(name).empty() ? "" : name;
}

TEST(Layers, EveryIncludeFollowsADrawnArrow) {
  const std::filesystem::path root = SONDE_SOURCE_DIR;
  int files = 0;
  int includes = 0;
  for (const auto& top : std::filesystem::directory_iterator(root)) {
    const std::string folder = top.path().filename().string();
    // Tests see both sides; what is built or hidden is not source.
    if (!top.is_directory() || folder == "tests" || folder == "build" || folder.starts_with("."))
      continue;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(top)) {
      const std::string extension = entry.path().extension().string();
      if (extension != ".h" && extension != ".cpp" && extension != ".cu" && extension != ".cuh") {
        continue;
      }
      ++files;
      std::ifstream text(entry.path());
      for (std::string line; std::getline(text, line);) {
        const std::string name = own_include(line);
        if (name.empty()) continue;
        ++includes;
        EXPECT_EQ(judge(std::filesystem::relative(entry.path(), root).string(), name), "");
      }
    }
  }
  EXPECT_GT(files, 40);
  EXPECT_GT(includes, 100);
}

/// Compiled first, a header that forgets an include fails.
TEST(Layers, AFileIncludesItsOwnHeaderFirst) {
  const std::filesystem::path root = SONDE_SOURCE_DIR;
  int pairs = 0;
  for (const auto& [folder, arrows] : kArrows) {
    for (const auto& entry : std::filesystem::directory_iterator(root / folder)) {
      std::filesystem::path header = entry.path();
      if (header.extension() != ".cpp" && header.extension() != ".cu") continue;
      header.replace_extension(".h");
      if (!std::filesystem::exists(header)) continue;
      ++pairs;
      std::ifstream text(entry.path());
      std::string first;
      while (std::getline(text, first) && !first.starts_with("#include ")) {
      }
      EXPECT_EQ(own_include(first), std::filesystem::relative(header, root).string())
          << "in " << entry.path();
    }
  }
  EXPECT_GT(pairs, 120);
}

TEST(Layers, TheJudgeRefusesWhatIsNotDrawn) {
  EXPECT_EQ(judge("report/wave.cpp", "core/csv_reader.h"), "");
  EXPECT_NE(judge("report/wave.cpp", "device/device.h"), "");
  EXPECT_NE(judge("topology/tree.cpp", "report/figure.h"), "");
  EXPECT_NE(judge("core/schema.cpp", "device/device.h"), "");
  EXPECT_NE(judge("device/sim/sim.cpp", "device/host/machine.h"), "");
  EXPECT_NE(judge("device/host/host.cpp", "harness/runner.h"), "");
  EXPECT_NE(judge("device/cuda/cuda.cpp", "harness/runner.h"), "");
  EXPECT_NE(judge("new_folder/x.cpp", "core/schema.h"), "");
  EXPECT_EQ(own_include("#include <device/device.h>"), "device/device.h");
  EXPECT_EQ(own_include("#include <vector>"), "");
  EXPECT_NE(judge("report/html.cpp", "html.h"), "");
  EXPECT_NE(judge("harness/runner.cpp", "tests/support/programs.h"), "");
}

}  // namespace
