#pragma once

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/support/programs.h"

namespace sonde::test {

inline constexpr const char* kChip = "sim:950pr_9579";

class CommandLine : public ::testing::Test {
 protected:
  Result run(const std::vector<std::string>& command, const Environment& environment = {}) {
    return test::run(directory_.path(), command, environment);
  }
  /// The command fails with `code` and one line on standard error that holds every word.
  void refused(const std::vector<std::string>& command, int code,
               const std::vector<std::string>& words) {
    const Result result = run(command);
    EXPECT_EQ(result.exit_code, code) << command[0] << ": " << result.err;
    EXPECT_EQ(test::count_lines(result.err), 1u) << result.err;
    EXPECT_EQ(result.out, "");
    for (const std::string& word : words)
      EXPECT_NE(result.err.find(word), std::string::npos) << word << "\n" << result.err;
  }
  /// A copy of the chip files with one text replaced, as the environment that makes it count.
  Environment edited_chip(const std::string& from, const std::string& to) {
    std::filesystem::create_directories(directory_ / "data");
    std::filesystem::copy(std::filesystem::path(SONDE_SOURCE_DIR) / "data/chips",
                          directory_ / "data/chips", std::filesystem::copy_options::recursive);
    std::string chip = read_text(directory_ / "data/chips/950pr_9579.toml");
    chip.replace(chip.find(from), from.size(), to);
    test::write_text(directory_ / "data/chips/950pr_9579.toml", chip);
    return {{"SONDE_DATA=" + (directory_ / "data").string()}};
  }

  TemporaryDirectory directory_;
};

}  // namespace sonde::test
