#include "device/host/gemm.h"

#include "core/units.h"
#include "tests/unit/host_fixture.h"

namespace sonde::host {
namespace {

class HostGemm : public HostFixture {
 protected:
  HostGemm() : engine_(machine_, description_) {
    // A last cache of any machine would make rotated sets of hundreds of MiB.
    if (machine_.caches.empty()) machine_.caches.push_back({"L1d", 1, 0, 64, 1});
    machine_.caches.back().capacity_bytes = 4 * kMiB;
  }
  /// In the type that the kernel has; warm, so that small machines run the tests.
  static GemmWork work(std::int64_t m, std::int64_t n, std::int64_t k, const std::string& kernel) {
    GemmWork w;
    w.m = m;
    w.n = n;
    w.k = k;
    w.kernel = kernel;
    w.dtype = kernel == "eigen" ? "fp32" : "bf16";
    w.warm = true;
    w.seed = 6;
    return w;
  }
  /// Kernels that form a product.
  static std::vector<std::string> products() { return {"auto", "onednn", "onednn_plain", "eigen"}; }
  Check measure(const GemmWork& w, Sample* sample = nullptr) {
    engine_.prepare(w);
    const Sample taken = engine_.run({});
    if (sample != nullptr) *sample = taken;
    return engine_.verify();
  }
  GemmEngine engine_;
};

TEST_F(HostGemm, EveryKernelIsRightForAnyShape) {
  for (const std::string& kernel : products()) {
    for (const auto& [m, n, k] : {std::tuple{1, 1, 1},
                                  {1, 300, 200},
                                  {300, 1, 200},
                                  {300, 200, 1},
                                  {33, 65, 127},
                                  {128, 256, 512},
                                  {129, 256, 512},
                                  {3, 5, 20000}}) {
      Sample sample;
      const Check check = measure(work(m, n, k, kernel), &sample);
      EXPECT_TRUE(check.ok) << kernel << " " << m << "x" << n << "x" << k << ": " << check.problem;
      EXPECT_EQ(sample.placement, description_.cores);
      EXPECT_NE(sample.note.find("warm operands"), std::string::npos) << sample.note;
      EXPECT_GT(sample.elapsed.value(), 0);
      EXPECT_LT(sample.elapsed.value(), 1);
    }
  }
}

TEST_F(HostGemm, Fp32IsRightToItsOwnPrecision) {
  for (const std::string& kernel : products()) {
    GemmWork w = work(40, 30, 3000, kernel);
    w.dtype = "fp32";
    EXPECT_TRUE(measure(w).ok) << kernel;
    // A BF16 result would pass for BF16; here an error of a ten-thousandth is one.
    const float good = engine_.product()->element(0, 39, 29);
    engine_.product()->put(39, 29, good + 1e-2F);
    EXPECT_FALSE(engine_.verify().ok) << kernel;
  }
}

TEST_F(HostGemm, AWrongElementAndAProductThatNeverRanAreCaught) {
  for (const std::string& kernel : products()) {
    for (const bool warm : {true, false}) {
      GemmWork w = work(20, 30, 256, kernel);
      w.warm = warm;
      engine_.prepare(w);
      EXPECT_FALSE(engine_.verify().ok) << "what the warm-up computed must not pass";
      engine_.run({});
      EXPECT_TRUE(engine_.verify().ok) << kernel;
      const float good = engine_.product()->element(0, 19, 29);
      engine_.product()->put(19, 29, good + 1);
      const Check check = engine_.verify();
      EXPECT_FALSE(check.ok) << kernel;
      EXPECT_NE(check.problem.find("C[19, 29]"), std::string::npos) << check.problem;
    }
  }
}

TEST_F(HostGemm, RotatedSetsAreAllRightAndFollowShapeAndSeed) {
  for (const std::string& kernel : products()) {
    GemmWork w = work(8, 640, 960, kernel);
    w.warm = false;
    for (const std::int64_t m : {8, 200, 1}) {
      w.m = m;
      for (const std::uint64_t seed : {1U, 2U}) {
        w.seed = seed;
        // Other sets each time.
        for (int repetition = 0; repetition < 3; ++repetition) {
          Sample sample;
          const Check check = measure(w, &sample);
          EXPECT_TRUE(check.ok) << kernel << ": " << check.problem;
          EXPECT_NE(sample.note.find("sets of operands"), std::string::npos) << sample.note;
        }
      }
    }
  }
}

TEST_F(HostGemm, KeptWeightsFollowShapeAndSeed) {
  for (const std::string& kernel : products()) {
    GemmWork w = work(8, 64, 96, kernel);
    for (const std::int64_t m : {8, 200, 1}) {
      w.m = m;
      for (const std::uint64_t seed : {1U, 2U}) {
        w.seed = seed;
        const Check check = measure(w);
        EXPECT_TRUE(check.ok) << kernel << ": " << check.problem;
      }
    }
    EXPECT_TRUE(measure(work(8, 96, 64, kernel)).ok) << kernel;
  }
}

TEST_F(HostGemm, RunsOnTheCoresThatWereNamedOrCounted) {
  for (const std::string& kernel : gemm_offer().kernels) {
    GemmWork w = work(64, 64, 64, kernel);
    w.cores = {last()};
    Sample sample;
    EXPECT_TRUE(measure(w, &sample).ok) << kernel;
    EXPECT_EQ(sample.placement, w.cores) << kernel;
    w.cores.clear();
    w.blocks = 1;
    EXPECT_TRUE(measure(w, &sample).ok) << kernel;
    EXPECT_EQ(sample.placement, std::vector<CoreName>{first()}) << kernel;
    w.blocks = static_cast<std::int64_t>(machine_.cpus.size()) + 1;
    EXPECT_NE(skip_reason(engine_, w).find("are possible"), std::string::npos);
    w.blocks.reset();
    w.cores = {absent()};
    EXPECT_NE(skip_reason(engine_, w).find(absent().str()), std::string::npos);
  }
}

TEST_F(HostGemm, RegisterLoopsFormTheirSums) {
  for (const char* kernel : {"register", "register_vector"}) {
    for (const char* dtype : {"bf16", "fp32"}) {
      GemmWork w = work(100, 100, 3000, kernel);
      w.dtype = dtype;
      const std::vector<std::string> offered = gemm_offer().kernels;
      if (std::find(offered.begin(), offered.end(), kernel) == offered.end()) continue;
      try {
        engine_.prepare(w);
      } catch (const Skip&) {
        continue;
      }
      EXPECT_FALSE(engine_.verify().ok) << "nothing has run";
      const Sample sample = engine_.run({});
      const Check check = engine_.verify();
      EXPECT_TRUE(check.ok) << kernel << " " << dtype << ": " << check.problem;
      EXPECT_NE(sample.note.find("registers only"), std::string::npos);
      engine_.product()->put(0, 0, 1e6F);
      EXPECT_FALSE(engine_.verify().ok);
    }
  }
}

TEST_F(HostGemm, TheOldAffinityComesBack) {
  engine_.prepare(work(64, 64, 64, "onednn"));
  engine_.run({});
  EXPECT_EQ(thread_affinity(), machine_.cpus);
}

TEST_F(HostGemm, WhatCannotBeDoneIsSkippedWithTheReason) {
  GemmWork w = work(8, 8, 8, "cublas");
  EXPECT_NE(skip_reason(engine_, w).find("onednn"), std::string::npos);
  w = work(8, 8, 8, "auto");
  w.dtype = "fp8";
  EXPECT_NE(skip_reason(engine_, w).find("no fp8"), std::string::npos);
  w.dtype = "fp16";  // where this library has no such product, it says so
  try {
    EXPECT_TRUE(measure(w).ok);
  } catch (const Skip& skip) {
    EXPECT_NE(std::string(skip.what()).find("no fp16 product"), std::string::npos) << skip.what();
  }
  w = work(8, 8, 8, "eigen");
  w.dtype = "bf16";
  EXPECT_NE(skip_reason(engine_, w).find("no bf16"), std::string::npos);
  EXPECT_NE(skip_reason(engine_, work(0, 8, 8, "auto")).find("0x8x8"), std::string::npos);
  description_.memory_bytes = 16 * kMiB;
  const std::int64_t huge = std::int64_t{1} << 40;
  for (const std::string& kernel : products()) {
    EXPECT_NE(skip_reason(engine_, work(huge, huge, huge, kernel)).find("16,777,216 B"),
              std::string::npos);
    // The product of the sizes is small enough in 32 bits.
    EXPECT_NE(skip_reason(engine_, work(65536, 65536, 1, kernel)).find("16,777,216 B"),
              std::string::npos);
  }
}

}  // namespace
}  // namespace sonde::host
