// `sonde compare` as a program: what it prints, what it refuses, how it ends.
#include <nlohmann/json.hpp>

#include "tests/output/commands.h"
#include "tests/output/report_runs.h"

namespace sonde {
namespace {

using testing_runs::noisy;
using testing_runs::RunWriter;

class CompareOutput : public test::CommandLine {
 protected:
  /// Twenty sizes; the last is slower by `factor`.
  std::string write(const std::string& name, std::uint64_t key, double factor = 1) {
    RunWriter run(directory_ / name, false);
    for (int i = 1; i <= 20; ++i) {
      const double seconds = 1e-5 * i * (i == 20 ? factor : 1);
      run.copy("d2d", "auto", 4096.0 * i,
               noisy(seconds, 0.003, 8, key_of({key, static_cast<std::uint64_t>(i)})));
    }
    run.finish();
    return name;
  }
};

TEST_F(CompareOutput, NamesTheSlowPointAndFails) {
  write("a", 1);
  write("b", 2, 1.2);
  const test::Result plain = run({"sonde", "compare", "a", "b"});
  EXPECT_EQ(plain.exit_code, 0) << plain.err;
  EXPECT_NE(plain.out.find("slower"), std::string::npos);
  EXPECT_NE(plain.out.find("bytes 81920"), std::string::npos) << plain.out;
  EXPECT_EQ(plain.out.find("bytes 8192,"), std::string::npos) << plain.out;
  const test::Result all = run({"sonde", "compare", "a", "b", "--all"});
  EXPECT_NE(all.out.find("bytes 8192,"), std::string::npos) << all.out;
  EXPECT_EQ(run({"sonde-compare", "a", "b", "--fail-on", "slower:5%"}).exit_code, 1);
  EXPECT_EQ(run({"sonde-compare", "a", "b", "--fail-on", "slower:25%"}).exit_code, 0);
  EXPECT_EQ(run({"sonde-compare", "a", "b", "--fail-on", "faster:5%"}).exit_code, 0);
  EXPECT_EQ(run({"sonde-compare", "b", "a", "--fail-on", "faster:5%"}).exit_code, 1);
}

TEST_F(CompareOutput, SaysWhenAGateHasNothingToGoBy) {
  for (const char* name : {"a", "b"}) {
    RunWriter run(directory_ / name, false);
    run.copy("d2d", "auto", 4096, noisy(name[0] == 'a' ? 1e-5 : 2e-5, 0.003, 3, 5));
    run.finish();
  }
  const test::Result result = run({"sonde-compare", "a", "b", "--fail-on", "slower:5%"});
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_NE(result.out.find("no point could be judged"), std::string::npos) << result.out;
}

TEST_F(CompareOutput, JsonHoldsEveryPoint) {
  write("a", 1);
  write("b", 2, 1.2);
  const test::Result result = run({"sonde-compare", "a", "b", "--json"});
  const auto json = nlohmann::json::parse(result.out);
  EXPECT_EQ(json.at("points").size(), 20u);
  EXPECT_EQ(json.at("points").at(0).at("verdict"), "slower");
  EXPECT_NEAR(json.at("points").at(0).at("time").at("ratio").get<double>(), 1.2, 0.01);
  EXPECT_LT(json.at("points").at(0).at("time").at("low").get<double>(), 1.2);
  EXPECT_TRUE(json.at("points").at(0).at("cycles").is_null());
  EXPECT_EQ(json.at("probes").at(0).at("slower"), 1);
  EXPECT_FALSE(json.at("fails").get<bool>());
}

TEST_F(CompareOutput, HalvesOfOneRun) {
  write("a", 1);
  const test::Result result = run({"sonde-compare", "--self", "a"});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_NE(result.out.find("false-alarm rate: 0 % (0 of 20 judged points)"), std::string::npos)
      << result.out;
  const auto json = nlohmann::json::parse(run({"sonde-compare", "--self", "a", "--json"}).out);
  EXPECT_EQ(json.at("false_alarm_rate"), 0);
}

TEST_F(CompareOutput, SaysThatPicturesAreStale) {
  write("a", 1);
  write("b", 2);
  const auto stale = [&](const std::string& a) {
    return run({"sonde-compare", a, "b"}).out.find(a + "/report is stale") != std::string::npos;
  };
  EXPECT_FALSE(stale("a"));
  ASSERT_EQ(run({"sonde-report", "--run", "a", "--format", "svg"}).exit_code, 0);
  EXPECT_FALSE(stale("a"));
  // By content: what is copied, packed or touched later is what it was.
  std::filesystem::copy(directory_ / "a", directory_ / "copied",
                        std::filesystem::copy_options::recursive);
  const auto drawn = std::filesystem::last_write_time(directory_ / "a/report/index.html");
  std::filesystem::last_write_time(directory_ / "copied/copy.csv", drawn + std::chrono::hours(5));
  EXPECT_FALSE(stale("copied"));
  ASSERT_EQ(run({"/bin/gzip", "copied/copy.csv"}).exit_code, 0);
  EXPECT_FALSE(stale("copied"));
  std::string rows = test::read_text(directory_ / "a/copy.csv");
  rows.resize(rows.rfind('\n', rows.size() - 2) + 1);
  test::write_text(directory_ / "a/copy.csv", rows);
  std::filesystem::last_write_time(directory_ / "a/copy.csv", drawn - std::chrono::hours(5));
  EXPECT_TRUE(stale("a"));
  ASSERT_EQ(run({"sonde-report", "--run", "a", "--format", "svg"}).exit_code, 0);
  EXPECT_FALSE(stale("a"));
}

TEST_F(CompareOutput, RefusesWhatItCannotRead) {
  write("a", 1);
  write("b", 2);
  refused({"sonde-compare", "a"}, 2, {"two run directories"});
  refused({"sonde-compare", "a", "nowhere"}, 2, {"nowhere"});
  refused({"sonde-compare", "a", "b", "--fail-on", "slwer:5%"}, 2, {"--fail-on", "slower"});
  refused({"sonde-compare", "a", "b", "--margin", "x"}, 2, {"--margin"});
  refused({"sonde-compare", "--self", "a", "b"}, 2, {"--self"});
  std::string rows = test::read_text(directory_ / "b/copy.csv");
  rows.replace(rows.find("copy.1"), 6, "copy.2");
  test::write_text(directory_ / "b/copy.csv", rows);
  const test::Result major = run({"sonde-compare", "a", "b"});
  EXPECT_EQ(major.exit_code, 2);
  EXPECT_NE(major.err.find("copy.2"), std::string::npos) << major.err;
}

}  // namespace
}  // namespace sonde
