#include "harness/runner.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <set>

#include "core/rng.h"
#include "core/statistics.h"

namespace sonde {
namespace {

/// Counts what the harness asks of it; its time advances by what a sample takes.
class FakeDevice : public Device {
 public:
  FakeDevice() {
    description_.name = "fake";
    description_.time_source = TimeSource::modelled;
    description_.cores = {{"core", 0}};
  }
  const DeviceDescription& description() const noexcept override { return description_; }
  Telemetry telemetry() override {
    Telemetry reading =
        readings_.empty() ? Telemetry{Hertz(1e9), std::nullopt, std::nullopt} : readings_.front();
    if (!readings_.empty()) readings_.erase(readings_.begin());
    return reading;
  }
  Seconds now() override { return Seconds(now_); }
  void resume_at(Seconds time) override { now_ = time.value(); }

  DeviceDescription description_;
  double now_ = 0;
  std::vector<Telemetry> readings_;  ///< given out in turn
  double step_ = 2e-3;               ///< device time of one sample
};

/// Points whose behaviour is chosen by their label.
class FakeProbe : public Probe {
 public:
  const Schema& schema() const override { return chase_schema(); }
  std::string about() const override { return ""; }
  void add_options(CommandLine&) override {}
  std::vector<Point> plan(const Selection&) override { return points; }
  std::map<std::string, std::string> options() const override { return {}; }
  std::vector<Point> extend(const Selection&, const std::vector<Point>& known,
                            const std::vector<PointSamples>& samples) override {
    return grow ? grow(known, samples) : std::vector<Point>();
  }
  Sample measure(Device& device, const Point& point, const Trial& trial, Row& row) override {
    ++calls;
    const Cell latency = 1.0;
    set(schema(), row, "loads", std::int64_t{1});
    set(schema(), row, "latency_ns", latency);
    if (point.label == "skip") throw Skip("no engine");
    if (point.label == "fail") throw PointFailure("verify: byte 3");
    if (point.label == "fail later" && trial.repetition == 3) throw PointFailure("late");
    Sample sample;
    sample.before = device.telemetry();
    if (point.label == "odd") throw std::runtime_error("something else");
    Rng rng(key_of({trial.seed, static_cast<std::uint64_t>(trial.point),
                    static_cast<std::uint64_t>(trial.repetition),
                    static_cast<std::uint64_t>(device.now().value() * 1e9)}));
    const double noise = point.label == "noisy" ? 0.5 : 0.001;
    const double elapsed = 1e-3 * (1 + noise * static_cast<double>(rng.gaussian_q16()) / 65536);
    static_cast<FakeDevice&>(device).now_ += static_cast<FakeDevice&>(device).step_;
    sample.after = device.telemetry();
    sample.elapsed = Seconds(std::max(elapsed, 1e-6));
    sample.placement = {{"core", 0}};
    if (point.label == "clocked") sample.clock = Hertz(2.5e9);
    return sample;
  }

  std::vector<Point> points;
  std::function<std::vector<Point>(const std::vector<Point>&, const std::vector<PointSamples>&)>
      grow;
  int calls = 0;
};

Point point(const std::string& label) {
  Point p;
  p.axes = {std::string("core0"), std::int64_t{1}, std::int64_t{64}, std::string("warm")};
  p.label = label;
  return p;
}

class RunnerTest : public ::testing::Test {
 protected:
  RunnerTest() { options_.no_progress = true; }
  Outcome run(const std::vector<Row>& stored = {}) {
    rows_ = stored;
    const std::vector<Row> before = stored;
    Runner runner(probe_, device_, selection_, probe_.points, options_, before,
                  [&](const Row& row) { rows_.push_back(row); });
    return runner.run();
  }
  std::vector<Row> of(std::int64_t p) const {
    std::vector<Row> found;
    std::copy_if(rows_.begin(), rows_.end(), std::back_inserter(found),
                 [&](const Row& r) { return r.point == p; });
    return found;
  }
  static std::vector<std::vector<std::string>> cells(const std::vector<Row>& rows) {
    std::vector<std::vector<std::string>> all;
    all.reserve(rows.size());
    for (const Row& row : rows) all.push_back(row_cells(chase_schema(), row));
    return all;
  }

