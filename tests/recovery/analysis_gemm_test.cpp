// GEMM findings against values computed by hand, and the interval over shapes against its truth.
#include <gtest/gtest.h>

#include <cmath>

#include "report/findings.h"
#include "report/gemm.h"
#include "tests/output/report_runs.h"

namespace sonde {
namespace {

using testing_runs::RunWriter;
using testing_runs::TempDir;

constexpr double kPeak = 8e13;       // measured, of the square shape
constexpr double kBandwidth = 8e11;  // measured read of memory: ridge at 100 FLOP/B
constexpr double kSheetPeak = 1e14;
constexpr double kSheetBandwidth = 1.25e12;  // ridge at 80 FLOP/B
constexpr std::int64_t kCache = 1 << 20;

/// A device with one cache of 1 MiB and both roofs.
void describe_device(RunWriter& run) {
  run.manifest.device.memory = {
      {"L1", 1024, 64}, {"L2", kCache, 64}, {"HBM", std::int64_t{1} << 30, std::nullopt}};
  run.manifest.device.reference_clock_hz = 1650e6;
  run.manifest.device.roofs = {{"memory_bytes_per_s", kSheetBandwidth, "datasheet"},
                               {"bf16_flop_per_s", kSheetPeak, "datasheet"}};
  for (const char* probe : {"stream", "gemm"})
    run.manifest.steps.push_back({probe, {}, "complete", false, ""});
}

/// Memory read at kBandwidth; the cache, shared addresses and writes are faster and do not count.
void stream_rows(RunWriter& run) {
  const std::vector<double> rate(8, kBandwidth);
  run.stream("vector0-1", "read", 2 * kCache, rate);  // 4 MiB in all
  run.stream("vector0", "read", 2 * kCache + 4096, std::vector<double>(8, 0.5 * kBandwidth));
  run.stream("vector0-1", "read", kCache, std::vector<double>(8, 9e12));  // 2 MiB: not beyond
  run.stream("vector0-1", "read", 64 * kCache, std::vector<double>(8, 8e12), 4096, 1, "shared");
  run.stream("vector0-1", "write", 2 * kCache, std::vector<double>(8, 2e12));
}

double flop(double m, double n, double k) { return 2 * m * n * k; }
double intensity(double m, double n, double k) { return m * n * k / (m * k + k * n + m * n); }

/// Three shapes at 100, 50 and 25 % of what the measured roofs allow.
void gemm_rows(RunWriter& run) {
  run.gemm(4096, 4096, 4096, std::vector<double>(8, flop(4096, 4096, 4096) / kPeak), 1320, 500);
  const double second = 0.5 * intensity(64, 1024, 1024) * kBandwidth;
  run.gemm(64, 1024, 1024, std::vector<double>(8, flop(64, 1024, 1024) / second), 1650, 300);
  const double third = 0.25 * intensity(1, 512, 2048) * kBandwidth;
  run.gemm(1, 512, 2048, std::vector<double>(8, flop(1, 512, 2048) / third), 1650, 200);
}

struct Loaded {
  StoredRun run;
  RunAnalysis analysis;
  std::vector<Finding> findings;
  explicit Loaded(const std::filesystem::path& dir)
      : run(load_run(dir, {})), analysis(analyse_run(run)), findings(find_findings(analysis)) {}
  const Finding* find(const std::string& name) const {
    for (const Finding& finding : findings) {
      if (finding.name == name) return &finding;
    }
    return nullptr;
  }
  double value(const std::string& name) const {
    const Finding* finding = find(name);
    return finding != nullptr && finding->value ? *finding->value : std::nan("");
  }
};

TEST(AnalysisGemm, EveryFindingIsWhatHandsCompute) {
  TempDir temp;
  RunWriter run(temp.path() / "r");
  describe_device(run);
  stream_rows(run);
  gemm_rows(run);
  run.finish();
  const Loaded loaded(temp.path() / "r");
  const auto near = [&](const char* name, double expected) {
    EXPECT_NEAR(loaded.value(name), expected, 1e-9 * std::abs(expected)) << name;
  };
  near("stream.memory_bytes_per_s.read", kBandwidth);
  near("stream.peak_bytes_per_s.read", 9e12);
  near("gemm.peak_flop_per_s", kPeak);
  near("gemm.ridge_flop_per_byte", 100);
  near("gemm.fraction.mean", (1 + 0.5 + 0.25) / 3);
  near("gemm.fraction.median", 0.5);
  near("gemm.best", 1);
  near("gemm.below_ridge.median", 0.375);
  near("gemm.above_ridge.median", 1);
  near("gemm.below_236.median", 0.375);
  const double t1 = flop(4096, 4096, 4096) / kPeak;
  const double t2 = flop(64, 1024, 1024) / (0.5 * intensity(64, 1024, 1024) * kBandwidth);
  const double t3 = flop(1, 512, 2048) / (0.25 * intensity(1, 512, 2048) * kBandwidth);
  near("gemm.fraction.time_weighted", (t1 + 0.5 * t2 + 0.25 * t3) / (t1 + t2 + t3));
  // 64 % of the measured bandwidth over the datasheet's, 80 % of its peak.
  near("gemm.peak_flop_per_s.datasheet", kSheetPeak);
  near("gemm.ridge_flop_per_byte.datasheet", 80);
  near("gemm.fraction.mean.datasheet", (0.8 + 0.32 + 0.16) / 3);
  near("gemm.fraction.median.datasheet", 0.32);
  near("gemm.best.datasheet", 0.8);
  near("gemm.above_ridge.median.datasheet", 0.8);
  near("gemm.below_ridge.median.datasheet", 0.24);
  near("gemm.below_236.median.datasheet", 0.24);
  near("gemm.fraction.time_weighted.datasheet",
       (0.8 * t1 + 0.32 * t2 + 0.16 * t3) / (t1 + t2 + t3));
  // At 1320 of 1650 MHz the peak is 8e13; memory does not follow the core clock.
  near("gemm.fraction.mean.sampled_clock", (1 + 0.32 + 0.16) / 3);
  near("gemm.best.sampled_clock", 1);
  near("gemm.above_ridge.median.sampled_clock", 1);
  near("gemm.clock_mhz.median", 1650);
  near("gemm.power_w.median", 300);
  const Finding* mean = loaded.find("gemm.fraction.mean");
  ASSERT_NE(mean, nullptr);
  EXPECT_EQ(mean->n, 3);
  EXPECT_FALSE(mean->low);  // three shapes give no interval
  EXPECT_EQ(mean->unit, "1");
  EXPECT_NE(mean->basis.find("gemm.csv: bf16, kernel auto"), std::string::npos);
  EXPECT_EQ(loaded.find("gemm.peak_flop_per_s")->unit, "FLOP/s");
  EXPECT_EQ(loaded.analysis.gemm->roofline("")->above_roof, 0u);
}

TEST(AnalysisGemm, TheReferenceClockIsTheManifestsOrThereIsNoSuchVariant) {
  TempDir temp;
  RunWriter run(temp.path() / "r");
  describe_device(run);
  run.manifest.device.reference_clock_hz = 2640e6;
  gemm_rows(run);
  run.finish();
  const Loaded loaded(temp.path() / "r");
  EXPECT_EQ(loaded.analysis.gemm->reference_clock_mhz, 2640);
  // 1320 of 2640 MHz: half the datasheet peak, of which 8e13 is 1.6 times: flagged, not hidden.
  EXPECT_NEAR(loaded.value("gemm.best.sampled_clock"), 1.6, 1e-9);
  EXPECT_EQ(loaded.analysis.gemm->roofline(".sampled_clock")->above_roof, 1u);

  RunWriter unknown(temp.path() / "u");
  describe_device(unknown);
  unknown.manifest.device.reference_clock_hz.reset();
  gemm_rows(unknown);
  unknown.finish();
  const Loaded without(temp.path() / "u");
  EXPECT_EQ(without.find("gemm.best.sampled_clock"), nullptr);
  EXPECT_NE(without.find("gemm.best.datasheet"), nullptr);
}

TEST(AnalysisGemm, ShapesWithoutASampleAreCountedNeverZero) {
  TempDir temp;
  RunWriter run(temp.path() / "r");
  describe_device(run);
  stream_rows(run);
  gemm_rows(run);
  run.gemm(8, 8, 8, {0}, 0, 0, Status::skipped, "budget of 5 s is spent");
  run.gemm(16, 16, 16, {0}, 0, 0, Status::failed, "C[3,4] differs");
  run.gemm(32, 32, 32, {1e-9}, 0, 0, Status::throttled, "clock fell");
  run.finish();
  const Loaded loaded(temp.path() / "r");
  EXPECT_EQ(loaded.find("gemm.fraction.mean")->n, 3);
  EXPECT_NEAR(loaded.value("gemm.fraction.mean"), 1.75 / 3, 1e-9);
  EXPECT_NEAR(loaded.value("gemm.peak_flop_per_s"), kPeak, 1);  // the throttled row is no peak
  EXPECT_EQ(loaded.analysis.gemm->planned, 6u);
  EXPECT_EQ(loaded.analysis.gemm->shapes.size(), 3u);
  const RowCounts& counts = loaded.analysis.counts.at("gemm");
  EXPECT_EQ(counts.skipped, 1);
  EXPECT_EQ(counts.failed, 1);
  EXPECT_EQ(counts.throttled, 1);
  EXPECT_EQ(counts.empty_points.size(), 3u);
  EXPECT_NE(counts.empty_points[0].find("m 8, n 8, k 8"), std::string::npos);
}

TEST(AnalysisGemm, WithoutMemoryBandwidthThereIsNoMeasuredRoofline) {
  TempDir temp;
  RunWriter run(temp.path() / "r");
  describe_device(run);
  run.stream("vector0-1", "read", kCache, std::vector<double>(8, 9e12));  // stays in the cache
  gemm_rows(run);
  run.finish();
  const Loaded loaded(temp.path() / "r");
  EXPECT_EQ(loaded.find("gemm.fraction.mean"), nullptr);
  EXPECT_EQ(loaded.find("gemm.best"), nullptr);
  EXPECT_EQ(loaded.find("gemm.ridge_flop_per_byte"), nullptr);
  EXPECT_EQ(loaded.find("stream.memory_bytes_per_s.read"), nullptr);
  EXPECT_NEAR(loaded.value("gemm.fraction.median.datasheet"), 0.32, 1e-9);
  EXPECT_EQ(loaded.analysis.gemm->notes.size(), 1u);
  EXPECT_EQ(loaded.analysis.gemm->main_roofline()->suffix, ".datasheet");
}

TEST(AnalysisGemm, WithoutAnyRoofThereIsThePeakAlone) {
  TempDir temp;
  RunWriter run(temp.path() / "r");
  describe_device(run);
  run.manifest.device.roofs.clear();
  gemm_rows(run);
  run.finish();
  const Loaded loaded(temp.path() / "r");
  EXPECT_NEAR(loaded.value("gemm.peak_flop_per_s"), kPeak, 1);
  EXPECT_EQ(loaded.analysis.gemm->main_roofline(), nullptr);
  EXPECT_EQ(loaded.analysis.gemm->notes.size(), 2u);
  for (const Finding& finding : loaded.findings)
    EXPECT_EQ(finding.name.find("fraction"), std::string::npos) << finding.name;
}

TEST(AnalysisGemm, TheIntervalOverShapesHoldsItsTruth) {
  // Fractions drawn evenly from 0.4 to 0.8, memory bound, so the datasheet's fraction is the drawn
  // one: 95 % intervals of the mean and the median have to hold 0.6 in most of 200 sweeps.
  Manifest manifest;
  manifest.device.time_source = TimeSource::modelled;
  manifest.device.roofs = {{"memory_bytes_per_s", kSheetBandwidth, ""},
                           {"bf16_flop_per_s", kSheetPeak, ""}};
  manifest.steps.push_back({"gemm", {}, "complete", false, ""});
  int mean = 0, middle = 0;
  constexpr int kSweeps = 200;
  for (int sweep = 0; sweep < kSweeps; ++sweep) {
    manifest.seed = static_cast<std::uint64_t>(sweep);
    Rng rng(key_of({17, manifest.seed}));
    ProbeRows probe{&gemm_schema(), "gemm.csv", Table(gemm_schema()), {}};
    for (std::int64_t n = 1; n <= 40; ++n) {
      const double fraction = 0.4 + 0.4 * rng.uniform();
      const auto wide = static_cast<double>(64 * n);
      const double rate = fraction * intensity(1, wide, 512) * kSheetBandwidth;
      Row row;
      row.time_source = TimeSource::modelled;
      row.values = {std::int64_t{1}, 64 * n, std::int64_t{512}, "bf16", "auto", Cell()};
      row.values.resize(gemm_schema().size());
      row.values[gemm_schema().index("elapsed_s")] = flop(1, wide, 512) / rate;
      row.values[gemm_schema().index("flop")] = flop(1, wide, 512);
      row.values[gemm_schema().index("intensity_flop_per_byte")] = intensity(1, wide, 512);
      probe.table->rows.add(row);
    }
    const GemmAnalysis gemm =
        analyse_gemm(group_rows(probe, TimeSource::modelled), manifest, std::nullopt);
    const GemmRoofline* line = gemm.roofline(".datasheet");
    ASSERT_NE(line, nullptr);
    ASSERT_TRUE(line->mean.interval && line->median.interval);
    EXPECT_LT(line->mean.interval->width(), 0.12);
    if (line->mean.interval->contains(0.6)) ++mean;
    if (line->median.interval->contains(0.6)) ++middle;
  }
  // 190 of 200 expected; three standard deviations of a binomial are 9.
  EXPECT_GE(mean, 178);
  EXPECT_GE(middle, 178);
}

const std::map<std::string, std::string> kRotated = {
    {"dtype", "bf16"}, {"kernel", "auto"}, {"state", "rotated"}};

std::map<std::string, std::string> rotated(const std::map<std::string, std::string>& more) {
  std::map<std::string, std::string> axes = kRotated;
  for (const auto& [name, value] : more) axes[name] = value;
  return axes;
}

TEST(AnalysisGemm, RoofsAnchorsAndRegisterLoopsAreNoShapes) {
  TempDir temp;
  RunWriter run(temp.path() / "r", false);
  describe_device(run);
  stream_rows(run);
  const std::vector<double> shape(8, flop(2048, 2048, 2048) / 4e13);
  run.gemm_as(2048, 2048, 2048, shape, kRotated);
  run.gemm_as(2048, 2048, 2048, {1e-3}, rotated({{"state", "warm"}}));  // another sweep
  run.gemm_as(4096, 4096, 4096, std::vector<double>(8, flop(4096, 4096, 4096) / 6e13),
              rotated({{"role", "roof"}}));
  run.gemm_as(512, 512, 512, std::vector<double>(8, 1e-5), rotated({{"role", "anchor/0"}}));
  run.gemm_as(512, 512, 512, std::vector<double>(8, 1.5e-5), rotated({{"role", "anchor/1"}}));
  const double work = flop(1024, 1024, 1024);
  const auto loop = [&](const char* dtype, const char* kernel, double rate, const char* note) {
    run.gemm_as(1024, 1024, 1024, std::vector<double>(8, work / rate),
                rotated({{"dtype", dtype}, {"kernel", kernel}, {"role", "register"}}), note);
  };
  loop("bf16", "register", 8e13, "AMX, registers only, 2 threads");
  loop("bf16", "register_vector", 1e12, "AVX-512 BF16, registers only, 2 threads");
  loop("fp32", "register", 2e12, "AVX-512 FMA, registers only, 2 threads");
  run.finish();
  const Loaded loaded(temp.path() / "r");
  const GemmAnalysis& gemm = *loaded.analysis.gemm;
  EXPECT_EQ(gemm.shapes.size(), 1u);
  EXPECT_EQ(gemm.planned, 1u);
  EXPECT_EQ(gemm.state, "rotated");
  EXPECT_NEAR(loaded.value("gemm.peak_flop_per_s"), 8e13, 1) << "the register loop is the roof";
  EXPECT_NEAR(loaded.value("gemm.fraction.median"), 0.5, 1e-9);
  EXPECT_NEAR(loaded.value("gemm.register_flop_per_s.bf16"), 8e13, 1);
  EXPECT_NEAR(loaded.value("gemm.register_flop_per_s.bf16.vector"), 1e12, 1);
  EXPECT_NEAR(loaded.value("gemm.register_flop_per_s.fp32"), 2e12, 1);
  EXPECT_NEAR(loaded.value("gemm.anchor_spread"), 0.5e-5 / 1.25e-5, 1e-9);
  ASSERT_EQ(gemm.notes.size(), 2u);
  EXPECT_NE(gemm.notes[0].find("AVX-512 BF16 runs slower than FP32 by AVX-512 FMA"),
            std::string::npos)
      << gemm.notes[0];
  EXPECT_NE(gemm.notes[1].find("the machine changed"), std::string::npos) << gemm.notes[1];
}

TEST(AnalysisGemm, ShapesThatNoRoofAllowsAreCounted) {
  const auto impossible = [&](double rate, double spread, const char* state, bool compute_bound) {
    TempDir temp;
    RunWriter run(temp.path() / "r", false);
    describe_device(run);
    const std::int64_t m = compute_bound ? 4096 : 1;
    const double roof = compute_bound ? kSheetPeak : intensity(1, 4096, 4096) * kSheetBandwidth;
    std::vector<double> seconds;
    seconds.reserve(12);
    for (int i = 0; i < 12; ++i) {
      seconds.push_back(flop(static_cast<double>(m), 4096, 4096) / (rate * roof) *
                        (1 + spread * (i % 3 - 1)));
    }
    run.gemm_as(m, 4096, 4096, seconds,
                rotated(*state == '\0' ? std::map<std::string, std::string>{{"state", "warm"}}
                                       : std::map<std::string, std::string>{{"state", state}}));
    run.finish();
    return Loaded(temp.path() / "r").value("gemm.impossible_shapes");
  };
  EXPECT_EQ(impossible(0.99, 0.0, "rotated", true), 0);
  EXPECT_EQ(impossible(1.05, 0.0, "rotated", true), 1);
  EXPECT_EQ(impossible(1.05, 0.2, "rotated", true), 0) << "the interval reaches the roof";
  EXPECT_EQ(impossible(1.05, 0.0, "rotated", false), 1);
  EXPECT_EQ(impossible(1.05, 0.0, "warm", false), 0) << "warm operands may lie in a cache";
  EXPECT_EQ(impossible(1.05, 0.0, "warm", true), 1) << "which does not help the matrix units";
}

TEST(AnalysisGemm, GroupsByMByLayerAndByModel) {
  TempDir temp;
  RunWriter run(temp.path() / "r");
  describe_device(run);
  int i = 0;
  for (const std::int64_t m : {1, 16}) {
    for (const char* layer : {"qkv", "down"}) {
      for (const char* model : {"A-1.5B", "B 2"}) {
        const double n = 1024 + 128 * ++i;
        const double share = (m == 1 ? 0.2 : 0.4) + (*layer == 'q' ? 0.1 : 0.0);
        const double rate = share * intensity(static_cast<double>(m), n, 512) * kSheetBandwidth;
        run.gemm(m, static_cast<std::int64_t>(n), 512,
                 std::vector<double>(8, flop(static_cast<double>(m), n, 512) / rate), 0, 0,
                 Status::ok, "", std::string(model) + " " + layer + " tp2");
      }
    }
  }
  run.finish();
  const Loaded loaded(temp.path() / "r");
  EXPECT_NEAR(loaded.value("gemm.by_m.1.median.datasheet"), 0.25, 1e-9);
  EXPECT_NEAR(loaded.value("gemm.by_m.16.median.datasheet"), 0.45, 1e-9);
  EXPECT_NEAR(loaded.value("gemm.by_layer.qkv.median.datasheet"), 0.4, 1e-9);
  EXPECT_NEAR(loaded.value("gemm.by_model.A-1.5B.median.datasheet"), 0.35, 1e-9);
  EXPECT_NEAR(loaded.value("gemm.by_model.B 2.median.datasheet"), 0.35, 1e-9);
}

TEST(AnalysisStream, WhatWasShapedIsNotMixedIn) {
  TempDir temp;
  RunWriter run(temp.path() / "r");
  run.stream("vector0", "read", 1 << 20, std::vector<double>(8, 1e9));
  for (std::size_t i = 0; i < 8; ++i) {  // faster, but re-read from a cache as was asked
    run.row(stream_schema(),
            {"vector0", "read", std::int64_t{1 << 20}, std::int64_t{2048}, std::int64_t{64},
             "private", std::int64_t{1}, "none", Cell(), Cell(), Cell(), std::int64_t{4}, Cell()},
            {{"moved_bytes", std::int64_t{1 << 20}},
             {"elapsed_s", 1e-5},
             {"bandwidth_bytes_per_s", 9e9},
             {"counting", "each array once a pass and core"}},
            i);
  }
  run.next_point();
  run.finish();
  const Loaded loaded(temp.path() / "r");
  EXPECT_EQ(loaded.value("stream.peak_bytes_per_s.read"), 1e9);
}

}  // namespace
}  // namespace sonde
