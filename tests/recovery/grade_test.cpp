// Grades of runs that are good but for one thing.
#include <gtest/gtest.h>

#include "report/grade.h"
#include "tests/support/simulated_pair.h"

namespace sonde {
namespace {

/// Changes the rows of the only probe one by one.
void change(StoredRun& run, const auto& how) {
  ProbeRows& probe = run.probes[0];
  Rows changed(*probe.schema);
  for (Row row : probe.table->rows.whole()) {
    how(row);
    changed.add(row);
  }
  probe.table->rows = std::move(changed);
}

StoredRun good_run() {
  StoredRun run = test::simulated_side({40, 12, test::Noise::normal, 0.005, 0, 1, 3}, false);
  run.manifest.build_preset = "measure";
  run.manifest.steps = {{"copy", {}, "complete", false, ""}};
  change(run, [](Row& row) { row.values[copy_schema().index("clock_mhz")] = 2000.0; });
  return run;
}

ProbeGrade grade(const StoredRun& run) {
  const auto all = grade_run(run);
  EXPECT_EQ(all.size(), 1u);
  return all.at(0);
}

/// The rows from the front, in shares of all.
void spoil(StoredRun& run, double part, void (*how)(Row&)) {
  auto left =
      static_cast<std::int64_t>(part * static_cast<double>(run.probes[0].table->rows.size()));
  change(run, [&](Row& row) {
    if (left-- > 0) how(row);
  });
}

TEST(Grade, AGoodRunIsAnA) {
  const ProbeGrade good = grade(good_run());
  EXPECT_EQ(good.grade, 'A');
  EXPECT_TRUE(good.reasons.empty()) << good.reasons.front();
}

TEST(Grade, EveryRuleHasItsLetter) {
  const auto fail = [](Row& row) { row.status = Status::failed; };
  const auto throttle = [](Row& row) { row.status = Status::throttled; };
  const auto clock = [](Row& row) { row.values[copy_schema().index("clock_mhz")] = Cell(); };
  struct Case {
    double part;
    void (*how)(Row&);
    char letter;
    const char* reason;
  };
  for (const Case& c : {Case{0.005, fail, 'B', "failed"},
                        {0.05, fail, 'C', "failed"},
                        {0.2, fail, 'D', "failed"},
                        {0.05, throttle, 'B', "throttled"},
                        {0.2, throttle, 'C', "throttled"},
                        {1, clock, 'B', "clock is not known"}}) {
    StoredRun run = good_run();
    spoil(run, c.part, c.how);
    const ProbeGrade found = grade(run);
    EXPECT_EQ(found.grade, c.letter) << c.reason;
    ASSERT_FALSE(found.reasons.empty()) << c.reason;
    EXPECT_NE(found.reasons.front().find(c.reason), std::string::npos) << found.reasons.front();
  }
}

TEST(Grade, WideIntervalsDriftAndClocks) {
  StoredRun wide = test::simulated_side({40, 12, test::Noise::normal, 0.1, 0, 1, 3}, false);
  wide.manifest = good_run().manifest;
  EXPECT_EQ(grade(wide).grade, 'D');
  StoredRun drifting = good_run();
  change(drifting, [](Row& row) {
    Cell& cell = row.values[copy_schema().index("elapsed_s")];
    cell = std::get<double>(cell) * (1 + 0.002 * static_cast<double>(row.repetition));
  });
  const ProbeGrade drift = grade(drifting);
  EXPECT_GE(drift.grade, 'B');
  // Its intervals are wider for it, which is a reason of its own.
  EXPECT_TRUE(std::any_of(
      drift.reasons.begin(), drift.reasons.end(),
      [](const std::string& reason) { return reason.find("drift") != std::string::npos; }));
  StoredRun unsteady = good_run();
  change(unsteady, [](Row& row) {
    row.values[copy_schema().index("clock_mhz")] = row.point % 2 == 0 ? 2000.0 : 1800.0;
  });
  EXPECT_EQ(grade(unsteady).grade, 'B');
}

TEST(Grade, BuildStepAndFile) {
  StoredRun run = good_run();
  run.manifest.build_preset = "dev";
  EXPECT_EQ(grade(run).grade, 'D');
  run.manifest.device.time_source = TimeSource::modelled;
  change(run, [](Row& row) { row.time_source = TimeSource::modelled; });
  EXPECT_EQ(grade(run).grade, 'A');
  run.manifest.steps[0].state = "interrupted";
  EXPECT_EQ(grade(run).grade, 'C');
  run = good_run();
  run.probes[0].table->unprotected = 1;
  EXPECT_EQ(grade(run).grade, 'B');
  run.probes[0].table.reset();
  run.probes[0].problems = {"copy.csv:2: x"};
  EXPECT_EQ(grade(run).grade, 'D');
}

TEST(Grade, AProductBeyondThePeakIsImpossible) {
  StoredRun run = good_run();
  run.manifest.steps[0].probe = "gemm";
  run.manifest.device.roofs = {{"bf16_flop_per_s", 1e12, "datasheet"}};
  Rows products(gemm_schema());
  for (Row product : run.probes[0].table->rows.whole()) {
    const double seconds = std::get<double>(product.values[copy_schema().index("elapsed_s")]);
    product.values.assign(gemm_schema().size(), Cell());
    const auto set = [&](const char* name, Cell cell) {
      product.values[gemm_schema().index(name)] = std::move(cell);
    };
    set("m", product.point);
    set("dtype", std::string("bf16"));
    set("elapsed_s", seconds);
    set("flop_per_s", 1.05e12);
    set("clock_mhz", 2000.0);
    products.add(product);
  }
  run.probes[0].schema = &gemm_schema();
  run.probes[0].table->rows = std::move(products);
  EXPECT_EQ(grade(run).grade, 'A');
  spoil(run, 0.01, [](Row& row) { row.values[gemm_schema().index("flop_per_s")] = 1.2e12; });
  const ProbeGrade above = grade(run);
  EXPECT_EQ(above.grade, 'D');
  EXPECT_NE(above.reasons.at(0).find("peak"), std::string::npos);
}

}  // namespace
}  // namespace sonde