  FakeDevice device_;
  Selection selection_{device_.description(), std::nullopt, false, 1, std::nullopt};
  FakeProbe probe_;
  CommonOptions options_;
  std::vector<Row> rows_;
};

TEST_F(RunnerTest, ExactRepetitionsInInterleavedRounds) {
  probe_.points = {point("a"), point("b"), point("c")};
  options_.repetitions = 5;
  const Outcome outcome = run();
  EXPECT_EQ(outcome.ok, 3);
  ASSERT_EQ(rows_.size(), 15u);
  for (std::size_t i = 0; i < rows_.size(); ++i) {
    EXPECT_EQ(rows_[i].order, static_cast<std::int64_t>(i));
    EXPECT_EQ(rows_[i].repetition,
              static_cast<std::int64_t>(i / 3));  // a round holds every point once
    EXPECT_EQ(rows_[i].status, Status::ok);
    EXPECT_EQ(rows_[i].text(chase_schema(), "placement"), "core0");
    EXPECT_EQ(rows_[i].number(chase_schema(), "clock_mhz"), 1000);
    EXPECT_FALSE(rows_[i].number(chase_schema(), "power_w"));
  }
  std::set<std::vector<std::int64_t>> orders;
  for (int round = 0; round < 5; ++round) {
    std::vector<std::int64_t> order;
    for (auto row = rows_.begin() + 3 * round; row != rows_.begin() + 3 * round + 3; ++row) {
      order.push_back(row->point);
    }
    orders.insert(order);
  }
  EXPECT_GT(orders.size(), 1u);  // shuffled anew each round
}

TEST_F(RunnerTest, TheMeasuredCoreKnowsItsClockAndPowerIsThatOfTheSample) {
  probe_.points = {point("clocked")};
  options_.repetitions = 2;
  // Before and after the first sample, then around the second, after which nothing is known.
  device_.readings_ = {{Hertz(1e9), Watts(100), Celsius(40)},
                       {Hertz(1e9), Watts(300), Celsius(50)},
                       {Hertz(1e9), Watts(100), Celsius(40)},
                       {std::nullopt, std::nullopt, std::nullopt}};
  run();
  EXPECT_EQ(rows_.at(0).number(chase_schema(), "clock_mhz"), 2500);
  EXPECT_EQ(rows_.at(0).number(chase_schema(), "power_w"), 300);
  EXPECT_EQ(rows_.at(0).number(chase_schema(), "temperature_c"), 45);
  EXPECT_FALSE(rows_.at(1).number(chase_schema(), "power_w"));
  EXPECT_FALSE(rows_.at(1).number(chase_schema(), "temperature_c"));
}

TEST_F(RunnerTest, ListedOrderIsKept) {
  probe_.points = {point("a"), point("b"), point("c")};
  options_.repetitions = 2;
  options_.order = "listed";
  run();
  for (std::size_t i = 0; i < rows_.size(); ++i)
    EXPECT_EQ(rows_[i].point, static_cast<std::int64_t>(i % 3));
}

TEST_F(RunnerTest, AdaptiveStopsQuietPointsEarlyAndCapsNoisyOnes) {
  probe_.points = {point("quiet"), point("noisy")};
  run();
  EXPECT_EQ(static_cast<std::int64_t>(of(0).size()), kLooks[0]);
  EXPECT_EQ(static_cast<std::int64_t>(of(1).size()), kMostSamples);
}

TEST_F(RunnerTest, SlowPointsStopAtALook) {
  probe_.points = {point("noisy")};
  device_.step_ = 0.19;  // 2 s are over after 11 samples: the next look is at 12
  run();
  EXPECT_EQ(of(0).size(), 12u);
}

TEST_F(RunnerTest, OneBadPointCostsOnePoint) {
  probe_.points = {point("a"),   point("skip"), point("fail"),
                   point("odd"), point("b"),    point("fail later")};
  options_.repetitions = 8;
  const Outcome outcome = run();
  EXPECT_EQ(outcome.ok, 2);
  EXPECT_EQ(outcome.skipped, 1);
  EXPECT_EQ(outcome.failed, 3);
  EXPECT_EQ(of(0).size(), 8u);
  EXPECT_EQ(of(4).size(), 8u);
  ASSERT_EQ(of(1).size(), 1u);
  EXPECT_EQ(of(1)[0].status, Status::skipped);
  EXPECT_EQ(of(1)[0].reason, "no engine");
  ASSERT_EQ(of(2).size(), 1u);
  EXPECT_EQ(of(2)[0].status, Status::failed);
  EXPECT_EQ(of(2)[0].reason, "verify: byte 3");
  EXPECT_FALSE(of(2)[0].number(chase_schema(), "latency_ns"));  // no number of a failed point
  EXPECT_FALSE(of(2)[0].number(chase_schema(), "elapsed_s"));
  EXPECT_EQ(of(3)[0].reason, "something else");
  ASSERT_EQ(of(5).size(), 4u);  // three good ones stay
  EXPECT_EQ(of(5)[3].status, Status::failed);
}

TEST_F(RunnerTest, PlannedSkipsAreNotMeasured) {
  probe_.points = {point("a")};
  probe_.points[0].skip = "beyond memory";
  run();
  EXPECT_EQ(probe_.calls, 0);
  EXPECT_EQ(rows_.at(0).reason, "beyond memory");
}

TEST_F(RunnerTest, BudgetSkipsWhatIsLeftAndSaysSo) {
  probe_.points = {point("a"), point("b"), point("c")};
  options_.repetitions = 100;
  options_.budget_s = 0.021;  // ten samples of two modelled milliseconds and a bit
  const Outcome outcome = run();
  EXPECT_EQ(outcome.ok, 3);
  EXPECT_EQ(probe_.calls, 10);
  int skipped = 0;
  for (const Row& row : rows_) {
    if (row.status != Status::skipped) continue;
    ++skipped;
    EXPECT_NE(row.reason.find("budget of 0.021 s"), std::string::npos);
  }
  EXPECT_EQ(skipped, 3);
}

TEST_F(RunnerTest, APointThatDoesNotFitTheBudgetIsNotBegun) {
  probe_.points = {point("small"), point("large")};
  probe_.points[0].estimate_s = 0.1;  // really 2 ms: the estimates are 50 times too long
  probe_.points[1].estimate_s = 1;    // so really about 20 ms a sample, 160 ms for an interval
  probe_.points[1].batch = 1;
  options_.repetitions = 8;
  options_.budget_s = 0.17;  // 16 ms for the first, 154 ms left
  run();
  EXPECT_EQ(of(0).size(), 8u);
  ASSERT_EQ(of(1).size(), 1u);
  EXPECT_EQ(of(1)[0].status, Status::skipped);
  EXPECT_EQ(of(1)[0].reason, "it does not fit into what is left of the budget of 0.17 s");
  options_.budget_s = 0.18;
  device_.now_ = 0;
  run();
  EXPECT_EQ(of(1).size(), 8u);
}

TEST_F(RunnerTest, APointThatFailedIsTriedAgainByAResumeOfARealDevice) {
  probe_.points = {point("fail later"), point("a")};
  device_.description_.time_source = TimeSource::host_clock;
  options_.repetitions = 8;
  EXPECT_EQ(run().failed, 1);
  EXPECT_EQ(of(0).size(), 4u);
  const Outcome again = run(rows_);
  EXPECT_EQ(again.failed, 0);
  EXPECT_EQ(of(0).size(), 9u);  // the failed row stays, eight good ones are there
  EXPECT_EQ(
      std::count_if(rows_.begin(), rows_.end(),
                    [](const Row& row) { return row.point == 0 && row.status == Status::ok; }),
      8);
}

TEST_F(RunnerTest, BatchesAreFinishedOneAfterTheOther) {
  probe_.points = {point("a"), point("b"), point("c"), point("d")};
  probe_.points[0].batch = 1;
  probe_.points[2].batch = 1;
  options_.repetitions = 5;
  run();
  ASSERT_EQ(rows_.size(), 20u);
  for (std::size_t i = 0; i < rows_.size(); ++i) {
    EXPECT_EQ(rows_[i].point % 2, i < 10 ? 1 : 0) << i;
    EXPECT_EQ(rows_[i].repetition, static_cast<std::int64_t>(i % 10 / 2)) << i;
  }
}

TEST_F(RunnerTest, ASampleDuringWhichTheDeviceWasHeldBackIsThrottled) {
  probe_.points = {point("a")};
  options_.repetitions = 2;
  Telemetry reading;
  reading.throttle_events = 5;
  device_.readings_ = {reading, reading, reading};
  reading.throttle_events = 7;
  device_.readings_.push_back(reading);
  run();
  EXPECT_EQ(rows_.at(0).status, Status::ok);
  EXPECT_EQ(rows_.at(1).status, Status::throttled);
  EXPECT_NE(rows_.at(1).reason.find("held back 2 times"), std::string::npos);
  EXPECT_TRUE(rows_.at(1).number(chase_schema(), "latency_ns"));  // kept
}

/// A probe whose samples are series of three rows.
class SeriesProbe : public FakeProbe {
 public:
  const Schema& schema() const override { return profile_schema(); }
  std::int64_t rows_per_sample() const override { return 3; }
  std::vector<Row> rows(const Sample& sample, Row row) const override {
    std::vector<Row> all;
    for (const AddressTime& at : sample.series) {
      set(schema(), row, "address_index", static_cast<std::int64_t>(all.size()));
      set(schema(), row, "address_bytes", at.address_bytes);
      set(schema(), row, "latency_ns", nanoseconds(at.latency));
      all.push_back(row);
    }
    return all;
  }
  Sample measure(Device& device, const Point& point, const Trial&, Row&) override {
    if (point.label == "fail") throw PointFailure("broken");
    static_cast<FakeDevice&>(device).now_ += 1e-3;
    Sample sample;
    sample.elapsed = Seconds(1e-3);
    for (int i = 0; i < 3; ++i)
      sample.series.push_back({std::int64_t{64} * i, Seconds((100 + i) * 1e-9)});
    return sample;
  }
};

class SeriesTest : public ::testing::Test {
 protected:
  SeriesTest() {
    options_.no_progress = true;
    options_.repetitions = 2;
    for (const char* label : {"a", "fail", "b"}) {
      Point p;
      p.axes = {std::string("core0"), Cell()};
      p.label = label;
      points_.push_back(p);
    }
  }
  std::vector<Row> run(const std::vector<Row>& stored) {
    device_.now_ = 0;
    std::vector<Row> rows = stored;
    Runner runner(probe_, device_, selection_, points_, options_, stored,
                  [&](const Row& row) { rows.push_back(row); });
    runner.run();
    return rows;
  }
  static std::vector<std::vector<std::string>> cells(const std::vector<Row>& rows) {
    std::vector<std::vector<std::string>> all;
    all.reserve(rows.size());
    for (const Row& row : rows) all.push_back(row_cells(profile_schema(), row));
    return all;
  }
  FakeDevice device_;
  Selection selection_{device_.description(), std::nullopt, false, 1, std::nullopt};
  SeriesProbe probe_;
  std::vector<Point> points_;
  CommonOptions options_;
};

TEST_F(SeriesTest, ASampleBecomesOneRowAnAddress) {
  const std::vector<Row> rows = run({});
  ASSERT_EQ(rows.size(), 2u * 2 * 3 + 1);  // two good points, twice, three rows; one failed row
  EXPECT_EQ(rows.back().integer(profile_schema(), "address_index"), 2);
  EXPECT_EQ(rows.back().number(profile_schema(), "latency_ns"), 102);
  EXPECT_EQ(rows.back().integer(profile_schema(), "address_bytes"), 128);
  for (const Row& row : rows) {
    if (row.status == Status::failed) {
      EXPECT_FALSE(row.integer(profile_schema(), "address_index"));
    }
  }
}

TEST_F(SeriesTest, KilledAnywhereItEndsWithTheSameRows) {
  const std::vector<Row> whole = run({});
  for (std::size_t kept = 0; kept <= whole.size(); ++kept) {
    std::vector<Row> stored(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(kept));
    stored.resize(stored.size() - incomplete_tail(probe_, stored));
    EXPECT_EQ(cells(run(stored)), cells(whole)) << kept;
  }
}

TEST_F(SeriesTest, ASampleThatIsNotWholeFurtherUpIsRefused) {
  std::vector<Row> rows = run({});
  const auto second = std::find_if(rows.begin(), rows.end(), [](const Row& row) {
    return row.status == Status::ok && row.values[1] == Cell(std::int64_t{1});
  });
  rows.erase(second);
  EXPECT_THROW(incomplete_tail(probe_, rows), UsageError);
}

TEST_F(RunnerTest, ResumeFromAnyPrefixEndsWithTheSameRows) {
  probe_.points = {point("quiet"), point("noisy"), point("fail later"), point("skip")};
  run();
  const std::vector<Row> whole = rows_;
  for (std::size_t kept = 0; kept <= whole.size(); kept += 7) {
    device_.now_ = 0;
    run({whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(kept)});
    EXPECT_EQ(cells(rows_), cells(whole)) << kept;
  }
}

/// Points in turns of two, until eight: sizes that follow from the slowest sample so far.
std::vector<Point> two_more(const std::vector<Point>& known,
                            const std::vector<PointSamples>& samples) {
  EXPECT_EQ(known.size(), samples.size());
  if (known.size() >= 8) return {};
  double slowest = 0;
  for (const PointSamples& s : samples) {
    for (double elapsed : s.elapsed_s) slowest = std::max(slowest, elapsed);
  }
  std::vector<Point> more = {known.front(), point("noisy"), point("quiet")};  // the first is there
  for (std::size_t i = 1; i < more.size(); ++i) {
    more[i].axes[2] = static_cast<std::int64_t>(slowest * 1e12) +
                      static_cast<std::int64_t>(10 * known.size() + i);
    more[i].batch = static_cast<std::int64_t>(i % 2);
  }
  return more;
}

TEST_F(RunnerTest, APlanGrowsFromWhatWasMeasured) {
  probe_.points = {point("noisy"), point("fail")};
  probe_.points[1].axes[2] = std::int64_t{128};
  probe_.grow = two_more;
  options_.repetitions = 4;
  const Outcome outcome = run();
  EXPECT_EQ(outcome.ok, 7);  // two, and three turns of two
  EXPECT_EQ(outcome.failed, 1);
  for (std::int64_t p : {2, 3, 4, 5, 6, 7}) EXPECT_EQ(of(p).size(), 4u) << p;
  EXPECT_LT(of(3).back().order, of(2).front().order);  // the lower batch of a turn comes first
  EXPECT_LT(of(2).back().order, of(5).front().order);  // and a turn after the one before it
}

TEST_F(RunnerTest, AGrownPlanResumesFromAnyPrefixWithTheSameRows) {
  probe_.points = {point("noisy"), point("fail")};
  probe_.points[1].axes[2] = std::int64_t{128};
  probe_.grow = two_more;
  options_.repetitions = 3;
  run();
  const std::vector<Row> whole = rows_;
  for (std::size_t kept = 0; kept <= whole.size(); ++kept) {
    device_.now_ = 0;
    run({whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(kept)});
    EXPECT_EQ(cells(rows_), cells(whole)) << kept;
  }
}

TEST_F(RunnerTest, ABudgetEndsTheGrowth) {
  probe_.points = {point("a")};
  probe_.grow = two_more;
  options_.repetitions = 4;
  options_.budget_s = 0.0205;  // ten samples of 2 ms: one point, and one and a half of a turn
  EXPECT_EQ(run().measured, 4 + 4 + 2 + 1);
  const std::vector<Row> whole = rows_;
  EXPECT_EQ(whole.back().point, 1);
  EXPECT_EQ(whole.back().status, Status::skipped);
  device_.now_ = 0;
  EXPECT_EQ(run(whole).measured, 0);
}

TEST_F(RunnerTest, RowsBeyondAGrownPlanAreRefused) {
  probe_.points = {point("a")};
  probe_.grow = two_more;
  options_.repetitions = 2;
  run();
  const std::vector<Row> whole = rows_;
  probe_.grow = [](const std::vector<Point>& known, const std::vector<PointSamples>& samples) {
    return known.size() < 5 ? two_more(known, samples) : std::vector<Point>();
  };
  EXPECT_THROW(run(whole), UsageError);
  EXPECT_EQ(rows_.size(), whole.size());  // nothing was measured before that
  // A file of which the first points are gone.
  EXPECT_THROW(run({whole.begin() + 2, whole.end()}), UsageError);
}

TEST_F(RunnerTest, StoredRowsWithOtherAxesAreRefused) {
  probe_.points = {point("a"), point("b")};
  options_.repetitions = 3;
  run();
  const std::vector<Row> rows = rows_;
  probe_.points[1].axes[0] = std::string("core7");  // other cores may be used than before
  EXPECT_THROW(run(rows), UsageError);
}

TEST_F(RunnerTest, StoredRowsOfAnotherPlanAreRefused) {
  probe_.points = {point("a"), point("b")};
  options_.repetitions = 1;
  run();
  const std::vector<Row> rows = rows_;
  probe_.points.resize(1);
  EXPECT_THROW(run(rows), UsageError);
}

}  // namespace
}  // namespace sonde
